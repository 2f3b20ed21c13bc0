"""Matrices made of vectors: Toeplitz, circulant, Hankel, companion, block-diagonal and others.

Owns these functions. Imports the reading of vectors. Invariant: an entry is placed, never multiplied; a Toeplitz matrix
is a window moving over a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from einsumad.errors import ShapeError
from einsumad.frontend.lifting import as_node
from einsumad.frontend.scipy_linalg.dispatch import choice, supports_tracing, vector
from einsumad.frontend.tensor import Tensor
from einsumad.functions.general.matrix_kernels import linear_algebra


@supports_tracing
def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix with first column c and first row r, whose diagonals are constant; r[0] is not read."""
    column = vector("toeplitz", c, 1)
    row = column if r is None else vector("toeplitz", r, 1)
    values = np.concatenate([np.flip(column), row[1:]])
    return np.flip(sliding_window_view(values, row.size), 0)


@supports_tracing
def circulant(c: Any) -> Any:
    """The matrix with first column c, each column the one before it moved down by one place."""
    column = vector("circulant", c, 1)
    return toeplitz(column, np.concatenate([column[:1], np.flip(column[1:])]))


@supports_tracing
def hankel(c: Any, r: Any = None) -> Any:
    """The matrix with first column c and last row r, whose anti-diagonals are constant; r[0] is not read."""
    column = vector("hankel", c, 1)
    row: Any = np.zeros_like(column) if r is None else vector("hankel", r, 1)
    return sliding_window_view(np.concatenate([column, row[1:]]), row.shape[0])


@supports_tracing
def companion(a: Any) -> Any:
    """The companion matrix of a polynomial with coefficients a, whose eigenvalues are its roots."""
    coefficients = vector("companion", a, 2)
    first = -coefficients[1:] / coefficients[0]
    size = first.shape[0]
    return np.concatenate([first[None], np.eye(size, dtype=first.dtype)[:-1]])


@supports_tracing
def fiedler_companion(a: Any) -> Any:
    """The pentadiagonal companion matrix. SciPy's own, of numbers that tell the places apart, says where each goes."""
    coefficients = vector("fiedler_companion", a, 2)
    numbers = np.arange(1.0, coefficients.shape[0] + 1)
    places = linear_algebra().fiedler_companion(numbers)
    entries = -coefficients / coefficients[0]
    held = np.where(places < 0, -places - 1, 0).astype(int)
    return np.where(places < 0, entries[held], places.astype(entries.dtype))


@supports_tracing
def leslie(f: Any, s: Any) -> Any:
    """The matrix with first row f and s below the diagonal."""
    first, below = vector("leslie", f, 2), vector("leslie", s, 1)
    if below.shape[0] != first.shape[0] - 1:
        raise ShapeError(f"scipy.linalg.leslie needs one survival coefficient less than {first.shape[0]}")
    zeros = np.zeros((below.shape[0], 1), below.dtype)
    return np.concatenate([first[None], np.concatenate([np.diag(below), zeros], axis=1)])


@supports_tracing
def fiedler(a: Any) -> Any:
    """``|a[i] - a[j]|``."""
    values = vector("fiedler", a)
    return np.abs(values[:, None] - values)


@supports_tracing
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any:
    """The matrix whose product with v is ``np.convolve(a, v, mode)``, for v of n entries."""
    choice("convolution_matrix", "mode", mode, ("full", "same", "valid"))
    kernel = vector("convolution_matrix", a, 1)
    size, length = kernel.shape[0], int(n)
    if length < 1:
        raise ShapeError(f"scipy.linalg.convolution_matrix needs a number n of entries, got {n}")
    zeros = np.zeros(length - 1, kernel.dtype)
    full = toeplitz(np.concatenate([kernel, zeros]), np.concatenate([kernel[:1], zeros]))
    if mode == "full":
        return full
    least, most = sorted([size, length])
    start, rows = ((least - 1) // 2, most) if mode == "same" else (least - 1, most - least + 1)
    return full[start : start + rows]


@supports_tracing
def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal of zeros; a vector is a matrix of one row."""
    blocks: list[Any] = [np.atleast_2d(Tensor(as_node(block))) for block in arrs]
    if any(block.ndim != 2 for block in blocks):
        raise ShapeError("scipy.linalg.block_diag of traced values needs matrices, vectors and numbers")
    width = sum(block.shape[1] for block in blocks)
    dtype = np.result_type(*[block.dtype for block in blocks])
    rows, start = [], 0
    for block in blocks:
        stop = start + block.shape[1]
        rows.append(np.pad(block.astype(dtype), [(0, 0), (start, width - stop)]))
        start = stop
    return np.concatenate(rows)


@supports_tracing
def khatri_rao(a: Any, b: Any) -> Any:
    """The Kronecker products of the columns."""
    left, right = Tensor(as_node(a)), Tensor(as_node(b))
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ShapeError(
            f"scipy.linalg.khatri_rao needs matrices of equally many columns, got {left.shape}, {right.shape}"
        )
    return (left[:, None, :] * right[None]).reshape(left.shape[0] * right.shape[0], left.shape[1])
