"""Eigenvalues and singular values, and what their derivatives are made of.

Owns these kernels. Imports the place. Invariant: they have the values of the NumPy kernels of the same rows, which say
what they compute: :mod:`einsumad.functions.general.factor_kernels`; what is too close to divide by is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan, sqrt
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Home
from einsumad.functions.general.factor_kernels import ROUNDINGS

_INDEX = np.dtype(np.int64)


def eigh_packed(home: Home, a: Array, upper: int) -> Array:
    """The eigenvalues as a first row, and below them the eigenvectors as columns; of a symmetric matrix."""
    if upper < 0:
        return _augmented_eigh(home, a, -upper)
    values, vectors = home.xp.linalg.eigh(a)
    return home.xp.concat([values[..., None, :], vectors], axis=-2)


def eigh_alone(home: Home, a: Array, upper: int) -> Array:
    """The eigenvalues in ascending order."""
    return _augmented_eigh(home, a, -upper)[..., 0, :] if upper < 0 else home.xp.linalg.eigvalsh(a)


def _augmented_eigh(home: Home, a: Array, rows: int) -> Array:
    """Of ``[[0, B], [B^T, 0]]``, B of so many rows, from the singular values of B."""
    xp, dtype = home.xp, home.array_library.dtype_of(a)
    left, values, right = xp.linalg.svd(a[..., :rows, rows:], full_matrices=True)
    values = home.where(values == 0, float(np.finfo(dtype).smallest_subnormal), values, dtype)
    right = xp.matrix_transpose(right)
    count, columns = values.shape[-1], right.shape[-1]
    half = sqrt(0.5)
    batch = tuple(a.shape[:-2])

    def column(value: Array, above: Array, below: Array) -> Array:
        return xp.concat([value[..., None, :], above, below], axis=-2)

    def zeros(*sizes: int) -> Array:
        return home.full((*batch, *sizes), 0.0, dtype)

    up, down = half * left[..., :count], half * right[..., :count]
    parts = [column(-values, -up, down)]
    parts.append(column(zeros(rows - count), left[..., count:], zeros(columns, rows - count)))
    parts.append(column(zeros(columns - count), zeros(rows, columns - count), right[..., count:]))
    parts.append(column(values, up, down))
    return xp.concat(parts, axis=-1)


def svd_packed(home: Home, a: Array, full: int) -> Array:
    """The singular values as a first row, below them the left vectors, then the right ones, as columns; filled up."""
    xp = home.xp
    left, values, right = xp.linalg.svd(a, full_matrices=bool(full))
    parts = [values[..., None, :], left, xp.matrix_transpose(right)]
    width = max(part.shape[-1] for part in parts)
    filled = []
    for part in parts:
        zeros = home.full((*part.shape[:-1], width - part.shape[-1]), 0.0, home.array_library.dtype_of(a))
        filled.append(xp.concat([part, zeros], axis=-1))
    return xp.concat(filled, axis=-2)


def svd_alone(home: Home, a: Array, *_: int) -> Array:
    """The singular values in descending order."""
    return home.xp.linalg.svdvals(a)


def qr_packed(home: Home, a: Array) -> Array:
    """The rows of Q, and below them those of R."""
    return home.xp.concat(list(home.xp.linalg.qr(a)), axis=-2)


def pinv(home: Home, a: Array, cut: float) -> Array:
    """The pseudo-inverse, singular values up to `cut` times the largest one left out."""
    return home.xp.linalg.pinv(a, rtol=cut)


def unreached(home: Home, a: Array, cut: float, side: int) -> Array:
    """The projection on what the columns do not span, or the rows (1), singular values up to a cut left out."""
    xp, dtype = home.xp, home.array_library.dtype_of(a)
    left, values, right = xp.linalg.svd(a, full_matrices=False)
    vectors = xp.matrix_transpose(right) if side else left
    kept = values > cut * _scale(home, values)
    spanned = home.where(kept[..., None, :], vectors, 0.0, dtype)
    size = vectors.shape[-2]
    found = home.eye(size, dtype) - xp.matmul(spanned, xp.matrix_transpose(spanned))
    full = xp.sum(home.cast(kept, _INDEX), axis=-1) == size
    return home.where(full[..., None, None], 0.0, found, dtype)


def gaps(home: Home, x: Array, order: int, count: int) -> Array:
    """``1 / (x[k] - x[j])**order`` at j, k, 0 on the diagonal."""
    found = _inverse(home, x[..., None, :] - x[..., :, None], order, _smallest(home, x, count)[..., None])
    return home.where(home.eye(x.shape[-1], np.dtype(bool)), 0.0, found, home.array_library.dtype_of(x))


def singular_gaps(home: Home, x: Array, sides: int, order: int, count: int) -> Array:
    """The mean of the gaps and of those of the sums, with the signs that the number of sides asks for."""
    sums = _inverse(home, x[..., None, :] + x[..., :, None], order, _smallest(home, x, count)[..., None])
    found = (gaps(home, x, order, count) + (-sums if sides == 1 else sums)) / 2
    return found - inverse_values(home, x, order, count)[..., None, :] if sides > 1 else found


def inverse_values(home: Home, x: Array, order: int, count: int) -> Array:
    """``1 / x[k]**order``."""
    return _inverse(home, x, order, _smallest(home, x, count))


def _inverse(home: Home, x: Array, order: int, least: Array) -> Array:
    return home.where(home.xp.abs(x) > least, x, nan, home.array_library.dtype_of(x)) ** float(-order)


def _scale(home: Home, x: Array) -> Array:
    if not x.shape[-1]:
        return home.full((*x.shape[:-1], 1), 0.0, home.array_library.dtype_of(x))
    return home.xp.max(home.xp.abs(x), axis=-1, keepdims=True)


def _smallest(home: Home, x: Array, count: int) -> Array:
    eps = float(np.finfo(home.array_library.dtype_of(x)).eps)
    return max(ROUNDINGS * x.shape[-1] * eps, eps ** (2 / (3 * count))) * _scale(home, x)


def equal_shares(home: Home, x: Array) -> Array:
    """``[x[j] = x[k]] / count[k]`` at j, k, for numbers in order; those that are equal to rounding are equal."""
    xp, dtype = home.xp, home.array_library.dtype_of(x)
    eps = float(np.finfo(dtype).eps)
    apart = xp.abs(x[..., 1:] - x[..., :-1]) > ROUNDINGS * x.shape[-1] * eps * _scale(home, x)
    first = home.full((*x.shape[:-1], min(x.shape[-1], 1)), 0, _INDEX)
    steps = xp.concat([first, home.cast(apart, _INDEX)], axis=-1)
    group = xp.cumulative_sum(steps, axis=-1, dtype=home.array_library.native(_INDEX))
    equal = home.cast(group[..., :, None] == group[..., None, :], dtype)
    return equal / xp.sum(equal, axis=-2, keepdims=True, dtype=x.dtype)


KERNELS: dict[str, Callable[..., Any]] = {
    "eigh_alone": eigh_alone,
    "eigh_packed": eigh_packed,
    "equal_shares": equal_shares,
    "gaps": gaps,
    "inverse_values": inverse_values,
    "pinv": pinv,
    "qr_packed": qr_packed,
    "singular_gaps": singular_gaps,
    "svd_alone": svd_alone,
    "svd_packed": svd_packed,
    "unreached": unreached,
}
