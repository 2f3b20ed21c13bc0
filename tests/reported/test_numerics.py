"""Rows N*: kinks, infinities, NaN and overflow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import einsumad as ea
from tests.reported.oracle import (
    MODES,
    check,
    check_whole,
    close,
    every_jacobian,
    every_second,
    exactly,
    exactly_second,
)

INF, NAN = np.inf, np.nan
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def test_n2_where_with_an_infinite_branch():
    def f(x):
        return np.where(x > 0, 0.0, x * np.inf)

    exactly(f, [np.float64(1)], np.zeros(()))
    exactly_second(f, [np.float64(1)], np.zeros(()))


@pytest.mark.whole_planner
@pytest.mark.parametrize(
    "branch",
    [
        np.log,
        np.sqrt,
        np.reciprocal,
        lambda x: x / 0.0,
        lambda x: np.exp(1e4 * x),
        lambda x: 0 * x / 0.0,
        np.arcsin,
    ],
)
def test_n2_the_branch_not_taken_never_contributes(branch):
    """To second order, through further operations, where the other branch has no value at all."""
    x = np.array([-2.0, 0.0, 3.0])

    def f(x):
        safe = np.where(x < 10, x**3, branch(x))
        return np.sum(safe * np.where(x > 10, branch(x), 2 * x))

    exactly(f, [x], 8 * x**3)
    exactly_second(f, [x], np.diag(24 * x**2))


def test_n2_where_inside_a_product_with_a_matrix():
    a = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(x):
        return a @ np.where(x > 0, np.sqrt(x), 0.0)

    exactly(f, [np.array([0.0, 4.0])], a * np.array([0.0, 0.25]))


@pytest.mark.parametrize("norm", [np.linalg.norm, lambda x: np.linalg.norm(x, axis=0), lambda x: np.linalg.norm(x, 2)])
def test_n4_norm_at_zero(norm):
    exactly(norm, [np.zeros(3)], np.zeros(3))
    for mode, found in every_jacobian(norm, [np.array([3.0, 0.0, -4.0])]).items():
        close(found, np.array([3.0, 0.0, -4.0]) / 5, 2e-16, mode)


def test_n4_standard_deviation_of_equal_numbers():
    exactly(np.std, [np.full(4, 2.5)], np.zeros(4))


def test_n4_the_derivative_in_a_long_expression():
    def f(x):
        return np.exp(np.sum(x)) * (1 + np.linalg.norm(x))

    exactly(f, [np.zeros(2)], np.ones(2))


def test_n6_second_derivative_of_the_norm():
    x = np.array([1.0, -2.0, 2.0])
    expected = np.eye(3) / 3 - np.outer(x, x) / 27
    for mode, found in every_second(np.linalg.norm, [x]).items():
        close(found, expected, 1e-14, mode)


def test_n6_at_zero_the_convention_holds_to_second_order():
    """Derivative 0 at 0, so constant in the convention's sense: 0 again, never an infinity or NaN."""
    exactly_second(np.linalg.norm, [np.zeros(2)], np.zeros((2, 2)))


@pytest.mark.parametrize("at", [np.zeros(2), np.array([3.0, -4.0])])
def test_n6_the_squared_norm_is_exact_to_every_order(at):
    def f(x):
        return np.linalg.norm(x) ** 2

    exactly(f, [at], 2 * at)
    exactly_second(f, [at], 2 * np.eye(2))
    np.testing.assert_array_equal(ea.derivative(f, order=3)(at), np.zeros((2, 2, 2)))


@pytest.mark.parametrize(
    ("exponent", "slope"),
    [
        (2, 0),
        (3, 0),
        (1.5, 0),
        (2.5, 0),
        (1, 1),
        (1.0, 1),
        (0, 0),
        (0.0, 0),
        (0.5, INF),
        (0.3, INF),
        (-1, -INF),
        (-2, -INF),
    ],
)
def test_n8_a_power_at_zero(exponent, slope):
    exactly(lambda x: x**exponent, [np.float64(0)], np.full((), float(slope)))
    exactly(lambda x: np.power(x, exponent), [np.float64(0)], np.full((), float(slope)))


@pytest.mark.parametrize(("exponent", "slope"), [(2.0, 0.0), (1.0, 1.0), (0.0, 0.0), (0.5, INF)])
def test_n8_a_power_at_zero_with_an_array_of_exponents(exponent, slope):
    exponents = np.array([exponent])
    exactly(lambda x: x**exponents, [np.zeros(1)], np.array([[slope]]))


@pytest.mark.parametrize(("exponent", "second"), [(2, 2.0), (3, 0.0), (4, 0.0), (1, 0.0), (0, 0.0)])
def test_n8_second_derivative_of_a_power_at_zero(exponent, second):
    exactly_second(lambda x: x**exponent, [np.float64(0)], np.full((), second))


@pytest.mark.parametrize("exponent", [2.0, 1.0, 0.5])
def test_n8_derivative_in_the_exponent_at_base_zero(exponent):
    base = np.zeros(())
    exactly(lambda p: np.power(base, p), [np.float64(exponent)], np.zeros(()))
    for mode in MODES:
        _, found = ea.jacobian(np.power, (0, 1), mode=mode)(np.float64(0), np.float64(exponent))
        assert found == 0


def test_n8_negative_base():
    for exponent in (2, 3, -1, -3):
        exactly(lambda x, p=exponent: x**p, [np.float64(-2)], np.full((), exponent * (-2.0) ** (exponent - 1)))
    assert "log" not in str(ea.explain(ea.hessian(lambda x: x**2.5), np.float64(2)))
    exactly(lambda x: x ** np.array([3.0]), [np.array([-2.0])], np.array([[12.0]]))


@pytest.mark.whole_planner
def test_n10_infinity_times_zero_in_exp():
    def f(v):
        a, b = np.einsum("i,i->", v, [1.0, 0.0]), np.einsum("i,i->", v, [0.0, 1.0])
        return a * np.exp(-b)

    exactly(lambda a, b: a * np.exp(-b), [np.float64(1), np.float64(-1e3)], np.full((), INF))
    exactly(lambda a, b: a * np.exp(-b), [np.float64(1), np.float64(-1e3)], np.full((), -INF), argnum=1)
    gradient = ea.grad(lambda a, b: a * np.exp(-b), (0, 1))(np.float64(1), np.float64(-1e3))
    assert gradient == (INF, -INF)
    check(f, np.array([0.7, 0.4]))


def log_softmax(z):
    return z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3])
def test_n12_log_softmax_at_large_logits(scale):
    z = scale * np.array([1.0, -1.0, 0.5])
    weights = np.array([0.2, 0.5, 0.3])
    p = np.exp(z - np.max(z))
    p /= np.sum(p)
    for mode, found in every_jacobian(lambda z: np.sum(weights * log_softmax(z)), [z]).items():
        close(found, weights - p, 1e-14, mode)
    hessian = np.outer(p, p) - np.diag(p)
    for mode, found in every_second(lambda z: np.sum(weights * log_softmax(z)), [z]).items():
        close(found, hessian, 1e-14, mode)


@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_n12_cross_entropy_written_as_log_of_softmax(scale):
    z = scale * np.array([[1.0, -1.0, 0.5], [0.0, 2.0, -3.0]])
    target = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    p = special.softmax(z, axis=1)

    def f(z):
        e = np.exp(z)
        return -np.sum(target * np.log(e / np.sum(e, axis=1, keepdims=True)))

    assert np.isfinite(ea.value_and_grad(f)(z)[0])
    for mode, found in every_jacobian(f, [z]).items():
        close(found, p - target, 1e-13, mode)


def test_n12_a_masked_entry_with_weight_zero():
    z = np.array([1.0, -INF, 0.5])
    weights = np.array([0.4, 0.0, 0.6])

    def f(z):
        return np.sum(np.where(weights > 0, weights * log_softmax(z), 0.0))

    p = np.exp(z) / np.sum(np.exp(z))
    value, tangent = ea.jvp(f, (z,), (np.zeros(3),))
    assert np.isfinite(value)
    assert tangent == 0
    for mode, found in every_jacobian(f, [z]).items():
        close(found, weights - p, 1e-15, mode)
        assert found[1] == 0


def naive_softplus(x):
    return np.log(1 + np.exp(x))


@pytest.mark.parametrize("softplus", [naive_softplus, lambda x: np.log1p(np.exp(x)), lambda x: -special.log_expit(-x)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_n14_softplus_far_out(softplus, dtype):
    x = np.array([-1e3, 1e3], dtype)
    np.testing.assert_array_equal(ea.jvp(softplus, (x,), (x,))[0], [0, 1000])
    for found in every_jacobian(softplus, [x]).values():
        np.testing.assert_array_equal(found, np.diag([0, 1]))
        assert found.dtype == dtype
    for found in every_second(softplus, [x]).values():
        np.testing.assert_array_equal(found, np.zeros((2, 2, 2)))


@pytest.mark.parametrize(
    "sigmoid", [lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(x) / (1 + np.exp(x)), special.expit]
)
def test_n14_sigmoid_far_out(sigmoid):
    for found in every_jacobian(sigmoid, [np.float32(-125)]).values():
        assert found == 0
        assert found.dtype == np.float32
    exactly(sigmoid, [np.float64(-1e3)], np.zeros(()))
    exactly(sigmoid, [np.float64(1e3)], np.zeros(()))
    exactly_second(sigmoid, [np.float64(-1e3)], np.zeros(()))


def test_n14_binary_cross_entropy_of_a_sigmoid():
    z, t = np.array([-1e3, 1e3, 0.3]), np.array([0.0, 1.0, 1.0])

    def f(z):
        p = 1 / (1 + np.exp(-z))
        return -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p))

    assert np.isfinite(ea.value_and_grad(f)(z)[0])
    for mode, found in every_jacobian(f, [z]).items():
        close(found, special.expit(z) - t, 1e-14, mode)
    for mode, found in every_second(f, [z]).items():
        close(found, np.diag(special.expit(z) * special.expit(-z)), 1e-14, mode)


def test_n18_angle_of_tiny_numbers():
    x, y = np.float64(5.6843e-14), np.float64(1e-13)
    square = x * x + y * y
    for mode, found in every_jacobian(np.arctan2, [y, x], 0).items():
        np.testing.assert_allclose(found, x / square, rtol=1e-14, err_msg=mode)
        np.testing.assert_allclose(found, 4.296e12, rtol=1e-3)
    for mode, found in every_jacobian(np.arctan2, [y, x], 1).items():
        np.testing.assert_allclose(found, -y / square, rtol=1e-14, err_msg=mode)
        np.testing.assert_allclose(found, -7.558e12, rtol=1e-3)


def test_n18_the_angle_has_no_derivative_at_the_origin():
    """NaN, which is what the formula gives and no number could be right; the value stays 0."""
    value, gradient = ea.value_and_grad(np.arctan2, (0, 1))(np.float64(0), np.float64(0))
    assert value == 0
    assert np.isnan(gradient[0])


@pytest.mark.parametrize("reduce", [np.max, lambda x: np.max(x, axis=0), lambda x: -np.min(-x)])
def test_n20_a_maximum_with_ties(reduce):
    x = np.array([1.0, 2.0, 2.0, 2.0])
    exactly(reduce, [x], np.array([0, 1, 1, 1]) / 3)
    exactly_second(reduce, [x], np.zeros((4, 4)))


def test_n20_weights_are_shares_of_the_places_that_attain_the_maximum():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.integers(0, 4, (3, 5)).astype(float)
        weights = ea.jacobian(lambda x: np.max(x, axis=1))(x)
        own = np.einsum("iij->ij", weights)
        assert (own >= 0).all()
        np.testing.assert_allclose(own.sum(axis=1), 1, rtol=1e-15)
        np.testing.assert_array_equal(own > 0, x == x.max(axis=1, keepdims=True))


def test_n20_ties_between_two_arguments():
    x, y = np.array([1.0, 2.0]), np.array([1.0, 1.0])
    for mode in MODES:
        by_x, by_y = ea.jacobian(np.maximum, (0, 1), mode=mode)(x, y)
        np.testing.assert_array_equal(by_x, np.diag([0.5, 1]))
        np.testing.assert_array_equal(by_y, np.diag([0.5, 0]))
        second = ea.derivative(np.maximum, (0, 1), order=2, mode=mode)(x, y)
        assert not any(np.any(block) for row in second for block in row)


@pytest.mark.parametrize("kink", [
    lambda x: np.maximum(x, 0), lambda x: np.maximum(0, x), np.abs, lambda x: np.clip(x, 0, 1),
    lambda x: np.where(x > 0, x, 0), lambda x: x * (x > 0), np.sign, lambda x: np.maximum(np.zeros(3), x),
])  # fmt: skip
def test_n20_derivative_zero_at_the_kink_whatever_the_spelling(kink):
    jacobian = ea.jacobian(kink)(np.array([0.0, -0.0, 2.0]))
    np.testing.assert_array_equal(jacobian[:2], np.zeros((2, 3)))


@pytest.mark.parametrize("round_", [np.floor, np.ceil, np.rint, np.round, np.trunc])
def test_n22_rounding(round_):
    x = np.array([0.2, -1.7, 3.0, NAN])
    exactly(round_, [x], np.zeros((4, 4)))
    np.testing.assert_array_equal(ea.compile(round_)(x), round_(x))
    value, gradient = ea.value_and_grad(lambda x: np.sum(round_(x) * x))(x)
    assert np.isnan(value)
    np.testing.assert_array_equal(gradient, round_(x))


def test_n16_running_products_with_zeros():
    exactly(lambda x: np.sum(np.cumprod(x)), [np.array([2.0, 0.0, 3.0, 4.0])], np.array([1.0, 32.0, 0.0, 0.0]))
    exactly(lambda x: np.sum(np.cumprod(x) ** 2), [np.array([1.0, 0.0])], np.array([2.0, 0.0]))
    exactly_second(
        lambda x: np.sum(np.cumprod(x)), [np.array([0.0, 0.0, 3.0])], np.array([[0.0, 4, 0], [4, 0, 0], [0, 0, 0]])
    )


@pytest.mark.parametrize("zeros", [(), (0,), (1, 2), (0, 1, 2, 3)])
@pytest.mark.parametrize("product", [np.cumprod, np.cumulative_prod, np.prod, np.multiply.accumulate])
def test_n16_products_that_divide_by_nothing(product, zeros):
    """Two and three derivatives of products are right with any number of zeros among the factors."""
    x = np.array([2.0, -1.0, 3.0, 1.0])
    x[list(zeros)] = 0
    check_whole(lambda x: np.sum(product(x)), x)


def test_n24_a_kink_between_the_slopes_of_both_sides():
    for f, x in ((np.abs, 0.0), (lambda x: np.maximum(x, 2 * x), 0.0), (lambda x: np.clip(x, 0, 1), 1.0)):
        slope = float(ea.grad(f)(x))
        sides = [(float(f(x + h)) - float(f(x))) / h for h in (-1e-6, 1e-6)]
        assert min(sides) - 1e-9 <= slope <= max(sides) + 1e-9
