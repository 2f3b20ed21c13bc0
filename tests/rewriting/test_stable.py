"""Stabilising rewrites: right far outside the range in which the expression as written overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import (
    Elementwise,
    Leaf,
    Node,
    add,
    einsum,
    leaf,
    multiply,
    negate,
    ones,
    scale,
    sum_axes,
    topological,
    total,
)
from einsumad.rewriting import normalise
from tests.calculus.oracle import MODES, tower

FAR = np.array([-1000.0, -40.0, -1.0, 0.0, 1.0, 40.0, 1000.0])


def variable(name: str, *shape: int, dtype: Any = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


def normal(node: Node) -> Node:
    return normalise([node])[0]


z = variable("z", 7)
ONE = ones((7,), float)


def exp(node: Node) -> Node:
    return apply("exp", node)


def inverse(node: Node) -> Node:
    return apply("reciprocal", node)


LOGISTIC: dict[str, tuple[Node, Callable[[Any], Any]]] = {
    "log(1 + exp z)": (apply("log", total(ONE, exp(z))), lambda v: mp.log(1 + mp.exp(v))),
    "log(exp z + 1)": (apply("log", add([exp(z), ONE])), lambda v: mp.log(1 + mp.exp(v))),
    "log(1 + exp(-z))": (apply("log", total(ONE, exp(negate(z)))), lambda v: mp.log(1 + mp.exp(-v))),
    "log1p(exp z)": (apply("log1p", exp(z)), lambda v: mp.log(1 + mp.exp(v))),
    "1/(1 + exp z)": (inverse(total(ONE, exp(z))), lambda v: 1 / (1 + mp.exp(v))),
    "1/(1 + exp(-z))": (inverse(total(ONE, exp(negate(z)))), lambda v: 1 / (1 + mp.exp(-v))),
    "exp z/(1 + exp z)": (multiply(exp(z), inverse(total(ONE, exp(z)))), lambda v: 1 / (1 + mp.exp(-v))),
    "1 - sigmoid z": (total(ONE, negate(apply("sigmoid", z))), lambda v: 1 / (1 + mp.exp(v))),
    "log sigmoid z": (apply("log", apply("sigmoid", z)), lambda v: -mp.log(1 + mp.exp(-v))),
    "log(1/(1 + exp z))": (apply("log", inverse(total(ONE, exp(z)))), lambda v: -mp.log(1 + mp.exp(v))),
    "log exp z": (apply("log", exp(z)), lambda v: v),
    "2 log(1 + exp(3 z))": (
        scale(2, apply("log", total(ONE, exp(scale(3, z))))),
        lambda v: 2 * mp.log(1 + mp.exp(3 * v)),
    ),
}


def derivative(function: Callable[[Any], Any], at: float, order: int) -> float:
    """By differences in 900 digits, where nothing overflows and nothing cancels."""
    with mp.workdps(900):
        return float(mp.diff(function, mp.mpf(at), order, h=mp.mpf(10) ** -60) if order else function(mp.mpf(at)))


@pytest.mark.parametrize("name", LOGISTIC)
def test_logistic_forms_to_second_order(name: str) -> None:
    written, oracle = LOGISTIC[name]
    levels = tower(normal(written), [z], "reverse", 2)
    for order, level in enumerate(levels):
        (value,) = evaluate(list(level.values()), {z: FAR})
        for _ in range(order):
            value = np.einsum("...ii->...i", value) if value.ndim > 1 else value
        expected = [derivative(oracle, at, order) for at in FAR]
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("mode", MODES)
def test_the_hessian_of_the_naive_logistic_loss_is_finite(mode: Any) -> None:
    X, labels, w = variable("X", 5, 2), variable("labels", 5), variable("w", 2)
    margin = einsum([labels, X, w], [(0,), (0, 1), (1,)], (0,), -1)
    loss = sum_axes(apply("log", add([exp(margin), ones((5,), float)])), [0])
    values = {
        X: np.array([[1000.0, 0], [-1000, 1], [1, 1], [0.5, -1], [0, 1000]]),
        labels: np.array([1.0, -1, 1, -1, -1]),
        w: np.array([1.0, 1.0]),
    }
    _, first, second = tower(normal(loss), [w], mode, 2)
    gradient, hessian = evaluate([*first.values(), *second.values()], values)
    m = -values[labels] * (values[X] @ values[w])
    p = 1 / (1 + np.exp(-np.clip(m, -700, 700)))
    np.testing.assert_allclose(gradient, -(values[labels] * p) @ values[X], rtol=1e-12)
    np.testing.assert_allclose(hessian, values[X].T @ np.diag(p * (1 - p)) @ values[X], rtol=1e-9, atol=1e-9)


A = variable("A", 3, 4)
ROWS = np.array([[1000.0, 0, 1, 2], [-1000, -1001, -1002, -1003], [0, 0, 0, 0]])


def softmax(axis: int) -> Node:
    sums = sum_axes(exp(A), [axis])
    kept = (1 - axis,)
    return einsum([exp(A), inverse(sums)], [(0, 1), kept], (0, 1))


@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_and_its_logarithm(axis: int) -> None:
    shifted = ROWS - ROWS.max(axis=axis, keepdims=True)
    expected = np.exp(shifted) / np.exp(shifted).sum(axis=axis, keepdims=True)
    logarithm = shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    first, second = evaluate(normalise([softmax(axis), apply("log", softmax(axis))]), {A: ROWS})
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    np.testing.assert_allclose(second, logarithm, rtol=1e-12)


@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_logarithm_of_a_sum_of_exponentials(axes: list[int]) -> None:
    found = normal(apply("log", sum_axes(exp(A), axes)))
    top = ROWS.max(axis=tuple(axes))
    spread = ROWS - ROWS.max(axis=tuple(axes), keepdims=True)
    np.testing.assert_allclose(
        evaluate([found], {A: ROWS})[0], top + np.log(np.exp(spread).sum(axis=tuple(axes))), rtol=1e-12
    )


def test_the_derivatives_of_logsumexp_are_softmax_and_finite() -> None:
    root = normal(apply("log", sum_axes(exp(A), [1])))
    _, first, second = tower(root, [A], "reverse", 2)
    values = evaluate([*first.values(), *second.values()], {A: ROWS})
    assert all(np.isfinite(value).all() for value in values)
    shifted = np.exp(ROWS - ROWS.max(axis=1, keepdims=True))
    expected = shifted / shifted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.einsum("iij->ij", values[0]), expected, rtol=1e-12)


def test_single_precision_stays_and_is_stable() -> None:
    narrow = variable("n", 3, dtype=np.float32)
    root = normal(apply("log", total(ones((3,), np.float32), exp(narrow))))
    assert root.dtype == np.float32
    (value,) = evaluate([root], {narrow: np.array([-200, 0, 200])})
    np.testing.assert_allclose(value, [0, np.log(2), 200], rtol=1e-6)


def test_nan_and_infinity_come_through() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 0, 0, 0, 0])
    for written, expected in [
        (LOGISTIC["log(1 + exp z)"][0], [np.nan, np.inf, 0]),
        (LOGISTIC["exp z/(1 + exp z)"][0], [np.nan, 1, 0]),
        (LOGISTIC["1 - sigmoid z"][0], [np.nan, 0, 1]),
        (LOGISTIC["log exp z"][0], [np.nan, np.inf, -np.inf]),
    ]:
        np.testing.assert_array_equal(evaluate([normal(written)], {z: odd})[0][:3], expected)


def test_the_logarithm_of_a_determinant() -> None:
    M = variable("M", 300, 300)
    root = normal(apply("log", call("determinant", M)))
    value = 1e-3 * np.eye(300)
    np.testing.assert_allclose(evaluate([root], {M: value})[0], 300 * np.log(1e-3))
    value[0, 0] = -1
    assert np.isnan(evaluate([root], {M: value})[0])


def test_squared_norms_are_exact_to_every_order() -> None:
    """``sqrt(Σ x x) ** 2`` is the sum of squares: derivatives at the origin exist."""
    x = variable("x", 3)
    norm = apply("norm_root", einsum([x, x], [(0,), (0,)], ()))
    root = normal(multiply(norm, norm))
    assert not any(isinstance(node, Elementwise) for node in topological([root]))
    second = tower(root, [x], "reverse", 2)[2]
    np.testing.assert_array_equal(evaluate(list(second.values()), {x: np.zeros(3)})[0], 2 * np.eye(3))


@pytest.mark.parametrize(("exponent", "second"), [(2, 2.0), (3, 0.0), (4, 0.0)])
def test_squares_of_absolute_values_are_exact_at_the_kink(exponent: int, second: float) -> None:
    """``|x|**2`` and ``|x|**4`` are powers of x, and the odd power keeps one absolute value."""
    x = variable("x", 3)
    root = normal(apply("power", apply("abs", x), params=(exponent,)))
    assert sum(isinstance(node, Elementwise) for node in topological([root])) == exponent % 2
    values = {x: np.array([-2.0, 0.0, 3.0])}
    np.testing.assert_array_equal(evaluate([root], values)[0], np.abs(values[x]) ** exponent)
    tensor = evaluate(list(tower(root, [x], "reverse", 2)[2].values()), values)[0]
    np.testing.assert_array_equal(tensor[1], np.diag([0.0, second, 0.0]))


@pytest.mark.parametrize("mode", MODES)
def test_a_hyperbolic_secant_far_out(mode: Any) -> None:
    """``sinh z / cosh z`` is tanh z, not infinite times zero: the derivatives are those of mpmath."""
    (x,) = symbols = [variable("x", 2)]
    node = sum_axes(apply("reciprocal", apply("cosh", x)), [0])
    point = np.array([300.0, -0.5])
    for order, tensors in enumerate(tower(node, symbols, mode, 3)):
        (found,) = evaluate(tuple(tensors.values()), {x: point})
        for k, place in enumerate(point if order else ()):
            np.testing.assert_allclose(found[(k,) * order], float(mp.diff(mp.sech, place, order)), rtol=1e-12)
