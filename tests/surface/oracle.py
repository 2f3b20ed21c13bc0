"""Derivatives along a line by differences of plain NumPy values, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

POINTS = 5
"""Points on each side."""


def weights(order: int) -> np.ndarray:
    """Those of the central difference of this order over all points, by the Taylor conditions."""
    places = np.arange(-POINTS, POINTS + 1, dtype=float)
    powers = np.arange(places.size)
    right = np.zeros(places.size)
    right[order] = factorial(order)
    return np.linalg.solve(places[None, :] ** powers[:, None], right)


WEIGHTS = {order: weights(order) for order in (1, 2, 3)}


def along(
    line: Callable[[float], float], order: int, magnitude: float, accuracy: float = 0.0, step: float = 0.02
) -> tuple[float, float]:
    """The derivative of this order of the line at 0 and a bound of its error; infinite where steps do not agree.

    On a smooth line all steps agree to many digits. Where they do not, there is a kink nearby, or the step is too long.
    The values are taken to be right to the accuracy, relative to the magnitude, or to rounding.
    """
    estimates, roundings = [], []
    for h in (step, step / 2, step / 4):
        values = np.array([line(k * h) for k in range(-POINTS, POINTS + 1)])
        estimates.append(float(WEIGHTS[order] @ values) / h**order)
        roundings.append(max(1e-14, accuracy) * magnitude * float(np.abs(WEIGHTS[order]).sum()) / h**order)
    first, second = (abs(estimates[k + 1] - estimates[k]) for k in (0, 1))
    smooth = first + second <= 1e-4 * (magnitude + abs(estimates[1])) + 2 * roundings[2]
    return estimates[1], 10 * first + roundings[1] if smooth else float("inf")
