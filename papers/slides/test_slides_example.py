"""``y = x1·x2 + sin(x1)`` at (2, 3), accumulation, outputs with axes, and layers without a backward pass."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea

MODES = ("forward", "reverse", "cross-country", "auto")
RNG = np.random.default_rng(0)


def f(x1, x2):
    return x1 * x2 + np.sin(x1)


@pytest.mark.parametrize("mode", MODES)
def test_value_and_derivatives(mode):
    value, gradient = ea.value_and_grad(f, (0, 1))(2.0, 3.0)
    np.testing.assert_allclose(value, 6.9, atol=0.01)
    np.testing.assert_allclose(value, 6 + np.sin(2), rtol=1e-15)
    np.testing.assert_allclose(gradient, [2.58, 2], atol=5e-3)
    by_x1, by_x2 = ea.jacobian(f, (0, 1), mode=mode)(2.0, 3.0)
    np.testing.assert_allclose([by_x1, by_x2], [3 + np.cos(2), 2], rtol=1e-15)


def test_adjoints_add_up_where_a_variable_is_used_twice():
    x1, x2 = ea.tensor(np.array(2.0), requires_grad=True), ea.tensor(np.array(3.0), requires_grad=True)
    f(x1, x2).backward()
    np.testing.assert_allclose(x1.grad, 3 + np.cos(2), rtol=1e-15)
    assert x2.grad == 2
    assert ea.grad(lambda x: x * x + x)(5.0) == 11


@pytest.mark.parametrize("mode", MODES)
def test_outputs_with_axes(mode):
    x = RNG.normal(size=3)

    def g(x):
        return np.outer(x, np.sin(x))

    expected = np.einsum("ik,j->ijk", np.eye(3), np.sin(x)) + np.einsum("i,jk->ijk", x, np.diag(np.cos(x)))
    np.testing.assert_allclose(ea.jacobian(g, mode=mode)(x), expected, rtol=1e-14)
    cotangent = RNG.normal(size=(3, 3))
    pulled = ea.vjp(g, x)[1](cotangent)
    np.testing.assert_allclose(pulled, np.einsum("ij,ijk->k", cotangent, expected), rtol=1e-13)


class Dense:
    """``x W + b``: no backward pass, the operations have theirs."""

    def __call__(self, parameters, x):
        return x @ parameters["W"] + parameters["b"]


class Gate:
    """``x Wx + h Wh + b``."""

    def __call__(self, parameters, x, h):
        return x @ parameters["Wx"] + h @ parameters["Wh"] + parameters["b"]


def test_dense_layer():
    x, delta = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
    parameters = {"W": RNG.normal(size=(3, 2)), "b": RNG.normal(size=2)}
    layer = Dense()
    gradient = ea.grad(lambda p: np.sum(delta * layer(p, x)))(parameters)
    np.testing.assert_allclose(gradient["W"], x.T @ delta, rtol=1e-13)
    np.testing.assert_allclose(gradient["b"], delta.sum(axis=0), rtol=1e-13)


def test_recurrent_gate_over_time():
    """Back-propagation through time, by hand and by the library."""
    steps, xs = 4, RNG.normal(size=(4, 5, 3))
    parameters = {"Wx": RNG.normal(size=(3, 2)), "Wh": RNG.normal(size=(2, 2)), "b": RNG.normal(size=2)}
    gate = Gate()

    def loss(p):
        h = np.zeros((5, 2))
        for x in xs:
            h = np.tanh(gate(p, x, h))
        return np.sum(h**2)

    states = [np.zeros((5, 2))]
    for x in xs:
        states.append(np.tanh(gate(parameters, x, states[-1])))
    expected = {name: np.zeros_like(value) for name, value in parameters.items()}
    h_bar = 2 * states[-1]
    for k in reversed(range(steps)):
        z_bar = h_bar * (1 - states[k + 1] ** 2)
        expected["Wx"] += xs[k].T @ z_bar
        expected["Wh"] += states[k].T @ z_bar
        expected["b"] += z_bar.sum(axis=0)
        h_bar = z_bar @ parameters["Wh"].T
    gradient = ea.grad(loss)(parameters)
    for name, value in expected.items():
        np.testing.assert_allclose(gradient[name], value, rtol=1e-11, atol=1e-13, err_msg=name)
