"""gradient, trapezoid, interp, unwrap, sequences and polynomials: values as NumPy's, derivatives, knots and edges."""

from __future__ import annotations

import warnings
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import einsumad as ea
import einsumad.numpy as enp
from einsumad.errors import TracingError
from einsumad.frontend.tensor import Tensor
from tests.frontend.slopes import MODES, check_slopes
from tests.frontend.surface import check, data, same, traced

SHAPE = (3, 4)
KNOTS = np.array([0.1, 0.35, 0.5, 0.95])
T = np.array([0.05, 0.2, 0.45, 0.7, 0.99])
FUNCTIONS = {
    "trapezoid": np.trapezoid,
    "trapezoid, axis": lambda x: np.trapezoid(x, dx=0.5, axis=0),
    "trapezoid at places": lambda x: np.trapezoid(x, np.sort(x[0]) * 2),
    "trapezoid at places of each": lambda x: np.trapezoid(x, x**2, axis=0),
    "gradient": lambda x: np.gradient(x)[1],
    "gradient, axis": lambda x: np.gradient(x, 0.5, axis=1),
    "gradient, second order ends": lambda x: np.gradient(x, x[0, 0], axis=0, edge_order=2),
    "gradient at places": lambda x: np.gradient(x, x[:, 0] + np.array([0, 1, 3]), KNOTS)[0],
    "gradient at places, second order ends": lambda x: np.gradient(x, KNOTS * (1 + x[0] / 9), axis=1, edge_order=2),
    "gradient of a vector": lambda x: np.gradient(x[0], KNOTS**2),
    "interp": lambda x: np.interp(x, [0.0, 0.4, 1.0], [1.0, 3.0, 2.0]),
    "interp between values": lambda x: np.interp(T, KNOTS, x[0]),
    "interp between places": lambda x: np.interp(T, np.sort(x[0]), KNOTS**2),
    "interp, ends": lambda x: np.interp(T, KNOTS, x[0], left=x[1, 1], right=-1),
    "interp, period": lambda x: np.interp(5 * T + x[1, 0], x[0], x[1] ** 2, period=0.9),
    "interp, traced period": lambda x: np.interp(T, KNOTS, x[0], period=0.9 + x[0, 0] / 9),
    "interp, one knot": lambda x: np.interp(T, x[0, :1], x[1, :1], right=2.0),
    "unwrap": lambda x: np.unwrap(8 * x),
    "unwrap, axis": lambda x: np.unwrap(7 * x, 4.0, 0, period=5.0 + x[0, 0]),
    "unwrap, whole numbers": lambda x: np.unwrap(x[0] * 4, period=4),
    "linspace": lambda x: np.linspace(x[0, 0], 2, 5),
    "linspace, open": lambda x: np.linspace(x, 2 * x[0], 3, endpoint=False, axis=1),
    "linspace, step": lambda x: np.linspace(0, x[0], 4, retstep=True)[1],
    "linspace, one": lambda x: np.linspace(x[0], 3, 1),
    "linspace, last axis": lambda x: np.linspace(x[0], x[1], 4, axis=-1),
    "logspace": lambda x: np.logspace(x[0, 0], x[0], 3),
    "logspace, base": lambda x: np.logspace(0, 2, 3, base=x[0]),
    "geomspace": lambda x: np.geomspace(x[0], 4, 5),
    "geomspace, negative": lambda x: np.geomspace(-x[0, 0], -0.1, 4, endpoint=False),
    "polyval": lambda x: np.polyval(x[0], x[1:]),
    "polyval, constants": lambda x: np.polyval([2, 0, 1], x),
    "polyadd": lambda x: np.polyadd(x[0], x[1, :2]),
    "polysub": lambda x: np.polysub(x[0, :2], x[1]),
    "polymul": lambda x: np.polymul(x[0], [0, 2, 1]),
    "polydiv": lambda x: np.polydiv(x[0], x[1, :2] + 1)[0],
    "polydiv, rest": lambda x: np.polydiv(x[0], x[1, :2] + 1)[1],
    "polydiv by a longer one": lambda x: np.polydiv(x[0, :2], x[1])[1],
    "polyder": lambda x: np.polyder(x[0], 2),
    "polyint": lambda x: np.polyint(x[0], 2, x[1, :2]),
    "polyint, constant": lambda x: np.polyint(x[0], 2, 3),
    "poly": lambda x: np.poly(x[0]),
    "vander": lambda x: np.vander(x[0]),
    "vander, increasing": lambda x: np.vander(x[0], 6, increasing=True),
    "sinc": lambda x: np.sinc(2 * x - 1),
    "i0": lambda x: np.i0(2 * x - 1),
    "ldexp": lambda x: np.ldexp(x, [[-1], [0], [5]]),
}
TWICE = ("trapezoid at places", "gradient at places", "interp between places", "interp, traced period", "polydiv, rest")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_values(name: str, dtype: str) -> None:
    x = data(SHAPE, dtype)
    if dtype == "i8":
        x = np.array([[3, 5, 8, 9], [2, 4, 1, 6], [7, 1, 3, 2]])
    check(FUNCTIONS[name], x)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "whole numbers" not in name])
def test_derivatives(name: str) -> None:
    check_slopes(FUNCTIONS[name], data(SHAPE), twice=name in TWICE)


def test_knots_have_the_slope_from_the_right() -> None:
    knots, values = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 8.0])
    at = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
    check(lambda x: np.interp(x, knots, values), at)
    check(lambda x: np.interp(x, knots, values, left=-5.0, right=np.nan), at)
    for mode in MODES:
        slopes = ea.jacobian(lambda x: np.interp(x, knots, values), mode=mode)(at)
        np.testing.assert_array_equal(np.diagonal(slopes), [0, 1, 1, 3, 3, 0, 0])
    shares = ea.jacobian(lambda y: np.interp(at, knots, y))(values)
    expected = [[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1], [0, 0, 1]]
    np.testing.assert_array_equal(shares, expected)
    moved = ea.jacobian(lambda k: np.interp(at, k, values))(knots)
    np.testing.assert_array_equal(moved[[1, 3]], [[-1, 0, 0], [0, -3, 0]])


def test_values_that_are_not_finite_stay_between_their_knots() -> None:
    knots, values = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, np.inf, np.nan, 4.0])
    at = np.array([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, np.nan, np.inf])
    check(lambda x: np.interp(x, knots, values), at)
    check(lambda x: np.interp(x, [0.0, 1.0, 1.0, 2.0], [1.0, 2.0, 5.0, 6.0]), at)
    check(lambda x: np.interp(x, knots, [2.0, np.inf, np.inf, 1.0]), at)


@pytest.mark.parametrize("mode", MODES)
def test_sinc_to_third_order(mode: Any) -> None:
    x = np.array([0.0, -0.0, 1e-12, -1e-5, 1e-3, -0.02, 0.4, -1.0, 2.5, 30.25, -1000.3])
    for order in (1, 2, 3):
        found = [float(ea.derivative(np.sinc, order=order, mode=mode)(v)) for v in x]
        with mp.workdps(60):
            expected = [float(mp.diff(mp.sincpi, mp.mpf(float(v)), order)) for v in x]
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=3e-15)
    check(np.sinc, x)
    check(np.sinc, x.astype("f4"))
    check(np.sinc, x[:7].astype("f2"))
    check(np.sinc, np.array([np.nan, np.inf, -np.inf]))
    assert ea.grad(np.sinc)(np.float32(0.3)).dtype == np.float32


def test_both_ends_of_sequences_are_differentiated() -> None:
    J = ea.jacobian(lambda a, b: np.linspace(a, b, 3), argnums=(0, 1))(1.0, 3.0)
    np.testing.assert_array_equal(J[0], [1, 0.5, 0])
    np.testing.assert_array_equal(J[1], [0, 0.5, 1])
    check(lambda a: np.linspace(a, 1, 0), data((2,)))
    J = ea.jacobian(lambda a, b: np.geomspace(a, b, 3), argnums=(0, 1))(1.0, 4.0)
    np.testing.assert_allclose(J, [[1, 1, 0], [0, 0.25, 1]], atol=1e-15)


def test_arrays_of_traced_numbers() -> None:
    x = data((3,))
    same(enp.arange(traced(x[:1].reshape(())), 4, 0.7), np.arange(x[0], 4, 0.7))
    same(enp.arange(traced(np.array(2.5))), np.arange(2.5))
    same(enp.arange(0, 2, step=traced(x[1:2].reshape(()))), np.arange(0, 2, step=x[1]))
    same(enp.full((2, 3), traced(x)), np.full((2, 3), x))
    same(enp.full(2, traced(x[:1].reshape(())), "f4"), np.full(2, x[0], "f4"))
    assert type(enp.full(2, 3.0)) is type(enp.arange(3)) is np.ndarray
    J = ea.jacobian(lambda a, b: enp.arange(a, 2.0, b), argnums=(0, 1))(0.5, 0.6)
    np.testing.assert_array_equal(J, [[1, 1, 1], [0, 1, 2]])
    with pytest.raises(TracingError, match="not known"):
        ea.compile(lambda a: np.sum(enp.arange(a)))(3.0)


def test_jumps_of_phase_are_no_slopes() -> None:
    x = np.array([0.0, 3.0, 6.5, 0.1, -7.0])
    check(np.unwrap, x)
    check(lambda v: np.unwrap(v, axis=0), np.stack([x, x[::-1]]))
    check(np.unwrap, np.array([0.0, np.pi, 2 * np.pi, np.pi, 0.0]))
    np.testing.assert_array_equal(ea.jacobian(np.unwrap)(x), np.eye(5))
    check(lambda v: np.unwrap(v, period=6), np.array([0, 3, 6, 3, 0, 5, 1]))
    check(lambda v: np.unwrap(v, period=5), np.array([0, 3, 6, 3, 0, 5, 1]))


def test_bad_input() -> None:
    x = traced(data((4,)))
    for call, error, text in (
        (lambda: np.gradient(x[:1]), ValueError, "too small"),
        (lambda: np.gradient(x, [1, 2]), ValueError, "match"),
        (lambda: np.gradient(x, edge_order=3), ValueError, "edge_order"),
        (lambda: np.gradient(x, 1, 2), TypeError, "arguments"),
        (lambda: np.interp(x, [1, 2], [1]), ValueError, "length"),
        (lambda: np.interp(x, [], []), ValueError, "empty"),
        (lambda: np.interp(x, [1], [1], period=0), ValueError, "non-zero"),
        (lambda: np.linspace(x, 1, -1), ValueError, "non-negative"),
        (lambda: np.linspace(x, 1, 3, dtype=int), TracingError, "round"),
        (lambda: np.geomspace(x, 0.0), ValueError, "zero"),
        (lambda: np.polymul(np.zeros_like(x), x), TracingError, "convolve"),
        (lambda: np.polydiv(np.polymul(x[:2], x), x), TracingError, "degree"),
        (lambda: np.poly(np.stack([x, x])), TracingError, "eigenvalues"),
        (lambda: np.polyval(np.poly1d([1, 2]), x), TracingError, "coefficients"),
        (lambda: np.roots(x), TracingError, "complex"),
        (lambda: np.ldexp(x, x), TypeError, "whole"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_polyfit_as_numpy_has_it() -> None:
    x, y = np.array([0.1, 0.5, 0.9, 1.4, 2.0]), data((5,))
    w = np.array([1.0, 0.5, 2.0, 1.5, 0.7])
    for options in ({}, {"full": True}, {"cov": True}, {"cov": "unscaled", "w": w}, {"full": True, "rcond": 0.3}):
        for chosen in ((0,), (1,), (0, 1)):
            given = [traced(a) if k in chosen else a for k, a in enumerate((x, y))]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", np.exceptions.RankWarning)
                found, expected = np.polyfit(*given, 2, **options), np.polyfit(x, y, 2, **options)
            for part, wanted in zip(found, expected, strict=True) if options else [(found, expected)]:
                np.testing.assert_allclose(part.numpy() if isinstance(part, Tensor) else part, wanted, rtol=1e-10)
    same_points = np.array([1.0, 1.0, 1.0])
    with pytest.warns(np.exceptions.RankWarning):
        found = np.polyfit(traced(same_points), np.arange(3.0), 1)
    with pytest.warns(np.exceptions.RankWarning):
        np.testing.assert_allclose(found.numpy(), np.polyfit(same_points, np.arange(3.0), 1))
    for wrong in ((x, y, -1), (x, y[:3], 1), (x[:, None], y, 1), (x[:0], y[:0], 1), (x, y[0], 1)):
        with pytest.raises((ValueError, TypeError), match="expected"):
            np.polyfit(traced(wrong[0]), *wrong[1:])
    with pytest.raises(ValueError, match="must exceed order"):
        np.polyfit(x[:2], traced(y[:2]), 1, cov=True)


def test_polyfit_compiled() -> None:
    x, y = np.array([0.1, 0.5, 0.9, 1.4, 2.0]), data((5,))
    np.testing.assert_allclose(ea.compile(lambda x, y: np.polyfit(x, y, 1))(x, y), np.polyfit(x, y, 1))
    found = ea.compile(lambda y: np.polyfit(x, y, 1, cov=True))(y)
    for part, wanted in zip(found, np.polyfit(x, y, 1, cov=True), strict=True):
        np.testing.assert_allclose(part, wanted)
    vandermonde = np.linalg.pinv(np.vander(x, 3))
    np.testing.assert_allclose(ea.jacobian(lambda y: np.polyfit(x, y, 2))(y), vandermonde)
