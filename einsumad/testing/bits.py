"""Equality bit by bit, and memory that is shared.

Owns how arrays are compared for purity and determinism. Imports nothing of the toolkit. Invariant: numbers are equal if
they are the same number with the same sign or both not a number, so padding and payloads do not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_WORK = 10_000


def same_bits(one: Array, other: Array) -> bool:
    """Whether two arrays have one shape, one dtype, and equal entries; signed zeros differ, NaN equals NaN.

    >>> import numpy as np
    >>> same_bits(np.array([np.nan, 0.0]), np.array([np.nan, 0.0]))
    True
    >>> same_bits(np.array([0.0]), np.array([-0.0]))
    False
    """
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind == "c":
        return same_bits(one.real, other.real) and same_bits(one.imag, other.imag)
    if one.dtype.kind != "f":
        return all(a is b or bool(np.all(a == b)) for a, b in zip(one.flat, other.flat, strict=True))
    equal = (one == other) & (np.signbit(one) == np.signbit(other))
    return bool(np.all(equal | (np.isnan(one) & np.isnan(other))))


def shares_memory(one: Array, other: Array) -> bool:
    """Whether two arrays have a byte in common; yes where that takes too long to find out."""
    if not np.may_share_memory(one, other):
        return False
    try:
        return bool(np.shares_memory(one, other, max_work=_WORK))  # type: ignore[arg-type]  # the stub of NumPy knows two limits
    except np.exceptions.TooHardError:
        return True


def overlaps_itself(array: Array) -> bool:
    """Whether two entries of an array are one place in memory, as in a broadcast or a sliding window.

    >>> import numpy as np
    >>> overlaps_itself(np.broadcast_to(1.0, (3,))), overlaps_itself(np.ones((3, 4)).T[::2])
    (True, False)
    """
    axes = sorted([(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1])
    if array.size == 0:
        return False
    reach = array.itemsize
    for stride, size in axes:
        if stride < reach:
            return _repeats(array) if stride > 0 else True
        reach = stride * (size - 1) + reach
    return False


def _repeats(array: Array) -> bool:
    """The slow way: whether two offsets into memory are less than an item apart."""
    if array.size > _WORK**2:
        return True
    offsets = np.zeros((), np.int64)
    for stride, size in zip(array.strides, array.shape, strict=True):
        offsets = offsets[..., None] + stride * np.arange(size)
    return bool(np.any(np.diff(np.sort(offsets.reshape(-1))) < array.itemsize))
