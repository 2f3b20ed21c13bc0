"""Calls that are made again from what an earlier call gave: the same nodes as those of the handler."""

import threading
from contextvars import copy_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.frontend import replay
from einsumad.frontend.registry import call_function, call_ufunc
from einsumad.frontend.tensor import Tensor
from einsumad.graph import fresh_leaf
from tests.frontend.walks import forget

UNARY = [
    np.exp,
    np.negative,
    np.absolute,
    np.square,
    np.sqrt,
    np.sign,
    np.isnan,
    np.logical_not,
    np.reciprocal,
    np.floor,
]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.power, np.greater, np.logical_and, np.arctan2]
FUNCTIONS = [
    (np.sum, {}),
    (np.sum, {"axis": 0}),
    (np.mean, {"axis": -1, "keepdims": True}),
    (np.max, {}),
    (np.transpose, {}),
    (np.prod, {}),
    (np.std, {}),
    (np.cumsum, {}),
    (np.linalg.norm, {}),
    (np.diag, {}),
    (np.flip, {}),
    (np.clip, {"a_min": 0.25, "a_max": 2}),
    (np.sort, {}),
    (np.trace, {}),
    (np.reshape, {"shape": (4,)}),
]
NUMBERS = [0, 1, 2, -1, 3, 0.0, -0.0, 1.0, 0.5, 2.5, True, False]


@pytest.fixture(autouse=True)
def _no_recipes():
    forget()


def without_recipes(call):
    known = dict(replay._recipes)
    replay._recipes.clear()
    try:
        return call()
    finally:
        replay._recipes.clear()
        replay._recipes.update(known)


def tensors(shapes, dtypes):
    return [Tensor(fresh_leaf(shape, dtype)) for shape, dtype in zip(shapes, dtypes, strict=True)]


@st.composite
def calls(draw):
    """A few ufuncs and functions one after the other, each of earlier results, as a program over its inputs."""
    steps = []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.integers(0, 2))
        table = (UNARY, BINARY, FUNCTIONS)[kind]
        steps.append(
            (
                kind,
                draw(st.sampled_from(table)),
                draw(st.integers(0, 9)),
                draw(st.integers(0, 9)),
                draw(st.sampled_from([None, *NUMBERS])),
            )
        )
    return steps


def run(steps, inputs):
    values = list(inputs)
    for kind, what, first, second, number in steps:
        x, y = values[first % len(values)], values[second % len(values)]
        try:
            if kind == 0:
                values.append(Tensor(call_ufunc(what, "__call__", (x,), {})))
            elif kind == 1:
                pair = (x, y) if number is None else (x, number) if first > second else (number, x)
                values.append(Tensor(call_ufunc(what, "__call__", pair, {})))
            else:
                function, options = what
                found = call_function(function, (x,), options)
                values.append(found if isinstance(found, Tensor) else Tensor(found))
        except (TypeError, ValueError, ArithmeticError):
            values.append(values[0])
    return [value.node for value in values]


@pytest.mark.fuzz
@settings(max_examples=max(150, settings().max_examples))
@given(calls(), st.lists(st.sampled_from([(2, 2), (1, 2), (2, 1)]), min_size=3, max_size=3), st.booleans())
def test_random_programs_give_the_nodes_that_they_give_without(steps, shapes, narrow):
    dtypes = [np.float32 if narrow else np.float64, np.float64, np.float64]
    run(steps, tensors(shapes, dtypes))  # notes what it sees
    inputs = tensors(shapes, dtypes)
    again = run(steps, inputs)
    expected = without_recipes(lambda: run(steps, inputs))
    assert all(a is b for a, b in zip(again, expected, strict=True))


def test_a_loop_is_made_of_recipes():
    def f(x):
        return np.sum(np.tanh(x @ x.T) * 2.5 - x)

    gradient = ea.grad(f)
    x = np.eye(3)
    gradient(x)
    known = dict(replay._recipes)
    assert any(recipe is not None for recipe in known.values())
    gradient(x + 1)
    assert replay._recipes == known


def test_what_looks_at_values_is_not_made_again():
    """``np.repeat`` reads how often from its argument: with another value another node."""

    def f(x, times):
        return np.sum(np.repeat(x, times) ** 2)

    x = np.array([1.0, 2.0])
    for times in (1, 3, 2, 3):
        assert ea.grad(f)(x, times).tolist() == [2.0 * times, 4.0 * times]
        assert ea.grad(f)(x, np.array([times, 1])).tolist() == [2.0 * times, 4.0]


def test_numbers_are_told_apart():
    x = np.array([0.3, -0.7])
    for _ in range(2):
        for p in (0, 1, 2, 3, 0.5, 2.0, True):
            expected = p * np.abs(x) ** (p - 1.0) * np.sign(x)
            np.testing.assert_allclose(ea.grad(lambda x, p=p: np.sum(np.abs(x) ** p))(x), expected)
        for scale in (0.0, -0.0, 1, 1.0, True):  # times 0.0 is a structural zero, which has no sign
            found = ea.compile(lambda x, s=scale: x * s)(x)
            assert np.array_equal(found, x * scale)
            assert np.array_equal(np.signbit(found), np.signbit(x * scale) & (scale != 0 or np.signbit(scale)))


@pytest.mark.parametrize("exponent", [np.float64(2), np.float64(3), np.int64(2), np.array(2.0), np.array(3.0)])
def test_numbers_of_numpy_are_told_apart(exponent):
    x = np.array([0.5, 2.0])
    for _ in range(2):
        np.testing.assert_allclose(ea.grad(lambda x: np.sum(x**exponent))(x), exponent * x ** (exponent - 1))


@pytest.mark.parametrize(
    ("function", "options", "shape"),
    [
        (np.transpose, (np.array([1, 0]), np.array([0, 1])), (2, 2)),
        (lambda x, s: np.sum(x, axis=s) ** 2, (np.array(0), np.array(1)), (2, 3)),
        (np.roll, (np.array(0), np.array(1), np.array(2)), (3,)),
        (lambda x, s: np.reshape(x, s)[0], (np.array([2, 3]), np.array([3, 2])), (6,)),
        (np.tile, (np.array([2]), np.array([3])), (3,)),
        (np.power, (np.array(2), np.array(3), np.array(0.5)), (3,)),
    ],
)
def test_plain_arrays_that_are_options_are_told_apart(function, options, shape):
    """Options in arrays of equal shape and dtype; the oracle is a central difference of NumPy's own function."""
    x = np.linspace(0.5, 2, int(np.prod(shape))).reshape(shape)
    for option in options:

        def f(x, option=option):
            y = function(x, option)
            return np.sum(y * np.arange(1.0, 1 + y.size).reshape(y.shape))

        steps = 1e-6 * np.eye(x.size).reshape(-1, *shape)
        expected = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(ea.grad(f)(x).reshape(-1), expected, rtol=1e-6)


@pytest.mark.parametrize("larger", [np.maximum, np.minimum, np.fmax, np.fmin])
@pytest.mark.parametrize("first", [0, 1, (0, 1)])
def test_traced_arguments_and_constants_are_told_apart(larger, first):
    """The kink of a maximum of two variables is another than that of a variable and a constant."""

    def f(x, y):
        return np.sum(larger(x, y) ** 2)

    x, y = np.array([2.0, -1.0, 1.0]), np.array([1.0, 0.5, 1.0])
    wins = (x > y) if larger in (np.maximum, np.fmax) else (x < y)
    loses = (x < y) if larger in (np.maximum, np.fmax) else (x > y)
    expected = [2 * x * (wins + share * (x == y)) for share in (0, 0.5)]
    ea.jacobian(f, first)(x, y)
    for _ in range(2):
        np.testing.assert_array_equal(ea.grad(f)(x, y), expected[0])
        np.testing.assert_array_equal(ea.grad(f, 1)(x, y), 2 * y * loses)
        np.testing.assert_array_equal(ea.grad(f, (0, 1))(x, y)[0], expected[1])
        np.testing.assert_array_equal(ea.compile(ea.grad(f))(x, y), expected[0])
        np.testing.assert_array_equal(ea.compile(ea.grad(f, (0, 1)))(x, y)[0], expected[1])


def test_coefficients_that_a_function_reads_are_told_apart():
    def f(x, coefficients):
        return np.sum(np.polyval(coefficients, x))

    x = np.array([0.5, 2.0])
    for a, b, c in ([0.0, 1.0, 2.0], [3.0, 1.0, 2.0], [0.0, 0.0, 2.0], [1.0, 0.0, 0.0]):
        np.testing.assert_allclose(ea.grad(f)(x, np.array([a, b, c])), 2 * a * x + b)


def test_the_order_of_equal_operands_is_theirs():
    def f(x, y):
        return np.sum((x - y) ** 2 * x)

    x, y = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    for _ in range(3):
        for k, expected in enumerate([(x - y) ** 2 + 2 * x * (x - y), -2 * (x - y) * x]):
            np.testing.assert_allclose(ea.grad(f, k)(x, y), expected)
        np.testing.assert_allclose(ea.grad(lambda x: f(x, x) + f(y, x))(x), 0 - 2 * (y - x) * y)


def test_the_table_stays_small():
    for k in range(replay._MOST_RECIPES + 50):
        call_ufunc(np.multiply, "__call__", (Tensor(fresh_leaf((2,), float)), 3.0 + k), {})
    assert len(replay._recipes) <= replay._MOST_RECIPES


def test_threads():
    def f(x):
        return np.sum(np.exp(-x) * np.tanh(x) / (1 + x**2))

    x = np.linspace(0.1, 1, 5)
    expected = ea.grad(f)(x)
    results = []

    def work():
        for _ in range(20):
            forget()
            results.append(ea.grad(f)(x))

    threads = [threading.Thread(target=copy_context().run, args=(work,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert all(np.array_equal(found, expected) for found in results)


def test_arrays_that_cannot_be_traced_are_still_refused():
    x = np.ones(2)
    for bad in (np.array([1j, 2]), np.array(["a", "b"]), np.array([None, 1], dtype=object)):
        for _ in range(2):
            with pytest.raises(ea.TracingError):
                ea.grad(lambda x, bad=bad: np.sum(x * bad))(x)
