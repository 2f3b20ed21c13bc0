"""The worked example, gradients by name, and a training loop written by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import einsumad as ea
from einsumad.testing import check_user_gradient

A = np.array([[1.0, 1, 1], [2, 2, 2]])
B = np.array([[1.0, 2, 3]])

# the figures as printed, with three digits
BY_A = [[2.718, 14.778, 60.257], [7.389, 109.196, 1210.286]]
BY_B = [[17.496, 116.585, 826.943]]


def energy(leaves):
    """``E = sum(exp(A ⊙ B))``, B broadcast along the rows."""
    return np.sum(np.exp(leaves["A"] * leaves["B"]))


def test_printed_gradients():
    gradient = ea.grad(energy)({"A": A, "B": B})
    assert set(gradient) == {"A", "B"}
    np.testing.assert_allclose(gradient["A"], BY_A, atol=5e-4)
    np.testing.assert_allclose(gradient["B"], BY_B, atol=5e-4)


def test_gradients_by_hand():
    gradient = ea.grad(energy)({"A": A, "B": B})
    exponential = np.exp(A * B)
    np.testing.assert_allclose(gradient["A"], exponential * B, rtol=1e-15)
    np.testing.assert_allclose(gradient["B"], np.sum(exponential * A, axis=0, keepdims=True), rtol=1e-15)


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country", "auto"])
def test_every_mode(mode):
    by_a, by_b = ea.jacobian(lambda a, b: energy({"A": a, "B": b}), (0, 1), mode=mode)(A, B)
    np.testing.assert_allclose(by_a, BY_A, atol=5e-4)
    np.testing.assert_allclose(by_b, BY_B, atol=5e-4)


def test_named_symbols():
    a, b = ea.variable("A", A.shape), ea.variable("B", B.shape)
    expression = np.sum(np.exp(a * b))
    found = ea.evaluate({s: ea.diff(expression, v) for s, v in (("A", a), ("B", b))}, {a: A, b: B})
    np.testing.assert_allclose(found["A"], BY_A, atol=5e-4)
    np.testing.assert_allclose(found["B"], BY_B, atol=5e-4)


def test_eager_style():
    leaves = {name: ea.tensor(value, requires_grad=True, name=name) for name, value in (("A", A), ("B", B))}
    energy(leaves).backward()
    np.testing.assert_allclose(leaves["A"].grad, BY_A, atol=5e-4)
    np.testing.assert_allclose(leaves["B"].grad, BY_B, atol=5e-4)
    leaves["A"].grad = np.zeros_like(A)
    assert not leaves["A"].grad.any()


def test_a_training_loop_by_hand():
    """Linear regression by gradient descent on parameters in a dictionary; the loss history falls to the optimum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 2))
    y = x @ np.array([1.5, -2.0]) + 0.5
    parameters = {"W": np.zeros(2), "b": np.zeros(())}

    def loss(parameters):
        return np.mean((x @ parameters["W"] + parameters["b"] - y) ** 2)

    history = []
    for _ in range(200):
        value, gradient = ea.value_and_grad(loss)(parameters)
        history.append(float(value))
        parameters = {name: parameters[name] - 0.1 * gradient[name] for name in parameters}
    assert history[-1] < 1e-10
    assert all(later <= earlier for earlier, later in pairwise(history[:50]))
    np.testing.assert_allclose(parameters["W"], [1.5, -2.0], atol=1e-5)


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu"])
def test_gradients_vanish_through_ten_layers(activation):
    """The exercise: the sum of ``|∂loss/∂W⁽ˡ⁾|`` for each of ten layers, small for the first under the logistic."""
    functions = {
        "logistic": lambda z: 1 / (1 + np.exp(-z)),
        "tanh": np.tanh,
        "relu": lambda z: np.maximum(z, 0),
    }
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=(8, 8)) / np.sqrt(8) for _ in range(10)]
    x = rng.normal(size=(16, 8))

    def loss(weights):
        a = x
        for w in weights:
            a = functions[activation](a @ w)
        return np.mean(a**2)

    gradient = ea.grad(loss)(weights)
    assert [g.shape for g in gradient] == [(8, 8)] * 10
    sizes = [np.sum(np.abs(g)) for g in gradient]
    check_user_gradient(loss, ea.grad(loss), weights).raise_if_wrong(undecided=True)
    if activation == "logistic":
        assert sizes[0] < 1e-3 * sizes[-1]
