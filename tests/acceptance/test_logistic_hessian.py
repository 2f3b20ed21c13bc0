"""The Hessian of the logistic loss: one product, however it is written, and finite far out."""

from __future__ import annotations

import time

import numpy as np
import pytest

import einsumad as ea
from einsumad.planning.kernels import Contract

RNG = np.random.default_rng(0)
SAMPLES, VARIABLES = 40, 10
X = RNG.normal(size=(SAMPLES, VARIABLES))
y = np.sign(RNG.normal(size=SAMPLES))
W = RNG.normal(size=VARIABLES)

SPELLINGS = {
    "naive": lambda w: np.sum(np.log(np.exp(-y * (X @ w)) + 1)),
    "one first": lambda w: np.sum(np.log(1 + np.exp(-y * (X @ w)))),
    "log1p": lambda w: np.sum(np.log1p(np.exp(-y * (X @ w)))),
    "ones like": lambda w: np.sum(np.log(np.exp(-(X @ w) * y) + np.ones_like(X @ w))),
    "of the sigmoid": lambda w: -np.sum(np.log(1 / (1 + np.exp(-y * (X @ w))))),
    "quotient": lambda w: -np.sum(np.log(np.exp(y * (X @ w)) / (1 + np.exp(y * (X @ w))))),
}


def by_hand(w, X=X, y=y):
    margin = y * (X @ w)
    p = 0.5 * (1 - np.tanh(margin / 2))
    return np.sum(np.logaddexp(0, -margin)), X.T @ (-y * p), X.T @ ((p * (1 - p))[:, None] * X)


def matrix_products(explained):
    """Contractions that are more than a matrix times a vector."""
    steps = explained.plan.steps
    return [s for s in steps if isinstance(s.kernel, Contract) and s.cost.flops > 10 * SAMPLES * VARIABLES]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
def test_the_hessian_is_right(spelling, mode):
    np.testing.assert_allclose(ea.hessian(SPELLINGS[spelling], mode=mode)(W), by_hand(W)[2], rtol=1e-11, atol=1e-13)


@pytest.mark.whole_planner
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_hessian_is_one_product(spelling):
    explained = ea.explain(ea.hessian(SPELLINGS[spelling]), W)
    (product,) = matrix_products(explained)
    assert product.shape == (VARIABLES, VARIABLES)
    (text,) = explained.expressions()
    last = text.splitlines()[-1] if "=" in text.splitlines()[-1] else text
    assert "Xᵀ diag(" in last
    assert last.rstrip().endswith(") X")
    assert last.count("X)") <= last.count("diag(") + 4


@pytest.mark.whole_planner
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_it_is_one_product_in_every_mode(spelling, mode):
    explained = ea.explain(ea.hessian(SPELLINGS[spelling], mode=mode), W)
    assert len(matrix_products(explained)) == 1


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("margin", [1e3, -1e3])
def test_finite_at_large_margins(spelling, margin):
    w = margin * np.linalg.lstsq(X, y, rcond=None)[0]
    reach = X @ w * y
    assert np.max(np.abs(reach)) > 1000
    value, gradient, hessian = ea.value_grad_and_hessian(SPELLINGS[spelling])(w)
    expected = by_hand(w)
    assert np.isfinite(value)
    np.testing.assert_allclose(value, expected[0], rtol=1e-13)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(hessian, expected[2], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_margins_of_exactly_a_thousand(sign):
    data, labels = np.eye(3), np.array([1.0, -1.0, 1.0])

    def loss(w):
        return np.sum(np.log(np.exp(-labels * (data @ w)) + 1))

    w = 1000 * sign * labels
    for mode in ("forward", "reverse", "cross-country", "auto"):
        np.testing.assert_array_equal(ea.hessian(loss, mode=mode)(w), np.zeros((3, 3)))
    value, gradient = ea.value_and_grad(loss)(w)
    assert value == (0 if sign > 0 else 3000)
    np.testing.assert_array_equal(gradient, 0 * labels if sign > 0 else -labels)


@pytest.mark.whole_planner
def test_value_gradient_and_hessian_share_their_work():
    """Asked together they cost little more than the Hessian alone."""
    loss = SPELLINGS["naive"]
    alone = ea.explain(ea.hessian(loss), W).plan
    together = ea.explain(ea.value_grad_and_hessian(loss), W).plan
    assert together.flops < 1.5 * alone.flops
    assert len(matrix_products(ea.explain(ea.value_grad_and_hessian(loss), W))) == 1


def test_the_compiled_hessian_costs_at_most_five_times_the_hand_written_one():
    data, labels = X[:20], y[:20]

    def loss(w):
        return np.sum(np.log(np.exp(-labels * (data @ w)) + 1))

    def written(w):
        s = 1 / (1 + np.exp(labels * (data @ w)))
        return data.T @ ((s * (1 - s))[:, None] * data)

    compiled = ea.compile(ea.hessian(loss))
    np.testing.assert_allclose(compiled(W), written(W), rtol=1e-12, atol=1e-14)
    ratios = [fastest(compiled) / fastest(written) for _ in range(5)]
    assert min(ratios) < 5


def fastest(function, repetitions=200):
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(repetitions):
            function(W)
        best = min(best, time.perf_counter() - start)
    return best
