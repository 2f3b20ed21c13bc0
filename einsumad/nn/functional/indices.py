"""Whole numbers that choose entries: classes of a loss, rows of a table.

Owns their checks. Imports NumPy. Invariant: nothing is chosen from the end by a negative number: a plain array is
looked at when it is given, a traced one fails when it is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import einsumad as ea


def dtype_of(array: Any) -> np.dtype:
    """The dtype of an array, a traced one, a number or a list."""
    return np.dtype(array.dtype) if hasattr(array, "dtype") else np.asarray(array).dtype


def wide(indices: Any) -> Any:
    """Whole numbers in a dtype that has all numbers of rows, and -100: int64, but for uint64, which is left alone."""
    given = indices if isinstance(indices, ea.Tensor) else np.asarray(indices)
    return given if given.dtype.itemsize == np.dtype(np.int64).itemsize else given.astype(np.int64)


def can_be(number: int, indices: Any) -> bool:
    """Whether the dtype of the indices, whole numbers, has this number."""
    limits = np.iinfo(dtype_of(indices))
    return bool(limits.min <= number <= limits.max)


def from_zero(indices: Any, count: int, where: str, what: str) -> Any:
    """The indices, which are in ``0 ... count - 1``. Raises :class:`IndexError` for others.

    The values of a traced array may not be known yet: a negative entry then becomes one that is out of bounds, at which
    the lookup raises.
    """
    if isinstance(indices, ea.Tensor):
        return np.where(indices < 0, count, indices) if dtype_of(indices).kind == "i" else indices
    indices = np.asarray(indices)
    if indices.size and not (indices.min() >= 0 and indices.max() < count):
        raise IndexError(f"{where}: {what} are from 0 to {count - 1}, got {indices.min()} to {indices.max()}")
    return indices
