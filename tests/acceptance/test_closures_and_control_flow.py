"""Traced on every call: closures, Python control flow and side effects behave as in NumPy, and nothing is stale."""

from __future__ import annotations

import math

import numpy as np
import pytest

import einsumad as ea

TRANSFORMS = (ea.grad, ea.jacobian)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_captured_array_that_is_replaced(transform):
    box = {"a": np.array([1.0, 2.0])}
    derivative = transform(lambda x: np.sum(box["a"] * x))
    np.testing.assert_array_equal(derivative(np.ones(2)), [1, 2])
    box["a"] = np.array([3.0, 4.0])
    np.testing.assert_array_equal(derivative(np.ones(2)), [3, 4])
    box["a"] = np.array([5.0, 6.0, 7.0])
    np.testing.assert_array_equal(derivative(np.ones(3)), [5, 6, 7])


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_captured_array_that_is_written_to(transform):
    a = np.array([1.0, 2.0])
    derivative = transform(lambda x: np.sum(a * x))
    np.testing.assert_array_equal(derivative(np.ones(2)), [1, 2])
    a[0] = -8
    np.testing.assert_array_equal(derivative(np.ones(2)), [-8, 2])
    a *= 2
    np.testing.assert_array_equal(derivative(np.ones(2)), [-16, 4])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("kind", [float, np.float64, np.array])
def test_a_captured_number_that_changes(transform, kind):
    """Also through the numbers that rewrites look at: 0, 1, -1, 2 and 1/2."""
    box = {}
    derivative = transform(lambda x: np.sum(box["c"] * x**2))
    for value in (3.0, 0.0, 1.0, -1.0, 2.0, 0.5, 7.25, -0.0, math.inf, 3.0):
        box["c"] = kind(value)
        np.testing.assert_array_equal(derivative(np.ones(2)), [2 * value] * 2)
    box["c"] = kind(math.nan)
    assert np.isnan(derivative(np.ones(2))).all()


@pytest.mark.parametrize("kind", [int, float, np.float64])
def test_a_captured_exponent_that_changes(kind):
    box = {}
    derivative = ea.hessian(lambda x: x ** box["p"])
    for p in (2, 3, 1, 0, -1, 2, 5):
        box["p"] = kind(p)
        np.testing.assert_allclose(derivative(1.5), p * (p - 1) * 1.5 ** (p - 2), rtol=1e-14, atol=0)


def test_captured_weights_in_a_training_loop():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 3))
    w = rng.normal(size=3)
    gradient = ea.grad(lambda v: np.sum(np.tanh(x @ (w + v))))
    for _ in range(5):
        np.testing.assert_allclose(gradient(np.zeros(3)), x.T @ (1 - np.tanh(x @ w) ** 2), rtol=1e-13)
        w = w - 0.1


def absolute(x):
    if x > 0:
        return x * x
    return -3 * x


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_python_if_follows_the_value(transform):
    derivative = transform(absolute)
    assert [float(derivative(x)) for x in (2.0, -2.0, 5.0, -1.0, 0.0)] == [4, -3, 10, -3, -3]
    assert float(ea.hessian(absolute)(2.0)) == 2
    assert float(ea.hessian(absolute)(-2.0)) == 0


def test_a_while_loop_follows_the_value():
    def halve_until_small(x):
        while np.sum(x * x) > 1:
            x = x / 2
        return np.sum(x)

    derivative = ea.grad(halve_until_small)
    np.testing.assert_array_equal(derivative(np.array([0.5, 0.5])), [1, 1])
    np.testing.assert_array_equal(derivative(np.array([4.0, 4.0])), [1 / 8, 1 / 8])


def test_control_flow_on_intermediate_values_and_inside_nested_transforms():
    def f(x):
        y = np.exp(x)
        return y if y < 2 else x * x

    assert float(ea.grad(ea.grad(f))(0.0)) == 1
    assert float(ea.grad(ea.grad(f))(1.0)) == 2
    value, tangent = ea.jvp(f, (np.float64(1.0),), (np.float64(1.0),))
    assert (value, tangent) == (1, 2)


def test_control_flow_on_a_value_is_refused_by_compile():
    with pytest.raises(ea.TracingError, match=r"np\.where"):
        ea.compile(absolute)(np.float64(2))
    with pytest.raises(ea.TracingError, match=r"np\.where"):
        ea.compile(ea.grad(absolute))(np.float64(2))


def test_side_effects_happen_on_every_call():
    seen = []

    def f(x):
        seen.append(x.shape)
        return np.sum(x)

    derivative = ea.grad(f)
    for size in (2, 2, 3):
        derivative(np.ones(size))
    assert seen == [(2,), (2,), (3,)]


def test_random_numbers_are_drawn_on_every_call():
    rng = np.random.default_rng(0)
    derivative = ea.grad(lambda x: np.sum(rng.normal(size=2) * x))
    again = np.random.default_rng(0)
    for _ in range(3):
        np.testing.assert_array_equal(derivative(np.ones(2)), again.normal(size=2))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: float(np.sum(x)),
        lambda x: int(np.sum(x)),
        lambda x: np.sum(x).item(),
        lambda x: np.asarray(x) * 2,
        lambda x: math.exp(np.sum(x)),
        lambda x: np.array([1.0, np.sum(x)]),
        lambda x: np.asarray(list(x)),
    ],
)
def test_uses_that_would_lose_the_derivative_raise(use):
    with pytest.raises((ea.TracingError, ValueError)) as caught:
        ea.grad(use)(np.ones(2))
    ours = caught.value if isinstance(caught.value, ea.TracingError) else caught.value.__cause__
    assert isinstance(ours, ea.TracingError)
    assert "use" in str(ours)


@pytest.mark.parametrize("array", [np.ma.masked_array([1.0, 2.0], [True, False]), np.asmatrix(np.ones((2, 2)))])
def test_arrays_with_rules_of_their_own_are_refused_and_not_taken_for_plain_ones(array):
    plain = np.asarray(array)
    for transform in (ea.grad, ea.hessian, ea.compile):
        with pytest.raises(ea.TracingError, match=r"subclass .*np\.asarray"):
            transform(lambda x: np.sum(x * x))(array)
    with pytest.raises(ea.TracingError, match="subclass"):
        ea.grad(lambda x: np.sum(x * array))(plain)


def test_eager_tensors_of_such_arrays_are_refused_too():
    with pytest.raises(ea.TracingError, match="subclass"):
        ea.tensor(np.ma.masked_array([1.0, 2.0], [True, False]), requires_grad=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_every_floating_dtype_is_kept_to_second_order(dtype):
    x = np.array([0.5, 1.0, -0.25], dtype)

    def f(x):
        return np.sum(np.exp(x) * x) + 3 * np.sum(np.where(x > 0, x, -x)) + np.std(x)

    value, gradient, hessian = ea.value_grad_and_hessian(f)(x)
    assert value.dtype == gradient.dtype == hessian.dtype == dtype
    exact = ea.value_grad_and_hessian(f)(x.astype(np.float64))
    for found, expected in zip((value, gradient, hessian), exact, strict=True):
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=20 * max(np.finfo(dtype).eps, 1e-16))
