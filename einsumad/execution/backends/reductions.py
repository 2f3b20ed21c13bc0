"""Products, extrema and logarithms of sums over the last axis.

Owns these kernels. Imports the place. Invariant: they have the values of the NumPy kernels of the same rows, which say
what they compute: :mod:`einsumad.functions.general.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Home

_INDEX = np.dtype(np.int64)


def product(home: Home, x: Array) -> Array:
    """The product over the last axis."""
    return home.xp.prod(x, axis=-1, dtype=x.dtype)


def product_of_others(home: Home, x: Array, order: int) -> Array:
    """The product of all entries but those at the indices of the result, 0 where two of these are equal."""
    xp, size = home.xp, x.shape[-1]
    before = _running(home, x)
    after = xp.flip(_running(home, xp.flip(x, axis=-1)), axis=-1)
    if order == 1:
        return before * after
    index = np.sort(np.indices((size,) * order), axis=0)
    result = _at(home, before, index[0]) * _at(home, after, index[-1])
    between = xp.reshape(_products_between(home, x), (*x.shape[:-1], size * size))
    for left, right in pairwise(index):
        result = result * _at(home, between, left * size + right)
    distinct = home.constant(np.asarray(np.all(index[1:] > index[:-1], axis=0)))
    return xp.where(distinct, result, xp.zeros_like(result))


def _at(home: Home, x: Array, index: np.ndarray) -> Array:
    """The entries of the last axis at an array of places."""
    found = home.xp.take(x, home.constant(np.ascontiguousarray(index.reshape(-1))), axis=-1)
    return home.xp.reshape(found, (*x.shape[:-1], *index.shape))


def _products_between(home: Home, x: Array) -> Array:
    place = home.places(x.shape[-1])
    one = home.xp.ones_like(x)[..., None]
    return _running(home, home.xp.where(place > place[:, None], x[..., None, :], one))


def _running(home: Home, x: Array) -> Array:
    """The product of the entries before each one."""
    xp = home.xp
    if not x.shape[-1]:
        return x
    products = xp.cumulative_prod(x[..., :-1], axis=-1, dtype=x.dtype)
    return xp.concat([xp.ones_like(x[..., :1]), products], axis=-1)


def maximum(home: Home, x: Array, axes: int = 1) -> Array:
    """The largest entry over the last axes, NaN where there is one."""
    return home.xp.max(x, axis=tuple(range(-axes, 0)))


def minimum(home: Home, x: Array, axes: int = 1) -> Array:
    """The smallest entry over the last axes, NaN where there is one."""
    return home.xp.min(x, axis=tuple(range(-axes, 0)))


def fmax(home: Home, x: Array, axes: int = 1) -> Array:
    """The largest number over the last axes."""
    return _of_numbers(home, home.xp.max, x, axes, -inf)


def fmin(home: Home, x: Array, axes: int = 1) -> Array:
    """The smallest number over the last axes."""
    return _of_numbers(home, home.xp.min, x, axes, inf)


def _of_numbers(home: Home, extremum: Callable[..., Array], x: Array, axes: int, level: float) -> Array:
    over, dtype = tuple(range(-axes, 0)), home.array_library.dtype_of(x)
    if dtype.kind != "f":
        return extremum(x, axis=over)
    none = home.xp.isnan(x)
    found = extremum(home.where(none, level, x, dtype), axis=over)
    return home.where(home.xp.all(none, axis=over), nan, found, dtype)


def logsumexp(home: Home, x: Array) -> Array:
    """The largest entry, and log1p of what the others add to it."""
    if not x.shape[-1]:
        return home.full(tuple(x.shape[:-1]), -inf, home.array_library.dtype_of(x))
    largest, excess = _largest_and_excess(home, x)
    return (excess + largest)[..., 0]


def log_softmax(home: Home, x: Array) -> Array:
    """What is left of the entries below the largest, less log1p of what the others add to it."""
    if not x.shape[-1]:
        return x
    largest, excess = _largest_and_excess(home, x)
    return (x - largest) - excess


def _largest_and_excess(home: Home, x: Array) -> tuple[Array, Array]:
    """The largest entry, and by how much the logarithm is above it."""
    xp, dtype = home.xp, home.array_library.dtype_of(x)
    where = xp.argmax(x, axis=-1, keepdims=True)
    largest = xp.max(x, axis=-1, keepdims=True)
    finite = xp.isfinite(largest)
    level = home.where(finite, largest, 0.0, dtype)
    own = home.cast(where, _INDEX) == home.places(x.shape[-1])
    terms = home.where(own, 0.0, xp.exp(home.where(finite, x, 0.0, dtype) - level), dtype)
    excess = xp.log1p(xp.sum(terms, axis=-1, keepdims=True, dtype=x.dtype))
    return largest, home.where(finite, excess, 0.0, dtype)


KERNELS: dict[str, Callable[..., Any]] = {
    "fmax_reduce": fmax,
    "fmin_reduce": fmin,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "max_reduce": maximum,
    "min_reduce": minimum,
    "product": product,
    "product_of_others": product_of_others,
}
