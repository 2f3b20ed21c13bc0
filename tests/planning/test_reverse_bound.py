"""How many entries reverse mode multiplies, and when a second order of multiplication is looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.functions import apply, call
from einsumad.graph import Leaf, add, einsum, fresh_leaf, ones, unit
from einsumad.planning.reverse_bound import multiplied_in_reverse


def variable(*shape: int) -> Leaf:
    return fresh_leaf(shape, float)


def test_a_chain_is_multiplied_from_the_result():
    x, matrix = variable(5), variable(7, 5)
    inner = apply("tanh", x)
    outer = apply("sin", einsum([matrix, inner], [(0, 1), (1,)], (0,)))
    # sin: the diagonal of 7; the matrix: 7 x 5; tanh: each column of that
    assert multiplied_in_reverse(outer, [x]) == 7 + 35 + 35


def test_entrywise_functions_keep_a_diagonal():
    x = variable(1000)
    assert multiplied_in_reverse(apply("sin", apply("tanh", x)), [x]) == 2000


def test_a_sum_of_a_diagonal_and_a_matrix_is_a_matrix():
    x, matrix = variable(30), variable(30, 30)
    inner = apply("tanh", x)
    diagonal, full = apply("sin", inner), einsum([matrix, inner], [(0, 1), (1,)], (0,))
    assert multiplied_in_reverse(add([diagonal, full]), [x]) == 30 + 900 + 900
    assert multiplied_in_reverse(add([diagonal, inner]), [x]) == 30 + 30


def test_deltas_of_a_product_tie_its_axes():
    x = variable(20)
    inner = apply("tanh", x)
    spread = einsum([inner, unit(20, 2, float), ones((3,), float)], [(0,), (0, 1), (2,)], (0, 1, 2))
    assert multiplied_in_reverse(spread, [inner]) == 20 * 3
    assert multiplied_in_reverse(einsum([inner, inner], [(0,), (1,)], (0, 1)), [inner]) == 2 * 20 * 20


def test_functions_of_stacked_matrices_tie_the_stack():
    x = variable(50, 3, 3)
    assert multiplied_in_reverse(call("inverse", apply("sin", x)), [x]) == 2 * 50 * 9 * 9


def test_what_does_not_depend_on_the_sources_takes_nothing():
    x, y = variable(4), variable(4)
    assert multiplied_in_reverse(apply("sin", x), [y]) == 0
    assert multiplied_in_reverse(x, [x]) == 0


def compared(f: Callable[..., Any], *arrays: Any) -> list[str]:
    """The orders that were compared for a Hessian."""
    return [candidate.mode for candidate in ea.explain(ea.hessian(f), *arrays).choices[1].candidates]


def network(first, x, *weights):
    for weight in (first, *weights):
        x = np.maximum(x @ weight, 0)
    return np.sum(np.log(np.sum(np.exp(x), axis=1)))


def smooth(first, x, *weights):
    for weight in (first, *weights):
        x = np.tanh(x @ weight)
    return np.sum(np.log(np.sum(np.exp(x), axis=1)))


def banded(x):
    return np.sum(np.tanh(np.diff(x)) ** 2) + np.sum(x**4)


@pytest.mark.whole_planner
def test_one_order_is_enough_where_a_call_is_short_and_plain_reverse_mode_takes_far_more():
    assert compared(network, *np.ones((11, 10, 10))) == ["cross-country"]


@pytest.mark.whole_planner
@pytest.mark.parametrize(
    ("f", "arrays"),
    [
        pytest.param(network, np.ones((11, 150, 150)), id="a call is long"),
        pytest.param(smooth, np.ones((6, 8, 8)), id="plain reverse mode takes 1.5 times as much"),
        pytest.param(banded, np.ones((1, 20)), id="a second order is soon built"),
    ],
)
def test_two_are_compared_where_it_may_pay_or_costs_little(f, arrays):
    assert compared(f, *arrays) == ["reverse", "cross-country"]


@pytest.mark.whole_planner
@pytest.mark.parametrize("f", [network, smooth])
def test_of_what_is_kept_in_structure_one_order_is_enough_by_what_is_stored(f):
    """A candidate costs what its plan takes. Without the structure `smooth` takes more than half of reverse mode's."""
    arrays = np.ones((11, 10, 10)) if f is network else np.ones((6, 10, 10))
    explained = ea.explain(ea.hessian(f, compressed=True), *arrays)
    (candidate,) = explained.choices[1].candidates
    assert candidate.cost.flops == pytest.approx(explained.plan.flops, rel=0.1)
    assert "without the structure" not in str(explained)


def bending(x):
    return np.sum(x**2) + np.sum(np.diff(x, 2, axis=0) ** 2) + np.sum(np.diff(x, 2, axis=1) ** 2)


@pytest.mark.whole_planner
def test_two_are_compared_where_a_structure_leaves_less_arithmetic_than_there_are_entries():
    explained = ea.explain(ea.hessian(bending, compressed=True), np.ones((20, 25)))
    assert len(explained.choices[1].candidates) == 2
    assert "without the structure" in str(explained)


def rows_alike(w):
    n = len(w)
    i = np.arange(1.0, n + 1)
    return np.sum(((n - np.sum(np.cos(w))) + i * (1 - np.cos(w)) - np.sin(w)) ** 2)


def variance(x):
    return np.sum((x - np.mean(x)) ** 2)


@pytest.mark.whole_planner
@pytest.mark.parametrize("f", [rows_alike, variance])
@pytest.mark.parametrize("n", [200, 300])
def test_two_are_compared_where_reverse_mode_takes_less(f, n):
    """Rows that are all alike but for a number: vertices eliminated one by one multiply matrices."""
    explained = ea.explain(ea.hessian(f), np.ones(n))
    reverse, other = explained.choices[1].candidates
    assert (reverse.mode, other.mode, explained.choices[1].mode) == ("reverse", "cross-country", "reverse")
    assert 5 * reverse.cost.flops < other.cost.flops


@pytest.mark.parametrize("mode", ["reverse", "forward", "cross-country"])
def test_orders_that_are_asked_for_agree_with_the_one_that_is_chosen(mode):
    rng = np.random.default_rng(1)
    arrays = rng.normal(size=(5, 3, 3))
    chosen = ea.hessian(network)(*arrays)
    np.testing.assert_allclose(ea.hessian(network, mode=mode)(*arrays), chosen, rtol=1e-12, atol=1e-12)
