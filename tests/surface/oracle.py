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


def along(line: Callable[[float], float], order: int, magnitude: float, step: float = 0.02) -> tuple[float, float]:
    """The derivative of this order of the line at 0 and a bound of its error: two steps, and rounding."""
    estimates = []
    for h in (step, step / 2):
        values = np.array([line(k * h) for k in range(-POINTS, POINTS + 1)])
        estimates.append(float(WEIGHTS[order] @ values) / h**order)
    rounding = 1e-15 * magnitude * np.abs(WEIGHTS[order]).sum() / (step / 2) ** order
    return estimates[1], 3 * abs(estimates[0] - estimates[1]) + 10 * rounding
