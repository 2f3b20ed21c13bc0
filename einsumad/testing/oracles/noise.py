"""The noise of a function's values: what rounding inside it does to them.

Owns the measurement. Imports nothing of the toolkit. Invariant: the result is not negative, and not less than half a
unit in the last place of the values.

Fourth differences of equally spaced values a few units in the last place apart vanish for what is smooth and leave
the noise (R. W. Hamming, 1962; J. J. Moré, S. M. Wild, *Estimating computational noise*, SIAM J. Sci. Comput., 2011).
Values that do not change at all over such steps are rounded to something coarser than they show: their first change
over longer steps is their quantum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_STEP = 2.0**-48
_LADDER = tuple([2.0**-k for k in range(51, 9, -6)])
_FOURTH = np.array([1.0, -4.0, 6.0, -4.0, 1.0])
_SPREAD = sqrt(70.0)
_SAFETY = 4.0


def noise_of(function: Callable[[Array], Array], at: Array, directions: Sequence[Array], epsilon: float) -> Array:
    """The noise of each entry of the value at a point, seen along some directions; `epsilon` is the rounding unit."""
    middle = function(at)
    noise = 0.5 * epsilon * np.abs(middle)
    for direction in directions:
        samples = [middle if k == 0 else function(at + k * _STEP * direction) for k in (-2, -1, 0, 1, 2)]
        with np.errstate(all="ignore"):
            fourth = np.abs(np.tensordot(_FOURTH, np.stack(samples), axes=1)) * (_SAFETY / _SPREAD)
        noise = np.fmax(np.fmax(noise, fourth), _quantum(function, at, middle, direction))
    return np.where(np.isfinite(noise), noise, 0.0)


def _quantum(function: Callable[[Array], Array], at: Array, middle: Array, direction: Array) -> Array:
    """The least change of each entry over the shortest step that changes it; zero for entries that no step changes."""
    least = np.full(middle.shape, np.inf)
    for step in _LADDER:
        open_entries = np.isinf(least)
        if not open_entries.any():
            break
        for side in (-1, 1):
            with np.errstate(all="ignore"):
                change = np.abs(function(at + side * step * direction) - middle)
            least = np.where(open_entries & (change > 0), np.fmin(least, change), least)
    return np.where(np.isfinite(least), least, 0.0)


def _differences(values: Sequence[Array]) -> Array:
    with np.errstate(all="ignore"):
        return np.abs(np.tensordot(_FOURTH, np.stack(values), axes=1)) * (_SAFETY / _SPREAD)


def _is_structure(near: Array, far: Array) -> Array:
    """Whether doubling the step multiplied the differences by 2 (a kink), 4, 8 or 16 (smooth)."""
    with np.errstate(all="ignore"):
        power = np.log2(far / near)
        return (np.round(power) >= 1) & (np.round(power) <= 4) & (np.abs(power - np.round(power)) < 0.01)
