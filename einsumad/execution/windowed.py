"""Products of windows, which have to be copied for a matrix product, as a plan's source calls for them.

Owns this function. Imports NumPy only. Invariant: no more entries of the windows are copied at a time than a cache
holds, or than one index of the first summed axis has.
"""

from __future__ import annotations

from math import prod
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_ENTRIES_AT_ONCE = 65536


def windows_dot(windows: Array, other: Array, free: int, own: int) -> Array:
    """``sum over s of windows[i, s] other[j, s]``, i the first `free` axes of one, j the first `own` axes of the other.

    >>> windows_dot(np.lib.stride_tricks.sliding_window_view(np.arange(4.0), 2).T, np.ones((1, 3)), 1, 1)
    array([[3.],
           [6.]])
    """
    rows, columns, length = prod(windows.shape[:free]), prod(other.shape[:own]), windows.shape[free]
    count = max(1, _ENTRIES_AT_ONCE * length // max(1, windows.size))
    before, behind = (slice(None),) * free, (slice(None),) * own
    result: Array | None = None
    for start in range(0, length, count):
        part = slice(start, start + count)
        first, second = windows[(*before, part)], other[(*behind, part)]
        inner = prod(first.shape[free:])
        product = first.reshape(rows, inner).dot(second.reshape(columns, inner).T)
        result = product if result is None else np.add(result, product, result)
    return np.zeros((rows, columns), np.result_type(windows, other)) if result is None else result
