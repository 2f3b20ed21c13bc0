"""Powers of one factor and reciprocals meet the others in between: no product vanishes or overflows on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import einsumad as ea

MODES: tuple[Any, ...] = ("auto", "forward", "reverse", "cross-country")


@pytest.mark.whole_planner
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("f", "x", "order", "expected"),
    [
        (lambda x: np.exp(x) / (np.exp(x) + 2), 400.0, 1, 0.0),
        (lambda x: np.exp(x) / (np.exp(x) + 2), np.float32(60), 1, 0.0),
        (lambda x: np.log(np.exp(x) - 1), 400.0, 2, 0.0),
        (lambda x: np.log(np.exp(x) - 1), np.float32(60), 2, 0.0),
        (lambda x: np.log(np.i0(x)), 400.0, 2, 3.1289209753e-06),
        (lambda x: np.log(np.i0(x)), 400.0, 3, -1.565444442e-08),
        (lambda x: np.log(sp.gamma(x)), 120.0, 3, -7.00255605e-05),
        (lambda x: np.log(np.exp(x * x) + x), 20.0, 2, 2.0),
    ],
)
def test_quotients_of_what_is_large(f: Any, x: Any, order: int, expected: float, mode: Any) -> None:
    for count in (1, 3):
        points = np.full(count, x)
        found = ea.derivative(lambda x: np.sum(f(x)), order=order, mode=mode)(points)
        atol = 1e-13 if points.dtype.char == "d" else 1e-6
        np.testing.assert_allclose(found[(0,) * order], expected, rtol=1e-5, atol=atol)
