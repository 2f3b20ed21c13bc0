"""Rows B*: broadcasting, shapes and reduction axes."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from tests.reported.oracle import MODES, check, check_whole, close, exactly, exactly_second, integers, normal


@pytest.mark.parametrize(
    ("left", "right"),
    [((1,), (5, 4)), ((4, 1), (1, 4)), ((), (2,)), ((2, 1, 4, 64), (2, 1, 4, 1))],
)
def test_b1_a_stretched_operand_sums_its_gradient_back(left, right):
    a, b = integers(1, *left), integers(2, *right)

    def f(a, b):
        return np.sum(a * b)

    whole = np.broadcast_shapes(left, right)
    by_a, by_b = ea.grad(f, (0, 1))(a, b)
    for found, own, other in ((by_a, a, b), (by_b, b, a)):
        assert found.shape == own.shape
        expected = np.broadcast_to(other, whole)
        lead = len(whole) - own.ndim
        axes = tuple(k for k in range(len(whole)) if k < lead or own.shape[k - lead] != whole[k])
        np.testing.assert_array_equal(found, np.sum(expected, axis=axes).reshape(own.shape))


@pytest.mark.parametrize("operator", [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.arctan2])
@pytest.mark.parametrize(("left", "right"), [((1,), (2, 3)), ((3, 1), (1, 2)), ((), (2,)), ((2, 1, 2), (1, 2, 1))])
def test_b1_every_operator_sums_back(operator, left, right):
    check(operator, 1 + normal(3, *left) ** 2, 4 + normal(4, *right) ** 2, order=1)


def test_b1_second_derivatives_sum_back():
    check_whole(np.multiply, integers(3, 2, 1), integers(4, 1, 2))
    check(np.divide, integers(3, 2, 1), 4 + normal(4, 2) ** 2)


def test_b1_bias():
    def f(x, w, b):
        return x @ w + b

    check_whole(f, integers(5, 2, 3), integers(6, 3, 3), integers(7, 1, 3), order=1)
    x, w, b = integers(5, 2, 1), integers(6, 1, 3), integers(7, 3)
    check_whole(f, x, w, b, order=1)
    np.testing.assert_array_equal(ea.grad(lambda *a: np.sum(f(*a)), 2)(x, w, b), np.full(3, 2.0))


def test_b3_mean_over_axis_0_of_a_vector():
    x = integers(8, 4)

    def f(x):
        return np.mean(x**2, axis=0)

    exactly(f, [x], x / 2)
    exactly_second(f, [x], np.eye(4) / 2)


@pytest.mark.parametrize("axis", [(1, 2), (-1, 0), 0, -1, None, ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_b3_mean_over_axes(axis, keepdims):
    x = integers(9, 2, 3, 4)

    def f(x):
        return np.mean(x, axis=axis, keepdims=keepdims)

    gradient = ea.grad(lambda x: np.sum(f(x)))(x)
    assert gradient.shape == x.shape
    count = x.size / f(x).size
    close(gradient, np.full(x.shape, 1 / count), 1e-15, "1/k each")
    small = integers(10, 2, 1, 2)
    check(lambda x: f(x) ** 2, small)


@pytest.mark.parametrize("reduce", [np.sum, np.var, np.std, np.prod, np.max, np.min])
@pytest.mark.parametrize("axis", [0, -1, (0, -1), None])
def test_b3_other_reductions(reduce, axis):
    x = np.array([[1.5, -0.7], [2.2, 0.4], [3.1, -1.5]])
    check(lambda x: reduce(x, axis=axis), x, order=2 if axis == 0 else 1)


def test_b5_an_empty_axis_contributes_nothing():
    a, b = np.zeros((4, 0)), integers(11, 4)

    def f(a, b):
        return np.sum(a + np.expand_dims(b, 1))

    by_a, by_b = ea.grad(f, (0, 1))(a, b)
    assert by_a.shape == (4, 0)
    np.testing.assert_array_equal(by_b, np.zeros(4))
    for mode in MODES:
        hessian = ea.hessian(f, (0, 1), mode=mode)(a, b)
        assert hessian[0][0].shape == (4, 0, 4, 0)
        assert hessian[0][1].shape == (4, 0, 4)
        np.testing.assert_array_equal(hessian[1][1], np.zeros((4, 4)))


def test_b5_products_with_empty_axes():
    a, b = integers(12, 3, 4), np.zeros((4, 0))
    for mode in MODES:
        jacobian = ea.jacobian(np.matmul, (0, 1), mode=mode)(a, b)
        assert jacobian[0].shape == (3, 0, 3, 4)
        assert jacobian[1].shape == (3, 0, 4, 0)
    wide, tall = np.zeros((3, 0)), np.zeros((0, 2))
    assert ea.compile(np.matmul)(wide, tall).tolist() == np.zeros((3, 2)).tolist()
    by_wide, by_tall = ea.grad(lambda a, b: np.sum(np.exp(a @ b)), (0, 1))(wide, tall)
    assert by_wide.shape == (3, 0)
    assert by_tall.shape == (0, 2)
    assert ea.hessian(lambda x: np.sum(np.sin(x)))(np.zeros(0)).shape == (0, 0)


def test_b5_an_empty_product_is_one_and_an_empty_maximum_an_error():
    assert ea.value_and_grad(np.prod)(np.zeros(0))[0] == 1
    assert ea.grad(np.prod)(np.zeros(0)).shape == (0,)
    with pytest.raises(ValueError, match="no entries"):
        ea.grad(np.max)(np.zeros(0))


@pytest.mark.parametrize(
    "f",
    [
        lambda t: np.float64(2) * t,
        lambda t: t * np.float64(2),
        lambda t: np.array([1.0, 2.0]) * t,
        lambda t: t * np.array([1.0, 2.0]),
        lambda t: np.array([[1.0, 2.0], [3.0, 4.0]]) @ t,
        lambda t: t @ np.array([[1.0, 2.0], [3.0, 4.0]]),
        lambda t: np.array([1.0, 2.0]) - t,
        lambda t: t - np.array([1.0, 2.0]),
        lambda t: np.float64(2) - t,
        lambda t: np.array(2.0) / t,
        lambda t: t / np.array(2.0),
        lambda t: 2 / t,
        lambda t: 2.0**t,
        lambda t: np.float64(2.0) ** t,
        lambda t: t ** np.float64(2.0),
        lambda t: [1.0, 2.0] + t,  # noqa: RUF005 (a list is an array here)
    ],
)
def test_b9_numpy_on_the_left_gives_a_traced_value(f):
    met = []

    def g(t):
        result = f(t)
        met.append(result)
        return result

    check(g, np.array([1.5, 2.5]))
    traced = [result for result in met if not isinstance(result, np.ndarray)]
    assert traced
    assert all(isinstance(result, ea.Tensor) and result.dtype == np.float64 for result in traced)


def test_b9_in_place_operators_on_arrays_raise_instead_of_making_objects():
    def f(t):
        total = np.zeros(2)
        total += t
        return np.sum(total)

    with pytest.raises(ea.TracingError, match="cannot be written into a plain array"):
        ea.grad(f)(np.ones(2))

    def g(t):
        total = np.zeros(2)
        total[0] = t @ t
        return np.sum(total)

    # NumPy puts an error of its own in front of ours, which stays in the traceback as its cause
    with pytest.raises((ea.TracingError, ValueError)) as caught:
        ea.grad(g)(np.ones(2))
    ours = caught.value if isinstance(caught.value, ea.TracingError) else caught.value.__cause__
    assert isinstance(ours, ea.TracingError)
    assert "einsumad.numpy.array" in str(ours)


def spread_matrices(seed, *batch):
    return normal(seed, *batch, 3, 3) + 4 * np.eye(3)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ((4, 3, 3), (3,), (4, 3)),
        ((3, 3, 3), (3, 3), (3, 3, 3)),
        ((3, 3), (3,), (3,)),
        ((3, 3), (3, 2), (3, 2)),
        ((2, 1, 3, 3), (4, 3, 1), (2, 4, 3, 1)),
    ],
)
def test_b11_a_right_side_is_a_vector_only_if_it_has_one_axis(left, right, result):
    a, b = spread_matrices(13, *left[:-2]), normal(14, *right)
    value = ea.compile(np.linalg.solve)(a, b)
    assert value.shape == result
    close(value, np.linalg.solve(a, b), 1e-13, "value")
    weights = normal(15, *result)
    by_a, by_b = ea.grad(lambda a, b: np.sum(weights * np.linalg.solve(a, b)), (0, 1))(a, b)
    assert by_a.shape == left
    assert by_b.shape == right
    direction = normal(17, *right)
    exact = np.sum(weights * np.linalg.solve(a, direction))
    close(np.sum(by_b * direction), exact, 1e-12, "by the right side")
    check(np.linalg.solve, a, b, order=1)


def test_b11_rows_that_do_not_fit_raise():
    with pytest.raises(ea.ShapeError, match="vector only if it has one axis"):
        ea.jacobian(np.linalg.solve)(spread_matrices(18, 4), np.ones((4, 3)))


def test_b11_second_derivatives():
    check(np.linalg.solve, np.array([[3.0, 1.0], [0.5, 2.0]]), np.array([1.0, -2.0]))


@pytest.mark.parametrize("running", [np.cumsum, np.cumprod, np.cumulative_sum, np.cumulative_prod])
@pytest.mark.parametrize("shape", [(2, 0), (0, 2), (0,)])
def test_b5_running_sums_of_nothing(running, shape):
    x = np.zeros(shape)

    def f(x):
        return np.sum(running(x, axis=-1))

    exactly(f, [x], np.zeros(shape))
    exactly_second(f, [x], np.zeros((*shape, *shape)))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_b7_differences_of_a_short_vector(size):
    x = np.arange(1.0, size + 1)
    exactly(lambda x: np.sum(np.diff(x)), [x], np.diff(np.eye(size), axis=0).sum(0))
    assert ea.jacobian(np.diff)(x).shape == (size - 1, size)
    exactly_second(
        lambda x: np.sum(np.diff(x) ** 2), [x], 2 * np.diff(np.eye(size), axis=0).T @ np.diff(np.eye(size), axis=0)
    )
