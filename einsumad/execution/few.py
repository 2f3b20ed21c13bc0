"""Sums over axes that hold few entries, as a plan's source calls for them.

Owns this function. Imports folding. Invariant: truth values are counted in numbers of one byte, so that there are at
most 255 of them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from einsumad.functions.general.folding import folded

Array: TypeAlias = np.ndarray[Any, Any]


def few_added(x: Array, axes: tuple[int, ...], dtype: type) -> Array:
    """``sum over the axes of x``, of truth values as ``uint8``.

    >>> few_added(np.array([[[True, True], [True, False]]]), (1, 2), np.uint8)
    array([3], dtype=uint8)
    """
    return folded(np.add, x.view(np.uint8) if x.dtype == bool else x, axes, dtype)
