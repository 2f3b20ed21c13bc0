"""``z = log(3x² + 5xy)``, gradients that add up, and the losses of the paper."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import einsumad as ea

MODES = ("forward", "reverse", "cross-country", "auto")
POINTS = [(1.0, 2.0), (0.3, 0.7), (2.5, -0.4), (-1.0, -3.0)]


def z(x, y):
    return np.log(3 * x**2 + 5 * x * y)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("point", POINTS)
def test_first_derivatives(mode, point):
    """``∂x = (6x + 5y)/(3x² + 5xy)``, ``∂y = 5x/(3x² + 5xy)``."""
    x, y = point
    by_x, by_y = ea.jacobian(z, (0, 1), mode=mode)(x, y)
    inner = 3 * x**2 + 5 * x * y
    np.testing.assert_allclose(by_x, (6 * x + 5 * y) / inner, rtol=1e-13)
    np.testing.assert_allclose(by_y, 5 * x / inner, rtol=1e-13)


X, Y = sympy.symbols("x y")
EXACT = sympy.log(3 * X**2 + 5 * X * Y)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [2, 3, 4])
def test_higher_derivatives(mode, order):
    x, y = 1.25, 0.75
    found = np.array(ea.derivative(z, (0, 1), order=order, mode=mode)(x, y), dtype=float)
    assert found.shape == (2,) * order
    for place in np.ndindex(found.shape):
        exact = sympy.diff(EXACT, *[(X, Y)[k] for k in place]).subs({X: sympy.Rational(5, 4), Y: sympy.Rational(3, 4)})
        np.testing.assert_allclose(found[place], float(exact), rtol=1e-11)


def test_derivatives_of_derivatives_by_nesting():
    x, y = 1.25, 0.75
    third = ea.grad(ea.grad(ea.grad(z), 1))(x, y)
    exact = sympy.diff(EXACT, X, Y, X).subs({X: sympy.Rational(5, 4), Y: sympy.Rational(3, 4)})
    np.testing.assert_allclose(third, float(exact), rtol=1e-12)


def test_gradients_add_up_until_they_are_set_to_zero():
    x, y = (ea.tensor(np.array(v), requires_grad=True) for v in (1.0, 2.0))
    z(x, y).backward()
    once = x.grad.copy()
    z(x, y).backward()
    np.testing.assert_allclose(x.grad, 2 * once, rtol=1e-15)
    x.grad = None
    z(x, y).backward()
    np.testing.assert_allclose(x.grad, once, rtol=1e-15)
    np.testing.assert_allclose(once, 16 / 13, rtol=1e-14)


def test_values_without_recording():
    """What is computed from the plain value depends on nothing and has no gradient."""
    x = ea.tensor(np.array([1.0, 2.0]), requires_grad=True)
    held = np.sum(x * x.numpy())
    held.backward()
    np.testing.assert_array_equal(x.grad, [1, 2])
    with pytest.raises(ea.DifferentiationError):
        ea.tensor(x.numpy() ** 2).sum().backward()


def test_losses():
    """Binary and categorical cross-entropy, mean squared error and the Huber loss, against gradients by hand."""
    rng = np.random.default_rng(0)
    logits, size = rng.normal(size=6), 6
    target = (rng.random(6) < 0.5).astype(float)
    p = 1 / (1 + np.exp(-logits))

    def binary(logits):
        p = 1 / (1 + np.exp(-logits))
        return -np.mean(target * np.log(p) + (1 - target) * np.log(1 - p))

    def negative_log_likelihood(logits):
        return -np.sum(target * (logits - np.log(np.sum(np.exp(logits)))))

    def squared(guess):
        return np.mean((guess - target) ** 2)

    def huber(guess):
        distance = np.abs(guess - target)
        return np.mean(np.where(distance <= 1, 0.5 * distance**2, distance - 0.5))

    softmax = np.exp(logits) / np.sum(np.exp(logits))
    wide = 3 * logits
    by_hand = [
        (binary, logits, (p - target) / size),
        (negative_log_likelihood, logits, np.sum(target) * softmax - target),
        (squared, logits, 2 * (logits - target) / size),
        (huber, wide, np.clip(wide - target, -1, 1) / size),
    ]
    for loss, at, expected in by_hand:
        np.testing.assert_allclose(ea.grad(loss)(at), expected, rtol=1e-13, atol=1e-16, err_msg=loss.__name__)
