"""The numerical kernels of the factorisations.

Owns arrays-in, array-out code; knows nothing of graphs. Imports NumPy and errors. Invariant: values are NumPy's, batch
axes lead, and what has no derivative because numbers are equal to rounding is NaN.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.functions.general.chosen import Chosen, pick_entries

Array: TypeAlias = np.ndarray[Any, Any]

ROUNDINGS = 10
"""Eigenvalues of an n by n matrix are known to about n roundings of the largest; closer ones are taken as equal."""


def _side(upper: int) -> Literal["L", "U"]:
    return "U" if upper else "L"


def mirrored(a: Array, upper: int) -> Array:
    """The symmetric matrix of one triangle: the lower one, or the upper one if the parameter is 1.

    If it is 2 a matrix that is not symmetric to rounding raises LinAlgError.
    """
    if upper == 2:
        norms = (np.max(np.sum(np.abs(part), axis=-2), axis=-1, initial=0) for part in (a - np.swapaxes(a, -1, -2), a))
        apart, size = norms
        if np.any(apart > 100 * np.spacing(size)):
            raise np.linalg.LinAlgError("a matrix is not symmetric where it has to be: give (A + A.T) / 2")
        return (a + np.swapaxes(a, -1, -2)) / 2
    read = np.swapaxes(a, -1, -2) if upper else a
    return np.where(np.tri(a.shape[-1], dtype=bool), read, np.swapaxes(read, -1, -2))


def one_if_symmetric(a: Array) -> Array:
    """1 for each matrix; raises if one is not symmetric, rounding and NaN left aside."""
    tolerance = np.sqrt(np.finfo(a.dtype).eps) * np.max(np.abs(a), axis=(-2, -1), initial=0)
    if np.any(np.abs(a - np.swapaxes(a, -1, -2)) > tolerance[..., None, None]):
        raise DifferentiationError(
            "cholesky, eigh and their kin read one triangle of a matrix, and their derivative is that on symmetric "
            "matrices, but this matrix is not symmetric: give them A = (B + B.T) / 2, or np.tril(B) + np.tril(B, -1).T"
        )
    return np.ones(a.shape[:-2], a.dtype)


def triangle_weights(a: Array, below: float, on: float, above: float) -> Array:
    """A matrix of the shape of the operand's with one number below, on and above the diagonal."""
    rows, columns = a.shape[-2:]
    place = np.arange(rows)[:, None] - np.arange(columns)
    return np.where(place > 0, below, np.where(place < 0, above, on)).astype(a.dtype)


def cholesky(a: Array) -> Array:
    """The lower triangular L with ``L L^T = a``."""
    return np.asarray(np.linalg.cholesky(a))


def eigh_values(a: Array, upper: int, *places: int) -> Array:
    """The eigenvalues in ascending order, or some of them."""
    if upper < 0:
        return _augmented_eigh(a, -upper)[..., 0, :]
    values = np.asarray(np.linalg.eigvalsh(a, _side(upper)))
    return pick_entries(values, Chosen(*places)) if places else values


def eigh_vectors(a: Array, upper: int, *places: int) -> Array:
    """The eigenvectors as columns, or some of them."""
    vectors = np.asarray(np.linalg.eigh(a, _side(upper)).eigenvectors)
    return pick_entries(vectors, Chosen(*places)) if places else vectors


def eigh_packed(a: Array, upper: int) -> Array:
    """The eigenvalues as a first row, and below them the eigenvectors as columns; see :func:`_augmented_eigh`."""
    if upper < 0:
        return _augmented_eigh(a, -upper)
    values, vectors = np.linalg.eigh(a, _side(upper))
    return np.concatenate([values[..., None, :], vectors], axis=-2)


def _augmented_eigh(a: Array, rows: int) -> Array:
    """The eigenvalues of ``[[0, B], [B^T, 0]]``, B of so many rows, and below them the eigenvectors as columns.

    They come from the singular values of B: with both signs, not in order, and exact zeros with vectors in one of the
    two spaces. A singular value that is 0 is the least positive number instead, to be told from those.
    """
    left, values, right = np.linalg.svd(a[..., :rows, rows:])
    values = np.where(values == 0, np.finfo(a.dtype).smallest_subnormal, values)
    right = np.swapaxes(right, -1, -2)
    count, columns = values.shape[-1], right.shape[-1]
    half = np.sqrt(np.array(0.5, a.dtype))
    result = np.zeros((*a.shape[:-2], 1 + rows + columns, rows + columns), a.dtype)
    first, last = slice(0, count), slice(rows + columns - count, rows + columns)
    above, below = slice(1, 1 + rows), slice(1 + rows, None)
    for part, sign in ((first, -1), (last, 1)):
        result[..., 0, part] = sign * values
        result[..., above, part] = sign * half * left[..., :count]
        result[..., below, part] = half * right[..., :count]
    result[..., above, count:rows] = left[..., count:]
    result[..., below, rows : rows + columns - count] = right[..., count:]
    return result


def gaps(x: Array, order: int, count: int) -> Array:
    """``1 / (x[k] - x[j])**order`` at j, k, 0 on the diagonal; NaN where too inaccurate, see :func:`smallest`."""
    result = _inverse(x[..., None, :] - x[..., :, None], order, smallest(x, count)[..., None])
    return np.where(np.eye(x.shape[-1], dtype=bool), np.zeros((), x.dtype), result)


def singular_gaps(x: Array, sides: int, order: int, count: int) -> Array:
    """``(1 / (x[k] - x[j])**order + 1 / (x[k] + x[j])**order) / 2`` at j, k, the first 0 on the diagonal.

    With a minus for two sides (1), less ``1 / x[k]**order`` for one side that does not span the space (2).
    """
    sums = _inverse(x[..., None, :] + x[..., :, None], order, smallest(x, count)[..., None])
    result = (gaps(x, order, count) + (-sums if sides == 1 else sums)) / 2
    return result - inverse_values(x, order, count)[..., None, :] if sides > 1 else result


def inverse_values(x: Array, order: int, count: int) -> Array:
    """``1 / x[k]**order``; NaN where too inaccurate, see :func:`smallest`."""
    return _inverse(x, order, smallest(x, count))


def _inverse(x: Array, order: int, least: Array) -> Array:
    return np.where(np.abs(x) > least, x, np.nan).astype(x.dtype) ** -order


def equal_shares(x: Array) -> Array:
    """``[x[j] = x[k]] / count[k]`` at j, k, for numbers in order; those that are equal to rounding are equal."""
    scale = np.max(np.abs(x), axis=-1, initial=0, keepdims=True)
    apart = np.abs(np.diff(x, axis=-1)) > ROUNDINGS * x.shape[-1] * float(np.finfo(x.dtype).eps) * scale
    group = np.cumsum(np.concatenate([np.zeros((*x.shape[:-1], min(x.shape[-1], 1)), bool), apart], axis=-1), axis=-1)
    equal = (group[..., :, None] == group[..., None, :]).astype(x.dtype)
    return np.asarray(equal / equal.sum(axis=-2, keepdims=True))


def smallest(x: Array, count: int) -> Array:
    """The least difference of eigenvalues by which so many times may be divided, for each entry of the batch.

    In units of the largest eigenvalue a difference d is known to about eps, and the terms of a derivative, of which the
    others may cancel all but the last digits, are of size ``d**-count``. So ``d**count >= eps**(2/3)`` leaves a third
    of the digits; what is closer is never a number.
    """
    eps = float(np.finfo(x.dtype).eps)
    scale = np.max(np.abs(x), axis=-1, initial=0, keepdims=True)
    return np.asarray(max(ROUNDINGS * x.shape[-1] * eps, eps ** (2 / (3 * count))) * scale)


def svd_values(a: Array, *places: int) -> Array:
    """The singular values in descending order, or some of them."""
    values = np.asarray(np.linalg.svd(a, compute_uv=False))
    return pick_entries(values, Chosen(*places)) if places else values


def svd_left(a: Array, *places: int) -> Array:
    """The left singular vectors as columns, as many as there are singular values, or some of them."""
    vectors = np.asarray(np.linalg.svd(a, full_matrices=False).U)
    return pick_entries(vectors, Chosen(*places)) if places else vectors


def svd_right(a: Array, *places: int) -> Array:
    """The right singular vectors as columns, as many as there are singular values, or some of them."""
    vectors = np.swapaxes(np.linalg.svd(a, full_matrices=False).Vh, -1, -2)
    return pick_entries(vectors, Chosen(*places)) if places else vectors


def svd_left_full(a: Array) -> Array:
    """The left singular vectors as columns, completed to a basis."""
    return np.asarray(np.linalg.svd(a).U)


def svd_right_full(a: Array) -> Array:
    """The right singular vectors as columns, completed to a basis."""
    return np.swapaxes(np.linalg.svd(a).Vh, -1, -2)


def svd_packed(a: Array, full: int) -> Array:
    """The singular values as a first row, below them the left vectors, then the right ones, as columns; filled up."""
    left, values, right = np.linalg.svd(a, full_matrices=bool(full))
    parts = [values[..., None, :], left, np.swapaxes(right, -1, -2)]
    width = max(part.shape[-1] for part in parts)
    rows = [part.shape[-2] for part in parts]
    result = np.zeros((*a.shape[:-2], sum(rows), width), a.dtype)
    start = 0
    for part, height in zip(parts, rows, strict=True):
        result[..., start : start + height, : part.shape[-1]] = part
        start += height
    return result


def qr_orthogonal(a: Array) -> Array:
    """The matrix Q with orthonormal columns in ``Q R = a``."""
    return np.asarray(np.linalg.qr(a).Q)


def qr_triangular(a: Array) -> Array:
    """The upper triangular matrix R in ``Q R = a``."""
    return np.asarray(np.linalg.qr(a, mode="r"))


def qr_packed(a: Array) -> Array:
    """The rows of Q, and below them those of R."""
    return np.concatenate(np.linalg.qr(a), axis=-2)


def pinv(a: Array, cut: float) -> Array:
    """The pseudo-inverse, singular values up to `cut` times the largest one left out."""
    return np.asarray(np.linalg.pinv(a, cut))


def unreached(a: Array, cut: float, side: int) -> Array:
    """The projection on what the columns do not span, or the rows (1), singular values up to a cut left out."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    vectors = np.swapaxes(right, -1, -2) if side else left
    kept = values > cut * np.max(values, axis=-1, keepdims=True, initial=0)
    spanned = np.where(kept[..., None, :], vectors, np.zeros((), a.dtype))
    found = np.eye(vectors.shape[-2], dtype=a.dtype) - spanned @ np.swapaxes(spanned, -1, -2)
    full = np.sum(kept, axis=-1) == vectors.shape[-2]
    return np.where(full[..., None, None], np.zeros((), a.dtype), found)
