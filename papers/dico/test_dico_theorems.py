"""The local rules that networks of dense layers need."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import einsumad as ea

MODES = ("forward", "reverse", "cross-country", "auto")
RNG = np.random.default_rng(0)
BATCH, FEATURES, OUT = 6, 4, 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
        (np.sin, np.cos),
        (special.expit, lambda x: special.expit(x) * special.expit(-x)),
        (lambda x: np.maximum(x, 0), lambda x: x > 0),
        (lambda x: np.where(x > 0, x, 0.1 * x), lambda x: np.where(x > 0, 1, 0.1)),
    ],
    ids=["tanh", "sin", "sigmoid", "relu", "leaky relu"],
)
def test_entrywise_jacobian_is_diagonal(mode, f, slope):
    x = RNG.normal(size=5)
    np.testing.assert_allclose(ea.jacobian(f, mode=mode)(x), np.diag(slope(x)), rtol=1e-14)


def test_matrix_product():
    """``Z = W X``: ``∂L/∂W = Δ Xᵀ`` and ``∂L/∂X = Wᵀ Δ`` for ``Δ = ∂L/∂Z``."""
    w, x = RNG.normal(size=(OUT, FEATURES)), RNG.normal(size=(FEATURES, BATCH))

    def loss_of(z):
        return np.sum(np.exp(0.3 * z) * np.sin(z))

    delta = ea.grad(loss_of)(w @ x)
    by_w, by_x = ea.grad(lambda w, x: loss_of(w @ x), (0, 1))(w, x)
    np.testing.assert_allclose(by_w, delta @ x.T, rtol=1e-12)
    np.testing.assert_allclose(by_x, w.T @ delta, rtol=1e-12)


def test_dense_layer_with_a_mean_loss():
    """The factor 1/batch is part of Δ: the rule has none of its own."""
    w, b, x = RNG.normal(size=(FEATURES, OUT)), RNG.normal(size=OUT), RNG.normal(size=(BATCH, FEATURES))

    def loss(w, b):
        return np.mean(np.sum(np.tanh(x @ w + b), axis=1))

    delta = (1 - np.tanh(x @ w + b) ** 2) / BATCH
    by_w, by_b = ea.grad(loss, (0, 1))(w, b)
    np.testing.assert_allclose(by_w, x.T @ delta, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(by_b, delta.sum(axis=0), rtol=1e-12)


def test_mean_squared_error():
    guess, target = RNG.normal(size=(BATCH, OUT)), RNG.normal(size=(BATCH, OUT))
    by_sum = ea.grad(lambda g: np.mean(np.sum((g - target) ** 2, axis=1)))(guess)
    np.testing.assert_allclose(by_sum, 2 / BATCH * (guess - target), rtol=1e-13)
    by_mean = ea.grad(lambda g: np.mean((g - target) ** 2))(guess)
    np.testing.assert_allclose(by_mean, 2 / (BATCH * OUT) * (guess - target), rtol=1e-13)


def softmax(z):
    e = np.exp(z)
    return e / np.sum(e, axis=-1, keepdims=True)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scale", [1.0, 800.0])
def test_softmax(mode, scale):
    """``∂σᵢ/∂zⱼ = σᵢ (δᵢⱼ − σⱼ)``, also where the exponentials overflow."""
    z = scale * np.array([0.5, -1.0, 1.0, 0.9])
    s = special.softmax(z)
    np.testing.assert_allclose(ea.jacobian(softmax, mode=mode)(z), np.diag(s) - np.outer(s, s), atol=1e-13)
    np.testing.assert_allclose(ea.compile(softmax)(z), s, rtol=1e-12)


def test_softmax_with_cross_entropy():
    """Gradient ``(ŷ − y)/batch`` and, for each sample, Hessian ``(diag ŷ − ŷ ŷᵀ)/batch``."""
    z, target = RNG.normal(size=(BATCH, OUT)), np.eye(OUT)[RNG.integers(0, OUT, BATCH)]

    def loss(z):
        return -np.mean(np.sum(target * np.log(softmax(z)), axis=1))

    guess = special.softmax(z, axis=1)
    np.testing.assert_allclose(ea.grad(loss)(z), (guess - target) / BATCH, rtol=1e-12, atol=1e-15)
    hessian = ea.hessian(loss)(z)
    inner = np.einsum("bi,ij->bij", guess, np.eye(OUT)) - np.einsum("bi,bj->bij", guess, guess)
    expected = np.einsum("bij,bc->bicj", inner, np.eye(BATCH)) / BATCH
    np.testing.assert_allclose(hessian, expected, rtol=1e-12, atol=1e-15)
