"""``y = a² + 3ab + b²`` at (2, 3), and gradients of basic operations."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea

MODES = ("forward", "reverse", "cross-country", "auto")


def y(a, b):
    return a**2 + 3 * a * b + b**2


@pytest.mark.parametrize("mode", MODES)
def test_gradient(mode):
    """(13, 12), where the document prints 7 and 10: see ERRATA.md."""
    assert ea.jacobian(y, (0, 1), mode=mode)(2.0, 3.0) == (13, 12)
    assert ea.hessian(y, (0, 1), mode=mode)(2.0, 3.0) == ((2, 3), (3, 2))


def test_gradient_by_exact_differences():
    """A central difference of a quadratic polynomial is exact."""
    assert (y(3, 3) - y(1, 3)) / 2 == 13
    assert (y(2, 4) - y(2, 2)) / 2 == 12


def test_eager_gradient():
    a, b = ea.tensor(np.array(2.0), requires_grad=True), ea.tensor(np.array(3.0), requires_grad=True)
    y(a, b).backward()
    assert (a.grad, b.grad) == (13, 12)


A, B = np.array([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]]), np.array([[2.0, 1.0, -1.5], [0.5, 4.0, 2.5]])
G = np.array([[1.0, 2.0, -1.0], [0.5, -3.0, 2.0]])


@pytest.mark.parametrize(
    ("operation", "by_a", "by_b"),
    [
        (np.add, G, G),
        (np.subtract, G, -G),
        (np.multiply, G * B, G * A),
        (np.divide, G / B, -G * A / B**2),
        (lambda a, b: a @ b.T, None, None),
        (lambda a, b: np.exp(a) * b, G * np.exp(A) * B, G * np.exp(A)),
        (np.maximum, G * (A > B), G * (A < B)),
    ],
    ids=["+", "-", "*", "/", "@", "exp", "maximum"],
)
def test_basic_operations(operation, by_a, by_b):
    g = G
    if by_a is None:
        g = np.array([[1.0, -2.0], [0.5, 3.0]])
        by_a, by_b = g @ B, g.T @ A
    pulled = ea.vjp(operation, A, B)[1](g)
    np.testing.assert_allclose(pulled[0], by_a, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(pulled[1], by_b, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (np.sum, np.ones_like(A)),
        (np.mean, np.full_like(A, 1 / 6)),
        (lambda a: np.sum(a.T * G.T), G),
        (lambda a: np.sum(np.expand_dims(a, 0)), np.ones_like(A)),
        (np.max, A == 3.0),
        (lambda a: np.sum(np.tanh(a)), 1 - np.tanh(A) ** 2),
        (lambda a: np.sum(np.abs(a)), np.sign(A)),
        (lambda a: np.sum(a**2) + np.sum(np.abs(a)), 2 * A + np.sign(A)),
    ],
    ids=["sum", "mean", "transpose", "new axis", "max", "tanh", "L1", "L1 and L2"],
)
def test_common_operations(operation, expected):
    np.testing.assert_allclose(ea.grad(operation)(A), expected, rtol=1e-14, atol=1e-15)
