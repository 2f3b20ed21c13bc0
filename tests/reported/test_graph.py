"""Rows G*: sharing, dtypes, mutation, unused inputs, cost of building."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import einsumad as ea
from tests.effort import calls
from tests.reported.oracle import (
    MODES,
    check,
    close,
    every_jacobian,
    exactly,
    exactly_second,
    integers,
    normal,
)


def test_g1_a_value_used_twice_accumulates():
    def f(x):
        y = 3 * x
        return 2 * y + 5 * y

    exactly(f, [np.float64(2)], np.float64(21) * np.ones(()))
    x = ea.tensor(np.array(2.0), requires_grad=True)
    f(x).backward()
    assert x.grad == 21


def test_g1_reused_products():
    def f(x, a):
        return x * (x * a) + x * (x * a) + (x * x) * a

    exactly(f, [np.float64(1), np.float64(1)], np.full((), 6.0))
    exactly_second(f, [np.float64(1), np.float64(1)], np.full((), 6.0))
    x, a = ea.tensor(np.array(1.0), requires_grad=True), ea.tensor(np.array(1.0))
    f(x, a).backward()
    assert x.grad == 6


def test_g3_second_derivative_of_a_linear_function():
    exactly_second(lambda x: 2 * x, [np.float64(3)], np.zeros(()))
    exactly_second(lambda x: np.array([[1.0, 2.0], [3.0, 4.0]]) @ x, [integers(1, 2)], np.zeros((2, 2, 2)))


@pytest.mark.parametrize("constant", [lambda _: 7.0, lambda _: np.float64(7), lambda x: 7.0 + 0 * np.sum(x)])
def test_g3_derivatives_of_a_constant(constant):
    x = integers(2, 3)
    np.testing.assert_array_equal(ea.grad(constant)(x), np.zeros(3))
    np.testing.assert_array_equal(ea.hessian(constant)(x), np.zeros((3, 3)))
    np.testing.assert_array_equal(ea.derivative(constant, order=3)(x), np.zeros((3, 3, 3)))
    np.testing.assert_array_equal(ea.hvp(constant)(x, x), np.zeros(3))
    assert ea.laplacian(constant)(x) == 0


def coulomb(charges, distance=lambda d: d):
    diagonal = np.eye(len(charges), dtype=bool)

    def energy(x):
        difference = np.expand_dims(x, 1) - np.expand_dims(x, 0)
        squared = np.sum(difference**2, axis=-1)
        inverse = np.where(diagonal, 0.0, 1 / np.sqrt(distance(squared)))
        return 0.5 * np.sum(np.outer(charges, charges) * inverse)

    return energy


@pytest.mark.parametrize("dimensions", [1, 2])
def test_g5_pairwise_energy_with_masked_diagonal(dimensions):
    """The diagonal is 1/0 before it is masked: no mode may let it through."""
    charges = np.array([1.0, -2.0, 0.5])
    x = 2 * np.arange(3.0)[:, None] + 0.3 * normal(3, 3, dimensions)
    energy = coulomb(charges)
    with np.errstate(divide="ignore"):
        check(energy, x)
        found = every_jacobian(energy, [x])
    difference = x[:, None] - x[None]
    cubed = np.sum(difference**2, -1) ** 1.5 + np.eye(3)
    force = -np.einsum("i,j,ijd,ij->id", charges, charges, difference, (1 - np.eye(3)) / cubed)
    for mode, gradient in found.items():
        close(gradient, force, 1e-14, mode)


def test_g7_writing_to_an_input_after_it_was_recorded():
    array = np.array(3.0)
    x = ea.tensor(array, requires_grad=True)
    loss = x**2
    array[...] = 5
    loss.backward()
    assert x.grad == 6

    array = np.array([3.0])
    _, pullback = ea.vjp(lambda x: x**2, array)
    array[...] = 5
    assert pullback(np.array([1.0])) == 6


def test_g7_writing_to_a_captured_array_after_it_was_recorded():
    factor = np.array([2.0, 3.0])
    _, pullback = ea.vjp(lambda x: factor * x, np.ones(2))
    factor[...] = -1
    np.testing.assert_array_equal(pullback(np.ones(2)), [2, 3])


def test_g7_the_function_writes_to_a_captured_array_while_it_is_traced():
    buffer = np.array([1.0, 2.0])

    def f(x):
        first = np.sum(buffer * x)
        buffer[...] = 10
        return first + np.sum(buffer * x)

    np.testing.assert_array_equal(ea.grad(f)(np.ones(2)), [11, 12])


def test_g9_a_failing_call_changes_nothing():
    x, y = integers(4, 3), integers(5, 4)
    kept_x, kept_y = x.copy(), y.copy()

    def f(x, y):
        return np.sum(np.exp(x)) + np.sum(x + y)

    for transform in (ea.grad, ea.hessian, ea.jacobian, ea.value_and_grad):
        with pytest.raises(ea.ShapeError):
            transform(f)(x, y)
    np.testing.assert_array_equal(x, kept_x)
    np.testing.assert_array_equal(y, kept_y)


def test_g9_a_failing_backward_leaves_gradients_as_they_were():
    x = ea.tensor(np.array([1.0, 2.0]), requires_grad=True)
    np.sum(x * x).backward()
    before = x.grad.copy()
    with pytest.raises(ea.DifferentiationError, match="scalar"):
        (x * x).backward()
    singular = ea.tensor(np.zeros((2, 2)), requires_grad=True)
    with pytest.raises(np.linalg.LinAlgError):
        (np.sum(x * x) + np.sum(np.linalg.inv(singular))).backward()
    np.testing.assert_array_equal(x.grad, before)
    assert singular.grad is None


@pytest.mark.parametrize("value", [3, np.int64(3), np.array(3), np.array([1, 2]), np.uint8(3), True, np.array([True])])
def test_g11_integers_and_booleans_are_refused_by_name(value):
    def f(base):
        return np.sum(base**2)

    for transform in (ea.grad, ea.jacobian, ea.hessian, ea.hvp):
        arguments = (value, value) if transform is ea.hvp else (value,)
        with pytest.raises(TypeError, match="base"):
            transform(f)(*arguments)
    with pytest.raises(TypeError, match="base"):
        ea.vjp(f, value)


def test_g11_integers_beside_the_differentiated_argument_are_fine():
    def f(x, p):
        return np.sum(x**p)

    np.testing.assert_array_equal(ea.grad(f)(np.array([2.0, 3.0]), 3), [12, 27])
    np.testing.assert_array_equal(ea.grad(f)(np.array([2.0, 3.0]), np.array([1, 2])), [1, 6])


def test_g11_the_name_of_an_entry_of_a_tree():
    with pytest.raises(TypeError, match=r"parameters\['W'\]"):
        ea.grad(lambda parameters: np.sum(parameters["W"] * 1.0))({"W": np.array([1, 2]), "b": np.ones(2)})


def recurrence(steps):
    def f(x):
        y = x
        for _ in range(steps):
            y = y + 0.01 * np.sin(y) * x
        return np.sum(y)

    return f


def of_numbers(steps):
    """Of numbers, so that what each step multiplies and adds can be factored anew, and the next one after it."""

    def f(x):
        y = x
        for _ in range(steps):
            y = 0.5 * np.sin(y) + 0.3 * y + 0.1
        return y

    return f


def test_g15_cost_of_second_derivatives_of_a_recurrence_of_numbers():
    x = np.array(0.3)
    ea.hessian(of_numbers(5))(x)
    short, long = (calls(partial(ea.hessian(of_numbers(steps)), x)) for steps in (40, 160))
    assert long < 6 * short


@pytest.mark.parametrize(("short", "long"), [(8, 32), (60, 240)])
@pytest.mark.parametrize("transform", [ea.grad, ea.hessian])
def test_g15_cost_of_building_grows_with_the_number_of_nodes(transform, short, long):
    """Four times as many steps take about four times the calls; quadratic growth would take sixteen times.

    Short ones are searched for the best order of elimination, long ones are not.
    """
    x = 0.1 * np.arange(1.0, 4.0)
    transform(recurrence(5))(x)
    before = calls(partial(transform(recurrence(short)), x))
    after = calls(partial(transform(recurrence(long)), x))
    assert after < 9 * before


def test_g15_value_of_the_recurrence_and_its_derivatives():
    check(recurrence(12), 0.3 * np.arange(1.0, 3.0))


def chained_rosenbrock(w):
    """``sum_i ((n - sum cos w) + i (1 - cos w_i) - sin w_i)**2``."""
    n = w.shape[0]
    i = np.arange(1.0, n + 1)
    return np.sum(((n - np.sum(np.cos(w))) + i * (1 - np.cos(w)) - np.sin(w)) ** 2)


def test_g17_hessian_in_quadratic_memory():
    n = 500
    w = 0.3 * normal(6, n)
    explained = ea.explain(ea.hessian(chained_rosenbrock), w)
    assert explained.plan.peak_bytes < 8 * 8 * n**2
    hessian = ea.hessian(chained_rosenbrock)(w)
    assert hessian.shape == (n, n)
    i = np.arange(1.0, n + 1)
    s, c = np.sin(w), np.cos(w)
    residual = (n - np.sum(c)) + i * (1 - c) - s
    slope = i * s - c
    by_hand = 2 * (n * np.outer(s, s) + np.outer(slope, s) + np.outer(s, slope))
    by_hand += np.diag(2 * slope**2 + 2 * residual * (i * c + s) + 2 * np.sum(residual) * c)
    close(hessian, by_hand, 1e-12, "by hand")


def test_g17_all_modes_of_a_small_one():
    check(chained_rosenbrock, 0.3 * normal(7, 3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(), (2,), (3, 2), (0,)])
def test_g19_an_unused_input_has_a_structural_zero(dtype, shape):
    x, z = np.ones(3, dtype), np.ones(shape, dtype)

    def f(x, _):
        return np.sum(np.exp(x))

    gradient = ea.grad(f, 1)(x, z)
    assert np.shape(gradient) == shape
    assert gradient.dtype == dtype
    assert not np.any(gradient)
    for mode in MODES:
        mixed = ea.hessian(f, (0, 1), mode=mode)(x, z)
        assert mixed[0][1].shape == (3, *shape)
        assert mixed[1][1].shape == shape + shape
        assert mixed[1][1].dtype == dtype
        assert not mixed[1][1].any()
    assert not np.any(ea.vjp(f, x, z)[1](dtype(1))[1])
