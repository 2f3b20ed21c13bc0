"""Quotients of functions that overflow: 0 with all derivatives far out, exact near 0, poles as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import einsumad as ea

FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "1/(exp x - 1)": (lambda x: 1 / (np.exp(x) - 1), lambda x: 1 / mp.expm1(x)),
    "1/expm1": (lambda x: 1 / np.expm1(x), lambda x: 1 / mp.expm1(x)),
    "1/(1 - exp(-x))": (lambda x: 1 / (1 - np.exp(-x)), lambda x: -1 / mp.expm1(-x)),
    "exp x/(exp x - 1)": (lambda x: np.exp(x) / (np.exp(x) - 1), lambda x: -1 / mp.expm1(-x)),
    "x/expm1": (lambda x: x / np.expm1(x), lambda x: x / mp.expm1(x)),
    "x/(exp 2x - 1)": (lambda x: x / (np.exp(2 * x) - 1), lambda x: x / mp.expm1(2 * x)),
    "Planck": (lambda x: x**3 / np.expm1(x), lambda x: x**3 / mp.expm1(x)),
    "Einstein": (lambda x: x**2 * np.exp(x) / (np.exp(x) - 1) ** 2, lambda x: x**2 * mp.exp(x) / mp.expm1(x) ** 2),
    "1/cosh": (lambda x: 1 / np.cosh(x), mp.sech),
    "1/cosh**2": (lambda x: 1 / np.cosh(x) ** 2, lambda x: mp.sech(x) ** 2),
    "cosh**-1.5": (lambda x: np.cosh(x) ** -1.5, lambda x: mp.sech(x) ** 1.5),
    "1/sinh": (lambda x: 1 / np.sinh(x), mp.csch),
    "x/(3 cosh)": (lambda x: x / (3 * np.cosh(x)), lambda x: x * mp.sech(x) / 3),
    "x/exp": (lambda x: x / np.exp(x), lambda x: x * mp.exp(-x)),
}
PLACES = [1e-4, -1e-4, 0.5, -3.0, 40.0, 300.0, 800.0]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.filterwarnings("ignore:overflow")
def test_to_third_order(name: str) -> None:
    function, oracle = FORMS[name]
    for order in range(4):
        compiled = ea.compile(function)
        for place in PLACES:
            with mp.workdps(1200):
                expected = float(mp.diff(oracle, mp.mpf(place), order) if order else oracle(mp.mpf(place)))
            near = abs(place) < 1e-3 and name in ("Einstein", "Planck", "1/cosh", "1/cosh**2", "cosh**-1.5")
            np.testing.assert_allclose(
                compiled(np.float64(place)), expected, rtol=1e-10, atol=1e-11 if near else 1e-300
            )
        function = ea.grad(function)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_poles_and_infinities_as_in_numpy() -> None:
    for name in ("1/(exp x - 1)", "1/expm1", "exp x/(exp x - 1)", "x/expm1", "1/sinh", "1/cosh"):
        function, _ = FORMS[name]
        x = np.array([0.0, np.nan, -np.inf] + [np.inf] * (name != "exp x/(exp x - 1)"))
        np.testing.assert_allclose(ea.compile(function)(x), function(x))
        assert np.isnan(ea.grad(lambda x, f=function: np.sum(f(x)))(x)[1])


def test_the_logarithm_of_a_hyperbolic_cosine() -> None:
    x = np.array([-800.0, -1e-9, 0.0, 0.5, 800.0])
    function = lambda x: np.sum(np.log(np.cosh(x)))  # noqa: E731
    np.testing.assert_allclose(ea.compile(function)(x), 2 * (800 - np.log(2)) + np.log(np.cosh(0.5)))
    np.testing.assert_allclose(ea.grad(function)(x), np.tanh(x), rtol=1e-15)
    np.testing.assert_allclose(ea.hessian_diagonal(function)(x), 1 - np.tanh(x) ** 2, rtol=1e-15)
