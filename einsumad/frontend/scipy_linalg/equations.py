"""Equations: triangular, banded and structured systems, Sylvester's and Lyapunov's.

Owns these functions. Imports the rows and the reading of matrices. Invariant: an entry of a matrix that SciPy does not
read, as above the diagonal of a lower triangle, has the derivative 0.
"""

# ruff: noqa: ARG001, PLR0917 (functions have SciPy's signatures)
from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.axes import drop_axes, insert_axes
from einsumad.frontend.scipy_linalg.dispatch import (
    choice,
    floating,
    in_common,
    matrices,
    refuse,
    supports_tracing,
    tensors,
)
from einsumad.frontend.scipy_linalg.structured import circulant, toeplitz
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.graph import Node, transpose

_TRANSPOSED = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}


def triangular(name: str, b: Node, *steps: tuple[Node, bool], unit_diagonal: bool = False) -> Node:
    """The solution of one triangular system after the other, each a matrix and whether its lower triangle is read.

    A right side is a vector if it has one axis, as in NumPy.
    """
    if not b.shape:
        raise ShapeError(f"scipy.linalg.{name} needs a right side with axes, got a scalar")
    vector = len(b.shape) == 1
    solved = insert_axes(b, [1]) if vector else b
    for a, lower in steps:
        if solved.shape[-2] != a.shape[-1]:
            raise ShapeError(f"scipy.linalg.{name} of matrices {a.shape} with a right side {b.shape}")
        solved = call("solve_triangular", *in_common(a, solved), params=(int(lower), int(unit_diagonal)))
    return drop_axes(solved, [len(solved.shape) - 1]) if vector else solved


def adjoint(a: Node) -> Node:
    """The matrices transposed."""
    rank = len(a.shape)
    return transpose(a, [*range(rank - 2), rank - 1, rank - 2])


@supports_tracing
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: Any = False,
    unit_diagonal: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Node:
    """The solution of ``a x = b`` with one triangle of a."""
    choice("solve_triangular", "trans", trans, list(_TRANSPOSED))
    matrix, right = matrices("solve_triangular", a), floating("solve_triangular", b)
    turned = _TRANSPOSED[trans]
    matrix = adjoint(matrix) if turned else matrix
    step = (matrix, bool(lower) != turned)
    return triangular("solve_triangular", right, step, unit_diagonal=bool(unit_diagonal))


@supports_tracing
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Node:
    """The solution of ``a x = b`` from the triangle c: ``a = c cᵀ`` if it is a lower one, else ``cᵀ c``."""
    c, lower = c_and_lower
    factor, right = matrices("cho_solve", c), floating("cho_solve", b)
    left = factor if lower else adjoint(factor)
    return triangular("cho_solve", right, (left, True), (adjoint(left), False))


@supports_tracing
def solve_sylvester(a: Any, b: Any, q: Any) -> Node:
    """The solution of ``a x + x b = q``."""
    return sylvester("solve_sylvester", matrices("solve_sylvester", a), matrices("solve_sylvester", b), q)


def sylvester(name: str, a: Node, b: Node, q: Any) -> Node:
    """The solution of Sylvester's equation with batch axes that broadcast."""
    right = floating(name, q)
    if right.shape[-2:] != (a.shape[-1], b.shape[-1]):
        raise ShapeError(f"scipy.linalg.{name} of {a.shape}, {b.shape} with a right side {right.shape}")
    return call("sylvester", *in_common(a, b, right))


@supports_tracing
def solve_continuous_lyapunov(a: Any, q: Any) -> Node:
    """The solution of ``a x + x aᵀ = q``."""
    matrix = matrices("solve_continuous_lyapunov", a)
    return sylvester("solve_continuous_lyapunov", matrix, adjoint(matrix), q)


@supports_tracing
def solve_lyapunov(a: Any, q: Any) -> Any:
    """The solution of ``a x + x aᵀ = q``, under its older name."""
    return solve_continuous_lyapunov(a, q)


@supports_tracing
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """The solution of ``a x aᵀ - x + q = 0`` by the bilinear map to a continuous one.

    With ``b = (a - 1)(a + 1)^-1`` and ``c = 2 (a + 1)^-1 q (aᵀ + 1)^-1`` it solves ``b x + x bᵀ = -c``. The inverse
    does not exist where -1 is an eigenvalue of a, and there the equation is singular too.
    """
    choice("solve_discrete_lyapunov", "method", method, (None, "direct", "bilinear"))
    a, q = (
        Tensor(node)
        for node in in_common(matrices("solve_discrete_lyapunov", a), floating("solve_discrete_lyapunov", q))
    )
    if a.shape != q.shape:
        raise ShapeError(f"scipy.linalg.solve_discrete_lyapunov of {a.shape} with a right side {q.shape}")
    one = np.eye(a.shape[-1], dtype=a.dtype)
    inverse = np.linalg.inv(a + one)
    right = 2 * inverse @ q @ np.swapaxes(inverse, -1, -2)
    return solve_continuous_lyapunov((one - a) @ inverse, right)


@supports_tracing
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any = True) -> Any:
    """The solution of a system with a Toeplitz matrix."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return np.linalg.solve(toeplitz(*tensors("solve_toeplitz", *([c] if r is None else [c, r]))), b)


@supports_tracing
def solve_circulant(
    c: Any,
    b: Any,
    singular: Any = "raise",
    tol: Any = None,
    caxis: Any = -1,
    baxis: Any = 0,
    outaxis: Any = 0,
) -> Any:
    """The solution of ``circulant(c) x = b``."""
    refuse("solve_circulant", locals(), singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0)
    return np.linalg.solve(circulant(c), b)


@supports_tracing
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    """The product of a Toeplitz matrix with x."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    (right,) = tensors("matmul_toeplitz", x)
    return toeplitz(*tensors("matmul_toeplitz", *([c] if r is None else [c, r]))) @ right


@supports_tracing
def solve_banded(
    l_and_u: Any,
    ab: Any,
    b: Any,
    overwrite_ab: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
) -> Any:
    """The solution of ``a x = b`` with the diagonals of a in the rows of ab: ``ab[u + i - j, j] = a[i, j]``."""
    below, above = l_and_u
    bands, right = tensors("solve_banded", ab, b)
    return np.linalg.solve(_from_diagonals("solve_banded", bands, int(below), int(above)), right)


@supports_tracing
def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: Any = False,
    overwrite_b: Any = False,
    lower: Any = False,
    check_finite: Any = True,
) -> Any:
    """The solution of ``a x = b``, a symmetric with the diagonals of one triangle in the rows of ab."""
    bands, right = tensors("solveh_banded", ab, b)
    triangle = _triangle_of_bands("solveh_banded", bands, bool(lower))
    strict = np.tril(triangle, -1) if lower else np.triu(triangle, 1)
    return np.linalg.solve(triangle + np.swapaxes(strict, -1, -2), right)


@supports_tracing
def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: Any = False, check_finite: Any = True) -> Any:
    """The solution of ``a x = b`` from a triangle whose diagonals are the rows of cb."""
    cb, lower = cb_and_lower
    (bands,) = tensors("cho_solve_banded", cb)
    return cho_solve((_triangle_of_bands("cho_solve_banded", bands, bool(lower)), lower), b)


def _triangle_of_bands(name: str, bands: Tensor, lower: bool) -> Any:
    width = bands.shape[0] - 1 if bands.ndim else 0
    return _from_diagonals(name, bands, width if lower else 0, 0 if lower else width)


def _from_diagonals(name: str, bands: Tensor, below: int, above: int) -> Any:
    """The matrix of the diagonals, each placed in zeros."""
    if bands.ndim != 2 or bands.shape[0] != below + above + 1:
        raise ShapeError(f"scipy.linalg.{name}: {below} and {above} diagonals and the main one are not {bands.shape}")
    size = bands.shape[1]
    rows, columns = np.indices((size, size))
    place = above + rows - columns
    inside = (place >= 0) & (place < bands.shape[0])
    return np.where(inside, bands[np.where(inside, place, 0), columns], 0)
