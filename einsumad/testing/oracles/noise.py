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

_STEP = 16
_LONGER = 2**12
_SCALES = 3
_LADDER = (2, 2**7, 2**13, 2**19, 2**25, 2**31, 2**37, 2**45, 2**48, 2**51)
_ROUNDED = 1e-12
_WEIGHTS = np.array([1.0, -4.0, 6.0, -4.0, 1.0])
_SPREAD = sqrt(70.0)
_SAFETY = 4.0
_GROWTH = 30.0
_FAR = 64
_FARTHEST = 2.0**-10


def noise_of(
    function: Callable[[Array], Array],
    at: Array,
    directions: Sequence[Array],
    epsilon: float,
    unit: float,
) -> Array:
    """The noise of each entry of the value at a point, seen along some directions.

    `epsilon` is the rounding unit of the values, `unit` that of the arguments. Longer steps show what
    is rounded coarsely inside and is smooth outside.
    """
    middle = function(at)
    noise = 0.5 * epsilon * np.abs(middle)
    for scale in range(_SCALES):
        step = min(_STEP * unit * _LONGER**scale, _FARTHEST) * directions[scale % len(directions)]
        noise = np.fmax(noise, _differences(function, at, middle, step, smooth=scale > 0))
    noise = np.fmax(noise, _quantum(function, at, middle, directions[0], unit))
    return np.where(np.isfinite(noise), noise, 0.0)


def _differences(function: Callable[[Array], Array], at: Array, middle: Array, step: Array, *, smooth: bool) -> Array:
    """The noise that fourth differences show; if asked, what much shorter steps do not show only if it is noise.

    Rounding does not grow with the step; an oscillation grows from shorter steps to these, a kink from these to longer
    ones. Shorter steps that show nothing at all are within one rounding.
    """
    near = _fourth(function, at, middle, step)
    if not smooth:
        return near
    nearer, far = (_fourth(function, at, middle, factor * step) for factor in (1 / _FAR, _FAR))
    with np.errstate(all="ignore"):
        level = far < _GROWTH * near
        level &= (near <= _GROWTH * nearer) | (nearer == 0)
        return np.where(level, np.fmax(near, far), nearer)


def _fourth(function: Callable[[Array], Array], at: Array, middle: Array, step: Array) -> Array:
    samples = [middle if k == 0 else function(at + k * step) for k in (-2, -1, 0, 1, 2)]
    with np.errstate(all="ignore"):
        return np.abs(np.tensordot(_WEIGHTS, np.stack(samples), axes=1)) * (_SAFETY / _SPREAD)


def _quantum(function: Callable[[Array], Array], at: Array, middle: Array, direction: Array, unit: float) -> Array:
    """The least change of each entry over the shortest step that changes it; zero for entries that no step changes.

    Over long steps a change counts only if it is of the size of a rounding: what is constant nearby may well jump.
    """
    least = np.where(middle == 0, 0.0, np.inf)
    for factor in _LADDER:
        open_entries = np.isinf(least)
        if not open_entries.any():
            break
        for side in (-1, 1):
            with np.errstate(all="ignore"):
                change = np.abs(function(at + side * factor * unit * direction) - middle)
                counts = change > 0
                if factor * unit > _FARTHEST:
                    counts &= change <= _ROUNDED * np.maximum(np.abs(middle), 1.0)
            least = np.where(open_entries & counts, np.fmin(least, change), least)
    return np.where(np.isfinite(least), least, 0.0)
