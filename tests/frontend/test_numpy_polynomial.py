"""``numpy.polynomial``, whose functions are plain Python: right, or refused where they look for arrays of NumPy."""

from __future__ import annotations

import operator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import TracingError
from einsumad.frontend.callers import OF_POLYNOMIALS
from tests.frontend.slopes import check_slopes
from tests.frontend.surface import check, data, traced

X = data((3,))
SEVERAL = data((4, 3), seed=1)
KINDS = {
    name: getattr(import_module(f"numpy.polynomial.{module}"), f"{name}val")
    for module, name in {
        "polynomial": "poly",
        "chebyshev": "cheb",
        "legendre": "leg",
        "laguerre": "lag",
        "hermite": "herm",
        "hermite_e": "herme",
    }.items()
}


def test_all_modules_of_polynomials_are_known() -> None:
    names = {module.name for module in iter_modules(np.polynomial.__path__)}
    assert {f"numpy.polynomial.{name}" for name in names - {"tests", "setup"}} == OF_POLYNOMIALS


@pytest.mark.parametrize("name", KINDS)
def test_values_of_series(name: str) -> None:
    function = KINDS[name]

    def with_axes(x: Any) -> Any:
        return function(x, SEVERAL.reshape(SEVERAL.shape + (1,) * x.ndim), tensor=False)

    np.testing.assert_array_equal(with_axes(X), function(X, SEVERAL))
    check(with_axes, X)
    check_slopes(with_axes, X)
    for terms in (1, 2, 4):
        check(lambda x, k=terms: function(x, SEVERAL[:k, 0]), X)
        check(lambda x, k=terms: function(x, SEVERAL[:k], tensor=False), X)
        with pytest.raises(TracingError, match=f"{name}val .*reshape.* tensor=False"):
            function(traced(X), SEVERAL[:terms])
    found, expected = (
        ea.grad(f)(0.5) for f in (lambda x: function(x, SEVERAL)[1], lambda x: function(x, SEVERAL[:, 1]))
    )
    assert found == pytest.approx(expected)


def test_values_from_roots() -> None:
    function = import_module("numpy.polynomial.polynomial").polyvalfromroots
    check(lambda x: function(x, SEVERAL[..., None], tensor=False), X)
    assert ea.grad(lambda x: function(x, X[1:]))(X[0]) == pytest.approx(2 * X[0] - X[1] - X[2])
    for roots, tensor in ((X, True), (SEVERAL, True), (X, False)):
        with pytest.raises(TracingError, match=r"r\.reshape"):
            function(traced(X), roots, tensor=tensor)


@pytest.mark.parametrize("multiply", [operator.mul, np.multiply])
def test_a_refused_call_is_refused_where_all_its_steps_are_known(multiply: Any) -> None:
    def by_hand(x: Any, c: np.ndarray) -> Any:
        return c[-1] + multiply(x, 0)

    gradient = ea.grad(lambda x, function: np.sum(function(x, SEVERAL[:1])))
    for _ in range(4):
        gradient(X, by_hand)
    with pytest.raises(TracingError, match=r"polyval .*reshape"):
        gradient(X, KINDS["poly"])
    np.testing.assert_array_equal(gradient(X, by_hand), np.zeros(3))
