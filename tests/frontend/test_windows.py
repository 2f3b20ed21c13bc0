"""The Kaiser window as a function of its shape, against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import einsumad as ea
import einsumad.numpy as enp
from einsumad.errors import ShapeError, TracingError
from tests.surface.checks import MODES, same_values

WEIGHTS = (1.0, -2.0, 0.5, 3.0, 1.5)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_values(dtype: str) -> None:
    for points in (0, 1, 2, 5, 2.0, -1):
        for beta in (0, 2, 14, -2):
            same_values(lambda beta, points=points: enp.kaiser(points, beta), [np.array(beta, dtype)])
    assert type(enp.kaiser(3, 1.0)) is np.ndarray


@pytest.mark.parametrize("beta", [0.0, 1e-3, 2.0, 30.0])
def test_derivatives(beta: float) -> None:
    """At 0 too, where an odd derivative is 0."""

    def exact(x: mpmath.mpf) -> mpmath.mpf:
        widths = [mpmath.sqrt(1 - ((n - mpmath.mpf(2)) / 2) ** 2) for n in range(5)]
        terms = [weight * mpmath.besseli(0, x * width) for weight, width in zip(WEIGHTS, widths, strict=True)]
        return sum(terms) / mpmath.besseli(0, x)

    for order in (1, 2, 3):
        with mpmath.workdps(40):
            expected = float(mpmath.diff(exact, mpmath.mpf(beta), order))
        for mode in MODES:
            found = ea.derivative(lambda x: np.sum(np.array(WEIGHTS) * enp.kaiser(5, x)), order=order, mode=mode)(beta)
            assert abs(found - expected) < 1e-14 + 1e-9 * abs(expected)


def test_what_is_refused() -> None:
    with pytest.raises(TracingError, match="plain number of points"):
        enp.kaiser(ea.tensor(np.array(3.0)), 1.0)
    with pytest.raises(ShapeError, match="a number beta"):
        enp.kaiser(3, ea.tensor(np.ones(1)))
