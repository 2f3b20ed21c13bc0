"""Derivatives of functions of the NumPy surface against differences of NumPy's own function, in every mode."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings

import einsumad as ea

MODES = ("forward", "reverse", "cross-country")
STEP = 5e-4
MANY = 200


def along(f: Callable[[Any], Any], x: np.ndarray, move: np.ndarray) -> np.ndarray:
    """The derivative along a direction by central differences of fourth order."""
    step = STEP * move
    with np.errstate(all="ignore"):
        near, far = (np.asarray(f(x + k * step)) - np.asarray(f(x - k * step)) for k in (1, 2))
    return (8 * near - far) / (12 * STEP)


def check_slopes(f: Callable[[Any], Any], x: np.ndarray, *, twice: bool = True) -> None:
    """The Jacobian against differences of NumPy's f, and the Hessian against those of the gradient.

    The latter are of a weighted sum of squares, along a direction; of all functions in the long run only. NaN in a
    value is a constant, which is not asked about.
    """
    with np.errstate(all="ignore"):
        value = np.asarray(f(x))
    known = ~np.isnan(value)
    generator = np.random.default_rng(value.size)
    weights = generator.uniform(0.5, 1.5, value.shape)
    columns = [along(f, x, unit.reshape(x.shape)) for unit in np.eye(x.size)]
    slopes = np.stack(columns, -1).reshape(*value.shape, *x.shape)

    def total(v: Any) -> Any:
        return np.sum(np.where(known, weights * f(v) ** 2, 0))

    for mode in MODES:
        found = ea.jacobian(f, mode=mode)(x)
        assert found.shape == slopes.shape
        _close(found[known], slopes[known])
    if twice or settings().max_examples > MANY:
        move = generator.uniform(-1, 1, x.shape)
        expected = along(ea.grad(total), x, move)
        for mode in MODES:
            _close(np.tensordot(ea.hessian(total, mode=mode)(x), move, x.ndim), expected)


def _close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-8 * np.abs(expected).max(initial=1.0))
