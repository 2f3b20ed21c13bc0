"""Sorting, and the places of entries in the order.

Owns these kernels. Imports the place. Invariant: NaN is last; places among equal entries are found by comparing each
entry with each, which takes memory for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Home

_INDEX = np.dtype(np.int64)


def sort(home: Home, x: Array, *_places: int) -> Array:
    """In ascending order: a partition at any places too."""
    return home.xp.sort(x, axis=-1)


def argsort(home: Home, x: Array, stable: int = 1) -> Array:  # noqa: ARG001 (always stable)
    """The places of the entries in ascending order, equal ones as they stand."""
    return home.xp.argsort(x, axis=-1, stable=True)


def argpartition(home: Home, x: Array, *_places: int) -> Array:
    """The order is a partition."""
    return argsort(home, x)


def argmax(home: Home, x: Array) -> Array:
    """The place of the first largest entry, or of the first NaN."""
    return _first(home, x, home.xp.max)


def argmin(home: Home, x: Array) -> Array:
    """The place of the first smallest entry, or of the first NaN."""
    return _first(home, x, home.xp.min)


def _first(home: Home, x: Array, extremum: Callable[..., Array]) -> Array:
    level = extremum(x, axis=-1, keepdims=True)
    return home.xp.argmax(home.cast(_equal(home, x, level), _INDEX), axis=-1)


def _equal(home: Home, x: Array, y: Array) -> Array:
    """Where two are equal, NaN being equal to NaN."""
    if home.array_library.dtype_of(x).kind != "f":
        return x == y
    nan = home.xp.isnan
    return home.xp.logical_or(x == y, home.xp.logical_and(nan(x), nan(y)))


def _before(home: Home, x: Array, y: Array) -> Array:
    """Where the first comes before the second in the order, NaN behind all numbers."""
    if home.array_library.dtype_of(x).kind != "f":
        return x < y
    nan, both = home.xp.isnan, home.xp.logical_and
    return home.xp.logical_or(x < y, both(nan(y), home.xp.logical_not(nan(x))))


def _count(home: Home, mask: Array) -> Array:
    return home.xp.sum(home.cast(mask, _INDEX), axis=-1, dtype=home.array_library.native(_INDEX))


def tie_place(home: Home, x: Array) -> Array:
    """For each entry the first place in the order that it and those equal to it take."""
    return _count(home, _before(home, x[..., None, :], x[..., :, None]))


def tie_count(home: Home, x: Array) -> Array:
    """For each entry the number of those equal to it."""
    return _count(home, _equal(home, x[..., None, :], x[..., :, None]))


def searchsorted(home: Home, rows: Array, values: Array, right: int = 0) -> Array:
    """The number of entries of a row before a value, or up to it."""
    entries, wanted = rows[..., None, :], values[..., :, None]
    if right:
        return _count(home, home.xp.logical_not(_before(home, wanted, entries)))
    return _count(home, _before(home, entries, wanted))


KERNELS: dict[str, Callable[..., Any]] = {
    "argmax": argmax,
    "argmin": argmin,
    "argpartition": argpartition,
    "argsort": argsort,
    "partition": sort,
    "searchsorted": searchsorted,
    "sort": sort,
    "tie_count": tie_count,
    "tie_place": tie_place,
}
