"""Sums over axes that hold few entries, as a plan's source calls for them.

Owns this function. Imports NumPy only. Invariant: truth values are counted in numbers of one byte, so that there are at
most 255 of them; the result lies in memory as the axes that are kept do.

NumPy's reductions start a loop for each entry of the result where the axes to be summed lie last in memory. Here a loop
goes over all entries of the result, once for each entry that is added.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_ENTRIES_AT_ONCE = 65536


def few_added(x: Array, axes: tuple[int, ...], dtype: type) -> Array:
    """``sum over the axes of x``, of truth values as ``uint8``.

    >>> few_added(np.array([[[True, True], [True, False]]]), (1, 2), np.uint8)
    array([3], dtype=uint8)
    """
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    x = x.transpose(*axes, *kept)
    first, *others = np.ndindex(*x.shape[: len(axes)])
    result: Array = x[first].astype(dtype, order="K")
    count = max(1, _ENTRIES_AT_ONCE * len(result) // x.size)
    for start in range(0, len(result), count):
        part = result[start : start + count]
        for place in others:
            np.add(part, x[place][start : start + count], out=part)
    return result
