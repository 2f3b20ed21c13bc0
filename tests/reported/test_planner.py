"""Rows P*: memory, costs and the order of multiplication. What is compared is what plans say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from tests.reported.oracle import close, normal

A, B = normal(1, 40, 30), normal(2, 30, 40)
EIGHT = "gfl,egh,efj,mjk,cdn,bck,bdi,oih"


def plan_of(g, *args):
    return ea.explain(g, *args).plan


def network(w):
    hidden = np.tanh(A @ w.reshape(30, 10))
    return np.sum(np.log(np.sum(np.exp(hidden), axis=1)))


@pytest.mark.whole_planner
def test_p5_a_dense_hessian_needs_no_more_than_a_few_times_its_own_memory():
    w = normal(3, 300)
    own = 8 * 300 * 300
    assert plan_of(ea.hessian(network), w).peak_bytes < 4 * (own + A.nbytes)


@pytest.mark.whole_planner
def test_p5_the_jacobian_of_many_outputs_is_not_made_of_one_hot_rows():
    """10,000 functions of 1,001 variables: 80 MB, which took others hundreds of times that."""
    x, c = np.linspace(0.1, 1, 10_000), np.linspace(-1, 1, 1001)

    def f(c):
        return np.tanh(np.power.outer(x, np.arange(3.0)) @ c[:3]) * c[3] + np.outer(x, c[1:]).sum(1)

    assert plan_of(ea.jacobian(f), c).peak_bytes < 4 * 8 * 10_000 * 1001


def test_p5_what_does_not_fit_is_refused():
    with pytest.raises(ea.MemoryLimitError, match="memory_limit"):
        ea.hessian(network, memory_limit=100_000)(normal(3, 300))


def test_p7_a_hessian_product_costs_at_most_a_few_gradients():
    w, v = normal(4, 300), normal(5, 300)
    gradient, product = plan_of(ea.grad(network), w), plan_of(ea.hvp(network), w, v)
    assert product.flops < 4 * gradient.flops


def test_p7_repeated_products_are_planned_once():
    w = normal(4, 300)
    product = ea.hvp(network)
    product(w, normal(0, 300))
    before = ea.statistics()
    for seed in range(1, 20):
        product(w, normal(seed, 300))
    after = ea.statistics()
    assert (after.planned, after.derived) == (before.planned, before.derived)


def test_p9_hessians_are_symmetric_to_rounding():
    w = normal(6, 300)
    for mode in ("auto", "forward", "reverse"):
        H = ea.hessian(network, mode=mode)(w)
        np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-15 * np.abs(H).max())


def test_p9_off_diagonal_entries_are_not_doubled():
    H = ea.hessian(lambda x: x[0] * x[1] + 3 * x[0] ** 2)(np.ones(2))
    np.testing.assert_array_equal(H, [[6, 1], [1, 0]])


@pytest.mark.parametrize(
    ("f", "size", "best"),
    [
        (lambda x: A @ np.tanh(B[:, :4] @ x), 4, "forward"),
        (lambda x: np.sin(B @ x).reshape(10, 3).sum(1)[:2], 40, "reverse"),
    ],
)
def test_p11_tall_and_wide_jacobians(f, size, best):
    """The chosen order is at most as costly as the better of the two, and the worse is not chosen."""
    x = normal(7, size)
    costs = {mode: plan_of(ea.jacobian(f, mode=mode), x).flops for mode in ("auto", "forward", "reverse")}
    assert costs["auto"] <= 1.05 * costs[best]
    close(ea.jacobian(f)(x), ea.jacobian(f, mode=best)(x), 1e-13, "auto")


def test_p11_through_one_number_neither_order_is_right():
    """A function of n variables through one number to n outputs: its Jacobian is an outer product of two vectors."""
    n = 400

    def f(x):
        return np.sin(np.arange(1.0, n + 1) * np.sum(np.tanh(x)))

    x = normal(8, n)
    assert plan_of(ea.jacobian(f), x).flops < 10 * n * n
    close(ea.jacobian(f)(x), ea.jacobian(f, mode="reverse")(x), 1e-13, "auto")


def test_p13_intermediates_larger_than_operands_and_result_are_used():
    """A network of eight tensors whose only cheap order has a large intermediate: scaling 6 instead of 14."""
    operands = [np.ones((6,) * 3) for _ in range(8)]
    text = f"{EIGHT}->abmn".replace("abmn", "lmno")
    found = ea.explain(lambda first: np.einsum(text, first, *operands[1:]), operands[0])
    assert found.plan.flops < 100 * 6**7
    small = [normal(k, 2, 2, 2) for k in range(8)]
    close(ea.einsum(text, *small), np.einsum(text, *small, optimize=("greedy", 10**9)), 1e-12, EIGHT)


def test_p15_a_plan_is_made_once():
    x = np.ones(3)
    ea.einsum("i,i->", x, x)
    f = ea.grad(lambda x: ea.einsum("i,i->", x, x))
    f(x)
    before = ea.statistics()
    for _ in range(5):
        f(x)
    after = ea.statistics()
    assert after.planned == before.planned
    assert after.found > before.found
