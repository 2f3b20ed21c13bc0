"""The three problems of the paper's experiments, small: values, gradients and Hessians against formulas by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import einsumad as ea
from einsumad.graph.display import index_notation
from einsumad.testing import check_derivatives

MODES = ("auto", "forward", "reverse", "cross-country")
RNG = np.random.default_rng(5)


def close(found, expected, tolerance=1e-12):
    scale = max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


N = 5
X, Y, W = RNG.normal(size=(2 * N, N)), np.sign(RNG.normal(size=2 * N)), RNG.normal(size=N)


def logistic(w):
    """``Σ log(exp(−y ⊙ (X w)) + 1)``, X of size 2n × n."""
    return np.sum(np.log(np.exp(-Y * (X @ w)) + 1))


def logistic_by_hand(w):
    margin = Y * (X @ w)
    p = 0.5 * (1 - np.tanh(margin / 2))
    value = np.sum(np.logaddexp(0, -margin))
    return value, X.T @ (-Y * p), X.T @ ((p * (1 - p))[:, None] * X)


@pytest.mark.parametrize("mode", MODES)
def test_logistic_regression(mode):
    value, gradient, hessian = logistic_by_hand(W)
    close(ea.hessian(logistic, mode=mode)(W), hessian)
    close(ea.jacobian(logistic, mode=mode)(W), gradient)
    found = ea.value_grad_and_hessian(logistic)(W)
    for ours, theirs in zip(found, (value, gradient, hessian), strict=True):
        close(ours, theirs)


@pytest.mark.parametrize("mode", MODES)
def test_logistic_regression_third_derivative(mode):
    p = 1 / (1 + np.exp(Y * (X @ W)))
    expected = np.einsum("ka,kb,kc,k->abc", X, X, X, -Y * p * (1 - p) * (1 - 2 * p))
    close(ea.derivative(logistic, order=3, mode=mode)(W), expected)


T, OMEGA = RNG.normal(size=(6, 4)), RNG.random((6, 4)) < 0.6
U, V = RNG.normal(size=(6, 2)), RNG.normal(size=(4, 2))


def factorisation(u, v):
    """``‖T − U Vᵀ‖²_Ω``: squares of the entries where Ω is 1."""
    return np.sum((OMEGA * (T - u @ v.T)) ** 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "mask", [lambda r: OMEGA * r, lambda r: np.where(OMEGA, r, 0), lambda r: OMEGA.astype(float) * r]
)
def test_matrix_factorisation(mode, mask):
    def f(u, v):
        return np.sum(mask(T - u @ v.T) ** 2)

    omega = OMEGA.astype(float)
    residual = omega * (U @ V.T - T)
    gradient = ea.grad(f, (0, 1))(U, V)
    close(gradient[0], 2 * residual @ V)
    close(gradient[1], 2 * residual.T @ U)
    hessian = ea.hessian(f, (0, 1), mode=mode)(U, V)
    close(hessian[0][0], 2 * np.einsum("ik,im,mj,ml->ijkl", np.eye(6), omega, V, V))
    close(hessian[1][1], 2 * np.einsum("ik,mi,mj,ml->ijkl", np.eye(4), omega, U, U))
    mixed = 2 * np.einsum("ik,kj,il->ijkl", omega, V, U) + 2 * np.einsum("ik,jl->ijkl", residual, np.eye(2))
    close(hessian[0][1], mixed)
    close(hessian[1][0], np.transpose(mixed, (2, 3, 0, 1)))


def test_hidden_entries_may_be_nan():
    unknown = np.where(OMEGA, T, np.nan)

    def f(u, v):
        return np.sum(np.where(OMEGA, unknown - u @ v.T, 0) ** 2)

    for found, expected in zip(ea.grad(f, (0, 1))(U, V), ea.grad(factorisation, (0, 1))(U, V), strict=True):
        close(found, expected)
    found, expected = ea.hessian(f)(U, V), ea.hessian(factorisation)(U, V)
    close(found, expected)


def network(layers, width, batch, seed):
    rng = np.random.default_rng(seed)
    weights = [rng.normal(size=(width, width)) * np.sqrt(2 / width) for _ in range(layers)]
    return weights, rng.normal(size=(batch, width)), np.eye(width)[rng.integers(0, width, batch)]


def cross_entropy(logits, target):
    return np.sum(np.log(np.sum(np.exp(logits), axis=1))) - np.sum(target * logits)


def first_layer_loss(weights, x, target):
    def loss(first):
        a = x
        for w in (first, *weights[1:]):
            a = np.maximum(a @ w, 0)
        return cross_entropy(a, target)

    return loss


def hessian_by_hand(weights, x, target):
    """Per sample: the Jacobian of the logits in the first layer's output, and the softmax between two of them."""
    width = len(weights[0])
    result = np.zeros((width, width, width, width))
    gradient = np.zeros((width, width))
    for sample, wanted in zip(x, target, strict=True):
        a, jacobian = sample, None
        for w in weights:
            h = a @ w
            slope = (h > 0).astype(float)
            jacobian = np.diag(slope) if jacobian is None else jacobian @ w * slope
            a = np.maximum(h, 0)
        p = np.exp(a - a.max())
        p /= p.sum()
        inner = jacobian @ (np.diag(p) - np.outer(p, p)) @ jacobian.T
        result += np.einsum("a,p,cq->acpq", sample, sample, inner)
        gradient += np.outer(sample, jacobian @ (p - wanted))
    return gradient, result


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("layers", "width", "batch"), [(1, 3, 4), (2, 3, 2), (3, 3, 4), (10, 4, 4)])
def test_first_layer_hessian_of_a_relu_network(mode, layers, width, batch):
    weights, x, target = network(layers, width, batch, 6)
    loss = first_layer_loss(weights, x, target)
    gradient, hessian = hessian_by_hand(weights, x, target)
    close(ea.jacobian(loss, mode=mode)(weights[0]), gradient)
    close(ea.hessian(loss, mode=mode)(weights[0]), hessian)


def test_derivatives_of_the_network_in_every_mode():
    weights, x, target = network(2, 3, 3, 7)
    check_derivatives(first_layer_loss(weights, x, target), weights[0]).raise_if_wrong(undecided=True)


def test_products_with_the_hessian_of_the_network():
    weights, x, target = network(3, 4, 5, 8)
    loss = first_layer_loss(weights, x, target)
    hessian = ea.hessian(loss)(weights[0])
    v = RNG.normal(size=(4, 4))
    close(ea.hvp(loss)(weights[0], v), np.einsum("ijkl,kl->ij", hessian, v))
    close(ea.hessian_diagonal(loss)(weights[0]), np.einsum("ijij->ij", hessian))
    close(ea.laplacian(loss)(weights[0]), np.einsum("ijij->", hessian))


def text(expression):
    return index_notation([expression.node])


def symbols(batch, widths):
    x = ea.variable("x", (batch, widths[0]))
    weights = [ea.variable(f"W{k}", pair) for k, pair in enumerate(itertools.pairwise(widths), 1)]
    return x, weights


@pytest.mark.whole_planner
def test_the_first_layer_has_a_delta_and_the_next_one_has_none():
    """``∂(x W)/∂W = x[b,p] δ[c,q]``; one layer on the delta is gone by renaming, x is still a factor."""
    x, (w, v) = symbols(6, (3, 4, 5))
    assert text(ea.diff(x @ w, w)) == "x[i,k] δ[j,l]"
    for mode in MODES:
        derivative = text(ea.diff(np.tanh(x @ w) @ v, w, mode=mode))
        assert "δ" not in derivative
        assert "x[i,k]" in derivative
        assert "W2[l,j]" in derivative


@pytest.mark.whole_planner
def test_hessian_of_one_layer_is_of_order_three():
    """``x[b,a] x[b,p] (p[b,c] δ[c,q] − p[b,c] p[b,q])``: nothing of order four but the result."""
    x, (w,) = symbols(6, (3, 4))
    t = ea.variable("t", (6, 4))
    hessian = ea.diff(cross_entropy(x @ w, t), w, w)
    assert text(hessian).splitlines()[-1] == "(δ[j,l] - t2[m,l]) t2[m,j] x[m,i] x[m,k]"
    values = {x: RNG.normal(size=(6, 3)), w: RNG.normal(size=(3, 4)), t: np.eye(4)[[0, 1, 2, 0, 1, 3]]}
    logits = values[x] @ values[w]
    p = np.exp(logits) / np.sum(np.exp(logits), axis=1, keepdims=True)
    inner = np.einsum("bc,cq->bcq", p, np.eye(4)) - np.einsum("bc,bq->bcq", p, p)
    close(ea.evaluate(hessian, values), np.einsum("ba,bp,bcq->acpq", values[x], values[x], inner))


@pytest.mark.whole_planner
@pytest.mark.parametrize("activation", [lambda h: np.maximum(h, 0), np.tanh])
def test_hessian_of_a_network_pulls_the_input_out_of_all_terms(activation):
    """``x[b,a] x[b,p] R[b,c,q]`` also where the activation has a second derivative."""
    x, (w, v) = symbols(6, (3, 4, 5))
    t = ea.variable("t", (6, 5))
    hessian = ea.diff(cross_entropy(activation(x @ w) @ v, t), w, w)
    last = text(hessian).splitlines()[-1]
    assert last.count("x[") == 2
