"""Determinants and inverses of stacks of 2 × 2 and 3 × 3 matrices by cofactors, where these keep the digits.

Owns these kernels. Imports NumPy only. Invariant: a matrix is done by cofactors only if its determinant is no small
difference of large products, ``‖A‖ⁿ < 100 |det A|``; then cofactors and determinant have as many digits as by
elimination. All others, singular ones and those that are not finite among them, are left to the function given. Besides
the result a call needs room for a few thousand matrices at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_FEWEST = 200
"""Stacks of fewer matrices are as fast by LAPACK."""
_MOST_AT_ONCE = 4096
_MOST_CANCELLED = 100.0


def is_small(a: Array) -> bool:
    """Whether this is a stack of many 2 × 2 or 3 × 3 matrices."""
    return a.shape[-1] in (2, 3) and a.size >= _FEWEST * a.shape[-1] ** 2 and a.dtype.kind == "f"


def determinants(a: Array, otherwise: Callable[[Array], Array]) -> Array:
    """``det(A[b])``; where cofactors lose digits by the function given."""
    found, right = determinants_where_right(a)
    if not right.all():
        found[~right] = otherwise(a.reshape(-1, *a.shape[-2:])[~right])
    return found.reshape(a.shape[:-2])


def determinants_where_right(a: Array) -> tuple[Array, Array]:
    """The determinants as one vector, and where they have their digits."""
    size = a.shape[-1]
    flat = a.reshape(-1, size, size)
    found, right = np.empty(len(flat), a.dtype), np.empty(len(flat), bool)
    for part in _parts(len(flat)):
        turned = _turned(flat[part])
        _cofactors(turned, 1, found[part], right[part])
    return found, right


def inverses(a: Array, otherwise: Callable[[Array], Array]) -> Array:
    """``inv(A[b])``; where cofactors lose digits by the function given."""
    size = a.shape[-1]
    flat = a.reshape(-1, size, size)
    result = np.empty(flat.shape, a.dtype)
    for part in _parts(len(flat)):
        turned = _turned(flat[part])
        values, right = np.empty(turned.shape[2:], a.dtype), np.empty(turned.shape[2:], bool)
        cofactors = _cofactors(turned, size, values, right)
        with np.errstate(all="ignore"):
            np.divide(cofactors, values, out=result[part].transpose(2, 1, 0))
        if not right.all():
            result[part][~right] = otherwise(flat[part][~right])
    return result.reshape(a.shape)


def _parts(count: int) -> Iterator[slice]:
    for start in range(0, count, _MOST_AT_ONCE):
        yield slice(start, start + _MOST_AT_ONCE)


def _turned(a: Array) -> Array:
    """The matrices along the last axis, where every entry has a long vector."""
    return np.ascontiguousarray(a.transpose(1, 2, 0))


def _cofactors(a: Array, rows: int, values: Array, right: Array) -> Array:
    """The cofactors of the first rows; determinants, and where they have their digits, are written."""
    size = len(a)
    cofactors = np.empty((rows, *a.shape[1:]), a.dtype)
    spare = np.empty(a.shape[2:], a.dtype)
    with np.errstate(all="ignore"):
        for i in range(rows):
            up, down = a[(i + 1) % size], a[(i + 2) % size]
            for j in range(size):
                cofactor, following, last = cofactors[i, j], (j + 1) % size, (j + 2) % size
                if size == 2:
                    (np.negative if i != j else np.positive)(up[following], cofactor)
                    continue
                np.multiply(up[following], down[last], cofactor)
                np.multiply(up[last], down[following], spare)
                np.subtract(cofactor, spare, cofactor)
        np.einsum("jn,jn->n", a[0], cofactors[0], out=values)
        entries = a.reshape(size * size, -1)
        np.einsum("kn,kn->n", entries, entries, out=spare)
        np.less(spare**size, np.square(_MOST_CANCELLED * values), out=right)
    return cofactors
