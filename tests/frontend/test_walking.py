"""Traces that go the way of earlier ones: derivatives are those of the function that was called, whatever came before.

The oracle is a central difference of the function on plain arrays, or a formula.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from tests.frontend.walks import counting, differences, forget

A, B = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
X = np.array([0.3, -0.7, 1.2])
Y = np.array([[0.3, -0.7, 1.2], [0.11, 0.5, -0.4], [1.3, 0.21, -0.9]])
BUFFER, STATE = np.zeros(3), {"power": 2, "axis": 0, "scale": np.array([1.0, 2.0, 3.0])}


@pytest.fixture(autouse=True)
def _no_ways() -> None:
    forget()


def buffer_refilled(x: Any) -> Any:
    BUFFER[:] = 1.0
    y = x * BUFFER
    BUFFER[:] = 2.0
    y = y + x * x * BUFFER
    BUFFER[:] = 0.0
    return np.sum(y)


def buffer_filled_alike(x: Any) -> Any:
    BUFFER[:] = 2.0
    y = x * BUFFER
    BUFFER[:] = 2.0
    return np.sum(y * x * BUFFER)


def loop_of_captured_length(x: Any) -> Any:
    y = x
    for k in range(STATE["power"]):
        y = y * x + k
    return np.sum(y)


def captured_exponent(x: Any) -> Any:
    return np.sum(np.where(x > 0, np.abs(x) ** STATE["power"], -x))


def numbers_of_numpy(x: Any) -> Any:
    return np.sum(x * np.float64(STATE["power"])) + np.sum(x * STATE["power"]) * np.sum(x)


def captured_axis(x: Any) -> Any:
    return np.sum(np.sum(x * x, axis=STATE["axis"] if x.ndim > 1 else None) ** 2)


def captured_array_of_state(x: Any) -> Any:
    return np.sum(np.maximum(x, STATE["scale"]) * x * STATE["scale"])


def branches_on_rank(x: Any) -> Any:
    return np.sum(x @ A) if x.ndim == 2 else x @ A


def branches_on_a_value(x: Any) -> Any:
    y = x * 2.5
    return np.sum(y * y) if np.sum(y) > 0 else np.sum(y * A)


def goes_on_after_an_error(x: Any) -> Any:
    try:
        y = x @ np.ones(7)
    except ValueError:
        y = x * 2
    return np.sum(y * x)


def writes_an_entry(x: Any) -> Any:
    y = x * 1
    y[0] = x[0] * x[0]
    return np.sum(y * A)


def writes_in_place(x: Any) -> Any:
    y = x + 0
    y += x
    y *= 2
    return np.sum(y * y)


def writes_through_a_view(x: Any) -> Any:
    y = x * 1.0
    view = y.T
    view[0] = 3 * x[0]
    return np.sum(y * y * y)


def nested_of_a_traced_point(x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return np.sum(ea.grad(lambda z: np.sum(np.sin(z) * x))(x))
    return np.sum(np.cos(x) * x)


def nested_of_a_constant_point(x: Any) -> Any:
    return np.sum(x * ea.grad(lambda z: np.sum(z**3))(np.full(x.shape, 0.5)))


def larger_of_two_traced(x: Any) -> Any:
    return np.sum(np.maximum(x, x * x))


def temporaries(x: Any) -> Any:
    return sum(np.sum(x * (A + k)) for k in range(4))


def the_same_array_twice(x: Any) -> Any:
    return np.sum((x * A - np.sin(x) * A) * A)


def equal_arrays(x: Any) -> Any:
    return np.sum((x * A - np.sin(x) * B) * A)


def recursion(x: Any) -> Any:
    def deep(k: int) -> Any:
        return x if k == 0 else np.sin(deep(k - 1)) + k * 0.5

    return np.sum(deep(3))


def generator(x: Any) -> Any:
    return sum(np.sum(y) for y in (x * x * k for k in range(1, 4)))


def numbers_of_three_kinds(x: Any) -> Any:
    return np.sum(np.divide(x, 2) + np.divide(x, 2.0) + x * True + x * 1 + x**2 * -0.0)


def lists_of_tensors(x: Any) -> Any:
    return np.sum(np.stack([x, x * 2])[1] * np.concatenate([x, x])[: x.shape[0]] * x.shape[0])


def slices(x: Any) -> Any:
    return np.sum(x[1:] * x[:-1]) + np.sum(x[0] * x[-1]) + np.sum(x[..., None] ** 3)


def reductions(x: Any) -> Any:
    return np.mean(x) * np.std(x) * len(x) + np.max(x)


def einsum(x: Any) -> Any:
    return np.sum(np.einsum("...i,i->...i", x, A) * x)


FUNCTIONS = [
    *(buffer_refilled, buffer_filled_alike, loop_of_captured_length, captured_exponent, numbers_of_numpy),
    *(captured_axis, captured_array_of_state, branches_on_rank, branches_on_a_value, goes_on_after_an_error),
    *(writes_an_entry, writes_in_place, writes_through_a_view, nested_of_a_traced_point, nested_of_a_constant_point),
    *(larger_of_two_traced, temporaries, the_same_array_twice, equal_arrays, recursion, generator),
    *(numbers_of_three_kinds, lists_of_tensors, slices, reductions, einsum),
]


def _states() -> Iterator[None]:
    for power, axis, scale in itertools.product((1, 2, 3), (0, 1, None), (0.5, 0.05)):
        STATE.update(power=power, axis=axis)
        STATE["scale"][:] = scale * A  # the same array, changed between the calls
        yield


@pytest.mark.parametrize("f", FUNCTIONS)
def test_gradients_are_those_of_the_state_of_the_moment(f: Callable[..., Any]) -> None:
    gradient, both = ea.grad(f), ea.value_and_grad(f)
    for _ in itertools.chain(_states(), _states()):
        for x in (X, Y, X, X):
            expected = differences(f, x)
            np.testing.assert_allclose(gradient(x), expected, rtol=1e-6, atol=1e-6)
            value, found = both(x)
            np.testing.assert_allclose(value, f(x), rtol=1e-12)
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_gradients_are_those_of_the_function_that_is_called(seed: int) -> None:
    """Functions whose traces begin alike, in turn and in another order each time."""
    shuffled = random.Random(seed)  # noqa: S311 (an order of calls)
    states = list(range(18))
    with counting() as ends:
        for _ in range(3):
            for state in shuffled.sample(states, 3):
                next(itertools.islice(_states(), state, None))
                for f in shuffled.sample(FUNCTIONS, len(FUNCTIONS)):
                    for x in shuffled.choices([X, Y], k=3):
                        found = ea.grad(f)(x)
                        np.testing.assert_allclose(found, differences(f, x), rtol=1e-6, atol=1e-6, err_msg=f.__name__)
    assert len(ends) > 100


@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dtypes_of_numbers_are_told_apart(kind: type, dtype: type) -> None:
    x = X.astype(dtype)
    for number in (1.5, kind(1.5), 2, True, kind(1.5), 1.5):
        for _ in range(3):
            value, gradient = ea.value_and_grad(lambda x, c=number: np.sum(x * c))(x)
            assert value.dtype == np.sum(x * number).dtype
            np.testing.assert_array_equal(gradient, np.full(3, number, dtype))


def test_true_and_one_are_told_apart() -> None:
    for number in (1, True, 1.0, np.True_, np.int8(1)) * 4:
        found = ea.grad(lambda x, c=number: np.sum(((x > 0) + c) * x))(X)
        np.testing.assert_array_equal(found, (X > 0) + number)


def test_a_buffer_that_is_refilled_alike_or_not() -> None:
    buffer = np.zeros(3)

    def f(x: Any, again: float) -> Any:
        buffer[:] = 1.0
        y = np.sin(x) * buffer
        buffer[:] = again
        return np.sum(y * buffer)

    for again in (1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0, 3.0, 3.0, 1.0, np.nan, 1.0):
        np.testing.assert_allclose(ea.grad(f)(X, again), np.cos(X) * again)


def test_dtypes_of_captured_arrays_are_told_apart() -> None:
    x = X.astype(np.float32)
    for dtype in (np.float64, np.float32, np.int8, np.int64, bool, np.float64) * 4:
        c = A.astype(dtype)
        value, gradient = ea.value_and_grad(lambda x, c=c: np.sum(((x > 0) + c) * x))(x)
        assert value.dtype == np.sum(((x > 0) + c) * x).dtype
        np.testing.assert_allclose(gradient, (x > 0) + c)


def test_options_are_told_apart() -> None:
    options = [{"axis": 1}, {"ddof": 1}, {"axis": 0, "ddof": 1}, {"ddof": 0, "axis": 1}, {"axis": None}]
    options += [{"axis": (0, 1)}, {"axis": 1, "keepdims": True}]
    for option in options * 4:
        f = lambda x, o=option: np.sum(np.var(x, **o))  # noqa: E731 (one for each option)
        np.testing.assert_allclose(ea.grad(f)(Y), differences(f, Y), rtol=1e-6, atol=1e-8)


def test_lists_are_told_apart() -> None:
    nestings = [lambda x: [[x, x], [x, x]], lambda x: [[x, x, x, x]], lambda x: [[x], [x], [x], [x]], lambda x: [x, x]]
    for nest in nestings * 4:

        def f(x: Any, nest: Callable[..., Any] = nest) -> Any:
            found = np.block(nest(x))
            return np.sum(found**2 * np.arange(found.size).reshape(found.shape))

        np.testing.assert_allclose(ea.grad(f)(Y), differences(f, Y), rtol=1e-6, atol=1e-6)


def test_the_sign_of_zero_is_told_apart() -> None:
    x = np.array([2.0, -1.0])
    for zero in (0.0, -0.0, np.float64(0.0), np.float64(-0.0)) * 4:
        found = ea.grad(lambda x, z=zero: np.sum(np.arctan2(z, x) * x))(x)
        np.testing.assert_allclose(found, np.arctan2(zero, x), atol=1e-15)
        value = ea.value_and_grad(lambda x, z=zero: np.sum(np.copysign(x, z)))(x)[0]
        assert value == np.sum(np.copysign(x, zero))


def test_which_arguments_are_variables_is_told_apart() -> None:
    x, y = np.array([2.0, -1.0, 1.0]), np.array([1.0, 0.5, 1.0])

    def f(x: Any, y: Any) -> Any:
        return np.sum(np.maximum(x, y) ** 2)

    for _ in range(4):
        np.testing.assert_array_equal(ea.grad(f)(x, y), 2 * x * (x > y))
        np.testing.assert_array_equal(ea.grad(f, 1)(x, y), 2 * y * (y > x))
        first, second = ea.grad(f, (0, 1))(x, y)
        np.testing.assert_array_equal(first, 2 * x * ((x > y) + 0.5 * (x == y)))
        np.testing.assert_array_equal(second, 2 * y * ((y > x) + 0.5 * (x == y)))
        second, first = ea.grad(f, (1, 0))(x, y)
        np.testing.assert_array_equal(first, 2 * x * ((x > y) + 0.5 * (x == y)))
        np.testing.assert_array_equal(ea.grad(f)(x, x), 0 * x)
        np.testing.assert_array_equal(ea.grad(lambda x: f(x, x))(x), 2 * x)


def test_what_is_asked_is_told_apart() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3 * A)

    expected = {
        ea.grad: 3 * X**2 * A,
        ea.hessian: np.diag(6 * X * A),
        ea.hessian_diagonal: 6 * X * A,
        ea.laplacian: np.sum(6 * X * A),
        ea.jacobian: 3 * X**2 * A,
    }
    for transform in list(expected) * 4:
        np.testing.assert_allclose(transform(f)(X), expected[transform])
        np.testing.assert_allclose(ea.hvp(f)(X, A), 6 * X * A * A)
        np.testing.assert_allclose(ea.hvp(f)(X, np.array([1, 0, 2])), 6 * X * A * [1, 0, 2])
        np.testing.assert_allclose(ea.derivative(f, order=3)(X)[1, 1, 1], 12.0)
        compressed = ea.hessian(f, compressed=True)(X)
        np.testing.assert_allclose(compressed.dense(), expected[ea.hessian])
        for mode in ("forward", "reverse", "cross-country"):
            np.testing.assert_allclose(ea.hessian(f, mode=mode)(X), expected[ea.hessian])


def test_trees_are_told_apart() -> None:
    def f(tree: Any) -> Any:
        a, b = (tree["a"], tree["b"]) if isinstance(tree, dict) else tree
        return np.sum(a * a * b)

    for _ in range(4):
        for tree in ((X, A), [X, A], {"a": X, "b": A}, {"b": A, "a": X}):
            found = ea.grad(f)(tree)
            assert type(found) is type(tree)
            a, b = (found["a"], found["b"]) if isinstance(found, dict) else found
            np.testing.assert_allclose(a, 2 * X * A)
            np.testing.assert_allclose(b, X * X)
        value, gradients = ea.value_and_grad(lambda x, y: {"v": np.sum(x * y)}["v"], (0, 1))(X, A)
        assert value == np.sum(X * A)
        np.testing.assert_array_equal(gradients[1], X)
        found = ea.jacobian(lambda x: {"p": x * A, "q": [np.sum(x), x]})(X)
        np.testing.assert_array_equal(found["p"], np.diag(A))
        np.testing.assert_array_equal(found["q"][0], np.ones(3))


def test_shapes_that_are_asked_for_are_no_steps() -> None:
    def f(x: Any) -> Any:
        y = x * A
        return np.sum(np.sin(y)) * np.ndim(y) + np.size(y) * np.shape(x)[-1]

    with counting() as ends:
        for x in (X, Y, X + 1, Y + 1, X + 2, Y + 2):
            np.testing.assert_allclose(ea.grad(f)(x), np.cos(x * A) * A * x.ndim, rtol=1e-13)
    assert len(ends) == 2


def test_a_function_that_returns_what_it_was_given() -> None:
    for _ in range(4):
        np.testing.assert_array_equal(ea.jacobian(lambda x: x)(X), np.eye(3))
        np.testing.assert_array_equal(ea.jacobian(lambda x: x * 1)(X), np.eye(3))
        np.testing.assert_array_equal(ea.jacobian(lambda _: A)(X), np.zeros((3, 3)))
        np.testing.assert_array_equal(ea.jacobian(lambda x: x.T)(X), np.eye(3))
        assert ea.grad(lambda x: x)(2.0) == 1
        assert ea.grad(lambda x: x)(np.float32(2)).dtype == np.float32


def test_what_is_returned_is_told_apart() -> None:
    def f(x: Any, which: int) -> Any:
        y = np.sum(x * x)
        return (y, y * 3 * y)[which]

    for which in (0, 1, 1, 0) * 3:
        np.testing.assert_allclose(ea.grad(f)(X, which), (2 * X, 12 * X * np.sum(X * X))[which])


def test_keys_of_trees_that_are_equal_are_told_apart() -> None:
    for key in (1, True, 1.0) * 4:
        found = ea.grad(lambda tree: np.sum(next(iter(tree.values())) * A))({key: X})
        assert [type(k) for k in found] == [type(key)]
        found = ea.jacobian(lambda x, k=key: {k: np.sum(x * A)})(X)
        assert [type(k) for k in found] == [type(key)]
    for _ in range(4):
        with pytest.raises(TypeError):
            ea.hvp(lambda tree: np.sum(tree["a"] ** 2))({"a": X}, {"b": X})
        found = ea.hvp(lambda tree: np.sum(tree["a"] ** 2))({"a": X}, {"a": A})
        np.testing.assert_array_equal(found["a"], 2 * A)


def test_trees_of_results_are_told_apart() -> None:
    def f(x: Any, kind: type) -> Any:
        y, z = np.sin(x), np.sum(x * A)
        return {"y": y, "z": z} if kind is dict else kind([y, z])

    for kind in (tuple, list, dict, dict, tuple, list) * 3:
        found = ea.jacobian(f)(X, kind)
        assert type(found) is kind
        first, second = found.values() if kind is dict else found
        np.testing.assert_allclose(first, np.diag(np.cos(X)))
        np.testing.assert_allclose(second, A)


def test_gradients_of_what_is_no_scalar_are_refused_on_known_ways() -> None:
    for _ in range(4):
        np.testing.assert_allclose(ea.jacobian(np.sin)(X), np.diag(np.cos(X)))
        with pytest.raises(ea.DifferentiationError):
            ea.grad(np.sin)(X)
        with pytest.raises(ea.DifferentiationError):
            ea.jacobian(lambda x: np.sin(x) > 0)(X)


def test_directions_are_checked_on_known_ways() -> None:
    product = ea.hvp(lambda x: np.sum(x**3 * A))
    for _ in range(4):
        np.testing.assert_allclose(product(X, A), 6 * X * A * A)
    for wrong in (np.ones(1), np.ones((3, 1)), np.float64(2.0), 1.0):
        with pytest.raises(ea.ShapeError):
            product(X, wrong)
    with pytest.raises(TypeError):
        product(X, [A])
    with pytest.raises(ea.TracingError):
        product(X, A * 1j)


def test_no_argument_or_captured_array_is_given_back() -> None:
    x, c = X.copy(), A.copy()
    for _ in range(4):
        value, _ = ea.value_and_grad(lambda x: np.sum(x * c))(x)
        found = ea.grad(lambda x: np.sum(x * c))(x)
        assert not np.shares_memory(found, c)
        assert not np.shares_memory(value, x)
        found[:] = 7
    np.testing.assert_array_equal(c, A)
    np.testing.assert_array_equal(x, X)
