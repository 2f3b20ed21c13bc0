"""A function of two arguments over axes that hold few entries, in long loops.

Owns this function. Imports NumPy only. Invariant: no more entries are taken at a time than a cache holds, or than one
index of the slowest axis has; the result lies in memory as the axes that are kept do.

NumPy's reductions start a loop for each entry of the result where the axes to be reduced lie last in memory. Here a
loop goes over all entries that are left, once for each entry that is taken.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_ENTRIES_AT_ONCE = 65536


def folded(function: np.ufunc, x: Array, axes: tuple[int, ...], dtype: np.dtype | type) -> Array:
    """``x`` with the function taken over the axes, slowest in memory first; at least one axis is kept, and none empty.

    >>> folded(np.add, np.ones((2, 3, 2)), (0, 2), np.float64)
    array([4., 4., 4.])
    """
    reduced = sorted(axes, key=lambda axis: -abs(x.strides[axis]))
    kept = sorted([axis for axis in range(x.ndim) if axis not in axes], key=lambda axis: -abs(x.strides[axis]))
    x = x.transpose(*reduced, *kept)
    shape = x.shape[len(axes) :]
    result = np.empty(shape, dtype)
    count = max(1, _ENTRIES_AT_ONCE * shape[0] // max(1, x.size))
    before = (slice(None),) * len(axes)
    for start in range(0, shape[0], count):
        part = slice(start, start + count)
        _fold_into(result[part], function, x[(*before, part)], len(axes))
    return result.transpose([kept.index(axis) for axis in sorted(kept)])


def _fold_into(result: Array, function: np.ufunc, x: Array, axes: int) -> None:
    """The first axes of x one after the other, the last one into memory given."""
    for left in range(axes, 0, -1):
        first, *others = x
        into = result if left == 1 else None
        if not others:
            x = first
            continue
        x = function(first, others[0], out=into, dtype=result.dtype)
        for other in others[1:]:
            function(x, other, out=x)
    if x is not result:
        result[...] = x
