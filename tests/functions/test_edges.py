"""Elementwise rows where formulas break: zeros, infinities, kinks, ties, tiny and huge numbers."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

from einsumad.functions import apply
from einsumad.graph import Node, multiply
from tests.functions.evaluation import entrywise, evaluate, variable

INF, NAN = np.inf, np.nan


def derivatives(name: str, points: list[float], order: int, dtype: Any = np.float64, params: Any = ()) -> Any:
    x = variable("x", (len(points),), dtype)
    node: Node = apply(name, x, params=params)
    for _ in range(order):
        node = entrywise(node, x)
    return evaluate(node, {x: points})


def mixed(name: str, points: list[tuple[float, float]], which: str, params: Any = ()) -> Any:
    """The derivative of a function of two operands, named by the operands in turn: "0", "01", ..."""
    symbols = [variable(f"x{k}", (len(points),)) for k in range(2)]
    node: Node = apply(name, *symbols, params=params)
    for k in which:
        node = entrywise(node, symbols[int(k)])
    return evaluate(node, dict(zip(symbols, np.array(points).T, strict=True)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sigmoid_and_softplus_far_out(dtype: Any) -> None:
    far = [-1000.0, 1000.0]
    for name, expected in (
        ("softplus", [[0, 1000], [0, 1], [0, 0], [0, 0]]),
        ("sigmoid", [[0, 1], [0, 0], [0, 0]]),
    ):
        for order, row in enumerate(expected):
            np.testing.assert_array_equal(derivatives(name, far, order, dtype), row)
    assert derivatives("sigmoid", [-125.0], 1, np.float32)[0] == 0


def test_sigmoid_slope_does_not_cancel() -> None:
    np.testing.assert_allclose(derivatives("sigmoid", [40.0, -40.0], 1), np.exp(-40.0), rtol=1e-13)


def test_small_arguments_keep_their_digits() -> None:
    tiny = [1e-20, -1e-20]
    np.testing.assert_allclose(derivatives("log1p", tiny, 0), tiny, rtol=1e-15)
    np.testing.assert_allclose(derivatives("expm1", tiny, 0), tiny, rtol=1e-15)
    np.testing.assert_allclose(derivatives("expm1", [-50.0], 1), np.exp(-50.0), rtol=1e-15)
    np.testing.assert_allclose(derivatives("softplus", [-50.0], 0), np.exp(-50.0), rtol=1e-14)


def test_tanh_saturates() -> None:
    np.testing.assert_array_equal(derivatives("tanh", [-1e3, 1e3], 1), [0, 0])
    np.testing.assert_array_equal(derivatives("tanh", [-1e3, 1e3], 2), [0, 0])


@pytest.mark.parametrize("name", ["arcsin", "arccos"])
def test_inverse_sine_near_one(name: str) -> None:
    place = 1 - 1e-12
    expected = float(1 / mp.sqrt((1 - mp.mpf(place)) * (1 + mp.mpf(place))))
    sign = 1 if name == "arcsin" else -1
    np.testing.assert_allclose(derivatives(name, [place, -place], 1), sign * expected, rtol=1e-12)
    np.testing.assert_array_equal(derivatives(name, [1.0, -1.0], 1), [sign * INF] * 2)


def test_roots_and_reciprocal_at_zero() -> None:
    assert derivatives("sqrt", [0.0], 1)[0] == INF
    assert derivatives("sqrt", [0.0], 2)[0] == -INF
    assert derivatives("reciprocal", [0.0], 1)[0] == -INF
    np.testing.assert_allclose(derivatives("reciprocal", [1e-100, 1e150], 1), [-1e200, -1e-300], rtol=1e-14)


def test_norm_root() -> None:
    for order in (1, 2, 3):
        assert derivatives("norm_root", [0.0], order)[0] == 0
        assert np.isnan(derivatives("norm_root", [NAN], order)[0])
    np.testing.assert_allclose(derivatives("norm_root", [4.0], 1), 0.25)


@pytest.mark.parametrize(
    ("exponent", "first", "second", "third"),
    [
        (0, 0, 0, 0),
        (1, 1, 0, 0),
        (2, 0, 2, 0),
        (3, 0, 0, 6),
        (1.5, 0, INF, -INF),
        (2.5, 0, 0, INF),
        (0.5, INF, -INF, INF),
        (0.3, INF, -INF, INF),
        (-1, -INF, INF, -INF),
        (-2, -INF, INF, -INF),
    ],
)
def test_power_at_zero(exponent: float, first: float, second: float, third: float) -> None:
    found = [derivatives("power", [0.0], order, params=(exponent,))[0] for order in (1, 2, 3)]
    np.testing.assert_array_equal(found, [first, second, third])


def test_power_of_negative_base() -> None:
    np.testing.assert_array_equal(derivatives("power", [-2.0], 1, params=(3,)), [12])
    np.testing.assert_array_equal(derivatives("power", [-2.0], 2, params=(-1,)), [-0.25])


def test_constant_exponents_ignore_nan_where_the_derivative_is_constant() -> None:
    assert derivatives("power", [NAN], 1, params=(1,))[0] == 1
    assert derivatives("power", [NAN], 1, params=(0,))[0] == 0
    assert np.isnan(derivatives("power", [NAN], 1, params=(2,))[0])


def test_differentiated_exponent_at_zero_base() -> None:
    points = [(0.0, 2.0), (0.0, 1.0), (0.0, 0.5), (0.0, 0.0), (0.0, -1.0)]
    np.testing.assert_array_equal(mixed("power_xy", points, "0"), [0, 1, INF, 0, -INF])
    np.testing.assert_array_equal(mixed("power_xy", points, "1"), [0, 0, 0, -INF, -INF])
    np.testing.assert_array_equal(mixed("power_xy", points, "11")[:3], [0, 0, 0])
    np.testing.assert_array_equal(mixed("power_xy", points, "00")[:2], [2, 0])


def test_mixed_power_derivatives_agree_whatever_the_order() -> None:
    """d/dp d/dx x^p = x^(p-1) (1 + p log x), at p = 0, at p = 1 and at x = 0 too."""
    points = [(2.0, 0.0), (0.5, 1.0), (3.0, -1.0), (0.0, 2.0), (0.0, 1.0)]
    expected = [0.5, 1 + np.log(0.5), (1 - np.log(3)) / 9, 0, -INF]
    np.testing.assert_allclose(mixed("power_xy", points, "01"), expected, rtol=1e-14)
    np.testing.assert_allclose(mixed("power_xy", points, "10"), expected, rtol=1e-14)


def test_negative_base_under_a_differentiated_exponent() -> None:
    np.testing.assert_array_equal(mixed("power_xy", [(-2.0, 3.0)], "0"), [12])
    assert np.isnan(mixed("power_xy", [(-2.0, 3.0)], "1")[0])


PLANE = [
    (1e-13, 5.6843e-14),
    (1e-300, 1e-300),
    (-3e-200, 1e-210),
    (1e300, -1e300),
    (1e-20, 1.0),
    (1.0, -1e-20),
]


@pytest.mark.parametrize("which", ["0", "1"])
def test_arctan2_far_from_and_near_the_origin(which: str) -> None:
    found = mixed("arctan2", PLANE, which)
    with mp.workdps(60):
        square = [mp.mpf(y) ** 2 + mp.mpf(x) ** 2 for y, x in PLANE]
        top = [mp.mpf(x) if which == "0" else -mp.mpf(y) for y, x in PLANE]
        expected = [float(t / s) for t, s in zip(top, square, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_arctan2_known_case() -> None:
    """The angle of 5.6843e-14 + 1e-13 i: derivative along the real and the imaginary axis."""
    point = [(1e-13, 5.6843e-14)]
    np.testing.assert_allclose(mixed("arctan2", point, "1"), -7.558e12, rtol=1e-3)
    np.testing.assert_allclose(mixed("arctan2", point, "0"), 4.296e12, rtol=1e-3)


def test_second_derivative_of_arctan2_at_small_arguments() -> None:
    np.testing.assert_allclose(mixed("arctan2", [(1e-100, 1e-100)], "00"), -0.5e200, rtol=1e-13)
    np.testing.assert_allclose(mixed("arctan2", [(1e-100, 3e-100)], "01"), -0.08e200, rtol=1e-13)


def test_origin_of_the_plane() -> None:
    """A norm has derivative 0 at the origin by convention; an angle has none."""
    assert mixed("hypot", [(0.0, 0.0)], "0")[0] == 0
    assert np.isnan(mixed("arctan2", [(0.0, 0.0)], "0")[0])


@pytest.mark.parametrize("name", ["relu", "abs", "sign", "floor", "ceil", "round", "trunc"])
def test_kinks_have_derivative_zero(name: str) -> None:
    np.testing.assert_array_equal(derivatives(name, [0.0, -0.0], 1), [0, 0])
    np.testing.assert_array_equal(derivatives(name, [1.0, -1.0, 1e300], 2), [0, 0, 0])


def test_maximum_against_a_constant() -> None:
    points = [(2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (INF, 1.0), (-INF, 1.0)]
    np.testing.assert_array_equal(mixed("maximum_constant", points, "0"), [1, 0, 0, 1, 0])
    np.testing.assert_array_equal(mixed("minimum_constant", points, "0"), [0, 0, 1, 0, 1])


def test_ties_are_split_equally() -> None:
    points = [(2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (INF, INF)]
    np.testing.assert_array_equal(mixed("maximum", points, "0"), [1, 0.5, 0, 0.5])
    np.testing.assert_array_equal(mixed("maximum", points, "1"), [0, 0.5, 1, 0.5])
    np.testing.assert_array_equal(mixed("minimum", points, "0"), [0, 0.5, 1, 0.5])
    np.testing.assert_array_equal(mixed("minimum", points, "1"), [1, 0.5, 0, 0.5])


@pytest.mark.parametrize("name", ["relu", "abs"])
def test_nan_is_not_lost_behind_a_kink(name: str) -> None:
    x = variable("x", (1,))
    assert np.isnan(evaluate(entrywise(apply(name, apply("square", x)), x), {x: [NAN]})[0])


@pytest.mark.parametrize("name", ["maximum", "minimum", "maximum_constant", "minimum_constant"])
def test_nan_is_not_lost_behind_a_maximum(name: str) -> None:
    x, y = variable("x", (1,)), variable("y", (1,))
    node = apply(name, apply("square", x), y)
    assert np.isnan(evaluate(entrywise(node, x), {x: [NAN], y: [1.0]})[0])


def test_a_beaten_branch_does_not_contribute() -> None:
    """The mask selects: an infinite derivative of the operand that is beaten stays out."""
    x = variable("x", (2,))
    root = apply("sqrt", x)
    node = apply("maximum", root, multiply(x, coefficient=3))
    np.testing.assert_array_equal(evaluate(entrywise(node, x), {x: [4.0, 1.0]}), [3, 3])
    shifted = apply("maximum_constant", root, variable("c", (2,)))
    values = {x: [0.0, 4.0], variable("c", (2,)): [1.0, 1.0]}
    np.testing.assert_array_equal(evaluate(entrywise(shifted, x), values), [0, 0.25])


def test_gamma_functions_far_out() -> None:
    for place in (1e-8, -1.5, 1e5, 300.25):
        with mp.workdps(40):
            expected = [mp.log(abs(mp.gamma(place))), *[mp.psi(n, mp.mpf(place)) for n in range(3)]]
        found = [derivatives("gammaln", [place], order)[0] for order in range(4)]
        np.testing.assert_allclose(found, [float(e) for e in expected], rtol=1e-11)


def test_error_function_tails() -> None:
    with mp.workdps(40):
        expected = float(mp.erfc(20))
    np.testing.assert_allclose(derivatives("erfc", [20.0], 0), expected, rtol=1e-12)
    np.testing.assert_array_equal(derivatives("erf", [-1e200, 1e200], 1), [0, 0])
    np.testing.assert_array_equal(derivatives("erf", [-1e200, 1e200], 2), [0, 0])
