"""The numerical kernels behind the general functions where NumPy has none that is right everywhere.

Owns arrays-in, array-out code; knows nothing of graphs. Imports NumPy and the kernels for small matrices.
Invariant: batch axes lead, the dtype of the operand is kept, NaN propagates, and no kernel divides by a number that
may be zero.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, permutations
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.functions.general.folding import folded
from einsumad.functions.general.small_kernels import determinants, determinants_where_right, inverses, is_small

Array: TypeAlias = np.ndarray[Any, Any]


def product_of_others(x: Array, order: int) -> Array:
    """``P[b, i1, ..., ik] = prod of x[b, l] over l not in {i1, ..., ik}`` where all i differ, else 0.

    Division-free: for i1 < ... < ik it is the product before i1, those between neighbours, and the product
    after ik, all of them running products.
    """
    size = x.shape[-1]
    before = _running(x)
    after = _running(x[..., ::-1])[..., ::-1]
    if order == 1:
        return np.asarray(before * after)
    index = np.sort(np.indices((size,) * order), axis=0)
    result = before[..., index[0]] * after[..., index[-1]]
    between = _products_between(x)
    for left, right in pairwise(index):
        result = result * between[..., left, right]
    distinct = np.all(index[1:] > index[:-1], axis=0)
    return np.where(distinct, result, np.zeros((), x.dtype))


def _products_between(x: Array) -> Array:
    """``R[b, i, j] = prod of x[b, l] over i < l < j`` for i < j (other entries mean nothing)."""
    size = x.shape[-1]
    position = np.arange(size)
    factors = np.where(position > position[:, None], x[..., None, :], np.ones((), x.dtype))
    return _running(factors)


def _running(x: Array) -> Array:
    """``Q[b, i] = prod of x[b, l] over l < i``."""
    result = np.ones(x.shape, x.dtype)
    np.cumprod(x[..., :-1], axis=-1, out=result[..., 1:])
    return result


def determinant_minors(a: Array, order: int) -> Array:
    """``M[b, i1, j1, ..., ik, jk] = d^k det(a[b]) / da[i1, j1] ... da[ik, jk]``: signed minors.

    With ``a = U S V'`` the derivative tensor of det at S, which is diagonal, has the products of the other
    singular values where j is a permutation of the distinct i, with the sign of the permutation; U and V
    transform it, one index pair at a time. No division, so singular matrices and ties need no care. A matrix
    that is not finite gives NaN.
    """
    finite = np.asarray(np.isfinite(a).all(axis=(-2, -1)))
    size = a.shape[-1]
    u, s, vt = np.linalg.svd(np.where(finite[..., None, None], a, np.eye(size, dtype=a.dtype)))
    sign = np.sign(np.linalg.det(u)) * np.sign(np.linalg.det(vt))
    core = product_of_others(s, order)
    pair = u[..., :, None, :] * np.swapaxes(vt, -1, -2)[..., None, :, :]
    ordered = _transform_axes(core, pair, order)
    batch = a.ndim - 2
    result = np.zeros(ordered.shape, a.dtype)
    for permutation in permutations(range(order)):
        axes = [*range(batch)]
        for position, image in enumerate(permutation):
            axes += [batch + 2 * position, batch + 2 * image + 1]
        result += _parity(permutation) * np.transpose(ordered, axes)
    result *= sign.reshape(*sign.shape, *[1] * (2 * order)).astype(a.dtype)
    result[~finite] = np.nan
    return result


def _transform_axes(core: Array, pair: Array, order: int) -> Array:
    """``G[b, i1, j1, ..., ik, jk] = sum over a of core[b, a1, ..., ak] * prod over m pair[b, im, jm, am]``.

    Each step replaces the first axis a by the pair (i, j) and moves it to the end.
    """
    batch = core.shape[: core.ndim - order]
    size = pair.shape[-1]
    matrix = pair.reshape(*batch, size * size, size)
    for done in range(order):
        rest = core.reshape(*batch, size, size ** (order - 1 - done) * size ** (2 * done))
        core = np.swapaxes(matrix @ rest, -1, -2)
    return core.reshape(*batch, *(size,) * (2 * order))


def _parity(permutation: tuple[int, ...]) -> int:
    inversions = sum(a > b for k, a in enumerate(permutation) for b in permutation[k + 1 :])
    return -1 if inversions % 2 else 1


def determinant(a: Array) -> Array:
    """``det(a[b])``."""
    if is_small(a):
        return determinants(a, np.linalg.det)
    return np.asarray(np.linalg.det(a))


def sign_determinant(a: Array) -> Array:
    """The sign of ``det(a[b])``: -1, 0 or 1."""
    return _sign_and_logarithm(a)[0]


def log_absolute_determinant(a: Array) -> Array:
    """``log |det(a[b])|`` without forming the determinant."""
    return _sign_and_logarithm(a)[1]


def log_determinant(a: Array) -> Array:
    """``log det(a[b])``, NaN where the determinant is negative."""
    sign, value = _sign_and_logarithm(a)
    return np.asarray(np.where(sign < 0, np.array(np.nan, a.dtype), value))


def _sign_and_logarithm(a: Array) -> tuple[Array, Array]:
    """The sign of ``det(a[b])`` and ``log |det(a[b])|``."""
    if not is_small(a):
        sign, value = np.linalg.slogdet(a)
        return np.asarray(sign), np.asarray(value)
    found, right = determinants_where_right(a)
    sign = np.sign(found)
    with np.errstate(all="ignore"):
        value = np.log(np.abs(found, out=found), out=found)
    if not right.all():
        sign[~right], value[~right] = np.linalg.slogdet(a.reshape(-1, *a.shape[-2:])[~right])
    return sign.reshape(a.shape[:-2]), value.reshape(a.shape[:-2])


def inverse(a: Array, quiet: int = 0) -> Array:
    """``inv(a[b])``; a singular matrix raises LinAlgError, or gives NaN if the parameter is 1.

    If it is 2 the matrices are triangular, and NaN where they are singular to rounding.
    """
    if quiet == 2:
        pivots = np.abs(np.diagonal(a, axis1=-2, axis2=-1))
        rounding = 10 * a.shape[-1] * np.finfo(a.dtype).eps * np.max(np.abs(a), axis=(-2, -1), initial=0)
        singular = ~np.all(pivots > rounding[..., None], axis=-1)[..., None, None]
        found = np.linalg.inv(np.where(singular, np.eye(a.shape[-1], dtype=a.dtype), a))
        return np.where(singular, np.array(np.nan, a.dtype), found)
    if is_small(a):
        return inverses(a, lambda rest: _inverse(rest, quiet))
    return _inverse(a, quiet)


def _inverse(a: Array, quiet: int) -> Array:
    try:
        return np.asarray(np.linalg.inv(a))
    except np.linalg.LinAlgError:
        if not quiet:
            raise
    if a.ndim > 2:
        return np.stack([_inverse(part, quiet) for part in a])
    return np.full(a.shape, np.nan, a.dtype)


def solve(a: Array, b: Array, quiet: int = 0) -> Array:
    """The solutions X of ``A[b] X[b] = B[b]``; with a singular matrix it raises LinAlgError, or they are NaN."""
    try:
        return np.asarray(np.linalg.solve(a, b))
    except np.linalg.LinAlgError:
        if not quiet:
            raise
    if a.ndim > 2:
        return np.stack([solve(part, right, quiet) for part, right in zip(a, b, strict=True)])
    return np.full(b.shape, np.nan, b.dtype)


def product(x: Array) -> Array:
    """``prod over i of x[b, i]``."""
    return np.asarray(np.multiply.reduce(x, axis=-1))


def maximum(x: Array, axes: int = 1) -> Array:
    """``max over i of x[b, i]``, i the indices of the last `axes` axes; NaN propagates."""
    if axes == 1 and _has_short_rows(x):
        return _by_columns(np.maximum.reduce, x)
    if axes > 1 and _has_few_entries(x, axes):
        return folded(np.maximum, x, tuple(range(x.ndim - axes, x.ndim)), x.dtype)
    return np.asarray(np.maximum.reduce(x, axis=tuple(range(-axes, 0))))


def minimum(x: Array, axes: int = 1) -> Array:
    """``min over i of x[b, i]``, i the indices of the last `axes` axes; NaN propagates."""
    if axes == 1 and _has_short_rows(x):
        return _by_columns(np.minimum.reduce, x)
    if axes > 1 and _has_few_entries(x, axes):
        return folded(np.minimum, x, tuple(range(x.ndim - axes, x.ndim)), x.dtype)
    return np.asarray(np.minimum.reduce(x, axis=tuple(range(-axes, 0))))


def fmax(x: Array, axes: int = 1) -> Array:
    """The largest number over the last `axes` axes, leaving NaN out; NaN where there is nothing else."""
    return np.asarray(np.fmax.reduce(x, axis=tuple(range(-axes, 0))))


def fmin(x: Array, axes: int = 1) -> Array:
    """The smallest number over the last `axes` axes, leaving NaN out; NaN where there is nothing else."""
    return np.asarray(np.fmin.reduce(x, axis=tuple(range(-axes, 0))))


def logsumexp(x: Array) -> Array:
    """``log(sum over i of exp(x[b, i]))``: the largest entry, and log1p of what the others add to it.

    -inf for no entry and for entries that are all -inf; inf where one is inf.
    """
    if x.shape[-1] == 0:
        return np.full(x.shape[:-1], -np.inf, x.dtype)
    if _has_short_rows(x):
        return _by_columns(_logsumexp_of_columns, x)
    rows = x.reshape(-1, x.shape[-1])
    places = np.arange(len(rows)), rows.argmax(axis=-1)
    largest = rows[places]
    bound = np.finfo(x.dtype).max
    terms = rows - np.maximum(np.minimum(largest, bound), -bound)[:, None]
    np.exp(terms, out=terms)
    terms[places] = 0
    others = np.add.reduce(terms, axis=-1)
    np.log1p(others, out=others)
    others += largest
    return np.asarray(others.reshape(x.shape[:-1]))


def _logsumexp_of_columns(x: Array) -> Array:
    """The same for columns; of equal largest entries all but one count among the others, as exact ones."""
    largest = np.max(x, axis=0)
    finite = np.isfinite(largest)
    with np.errstate(over="ignore"):
        terms = np.exp(x - np.where(finite, largest, np.zeros((), x.dtype)))
    reached = x == largest
    np.copyto(terms, 0, where=reached)
    others = terms.sum(axis=0)
    others += np.sum(reached, axis=0, dtype=x.dtype) - np.ones((), x.dtype)
    np.copyto(others, 0, where=~finite)
    return np.asarray(np.log1p(others) + largest)


def log_softmax(x: Array) -> Array:
    """``x[b, i] - log(sum over j of exp(x[b, j]))``: below the largest entry, less log1p of what the others add to it.

    Where the logarithm is infinite it is subtracted as it is.
    """
    if x.size == 0:
        return np.empty(x.shape, x.dtype)
    rows = x.reshape(-1, x.shape[-1])
    result = np.empty_like(rows)
    in_columns = _has_short_rows(x)
    at_once = _ENTRIES_AT_ONCE if in_columns else _IN_CACHE if rows.flags.c_contiguous else x.size
    count = max(1, at_once // rows.shape[1])
    for start in range(0, len(rows), count):
        part = rows[start : start + count]
        if in_columns:
            _log_softmax_of_columns(np.ascontiguousarray(part.T), result[start : start + count].T)
        else:
            _log_softmax_of_rows(part, result[start : start + count])
    return result.reshape(x.shape)


def _log_softmax_of_rows(x: Array, below: Array) -> None:
    places = np.arange(len(x)), x.argmax(axis=-1)
    largest = x[places]
    np.subtract(x, largest[:, None], out=below)
    terms = np.exp(below)
    terms[places] = 0
    others = np.add.reduce(terms, axis=-1)
    np.log1p(others, out=others)
    np.copyto(others, 0, where=~np.isfinite(largest))
    below -= others[:, None]


def _log_softmax_of_columns(x: Array, below: Array) -> None:
    """The same for columns; of equal largest entries all but one count among the others, as exact ones."""
    largest = np.max(x, axis=0)
    lower = x - largest
    terms = np.exp(lower)
    reached = lower == 0
    np.copyto(terms, 0, where=reached)
    others = terms.sum(axis=0)
    others += np.sum(reached, axis=0, dtype=x.dtype) - np.ones((), x.dtype)
    np.log1p(others, out=others)
    np.copyto(others, 0, where=~np.isfinite(largest))
    np.subtract(lower, others, out=below)


_SHORT, _MANY, _ENTRIES_AT_ONCE, _IN_CACHE = 32, 64, 2**14, 2**16


def _has_short_rows(x: Array) -> bool:
    """Whether there are many rows of few entries: reductions then start over for each of them."""
    return x.ndim > 1 and x.shape[-1] <= _SHORT and x.size >= _MANY * x.shape[-1] > 0


def _by_columns(reduce: Callable[[Array], Array], x: Array) -> Array:
    """The rows reduced as columns, which go in long loops; some at a time, so that no copy of all of them is made."""
    rows = x.reshape(-1, x.shape[-1])
    result = np.empty(len(rows), x.dtype)
    count = _ENTRIES_AT_ONCE // x.shape[-1]
    for start in range(0, len(rows), count):
        part = slice(start, start + count)
        result[part] = reduce(np.ascontiguousarray(rows[part].T))
    return result.reshape(x.shape[:-1])


def _has_few_entries(x: Array, axes: int) -> bool:
    """Whether the last axes hold few entries, for each of many first indices."""
    few = prod(x.shape[-axes:])
    return x.ndim > axes and 0 < few <= _SHORT and x.size >= _MANY * few
