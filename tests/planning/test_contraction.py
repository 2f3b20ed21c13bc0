"""Products in primitive steps: the same value, every product primitive, good order."""

import sys
from functools import partial
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.lib.stride_tricks import sliding_window_view

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.graph import Einsum, add, affine, einsum, leaf, leaves, ones, selection, topological, unit
from einsumad.planning import contraction
from einsumad.planning.contraction import binarise, contraction_pairs
from einsumad.planning.cost import total_cost
from einsumad.planning.held import products_held
from einsumad.planning.kernels import Contract, Inside, Pad
from einsumad.planning.maps import apply_maps
from einsumad.planning.primitives import kind_of
from einsumad.planning.resolve import resolve
from einsumad.records import replace
from tests.effort import calls
from tests.planning.products import products, variable

MANY = settings(max_examples=max(200, settings().max_examples))


def kinds(node):
    return [kind_of(n) for n in topological(binarise([node])) if isinstance(n, Einsum)]


def tolerance(node):
    leaves = [n.dtype for n in topological([node])] + [node.dtype]
    return 1e-4 if np.dtype(np.float32) in leaves else 1e-9


@pytest.mark.whole_planner
@MANY
@given(products())
def test_binarised_products_have_the_same_value(case):
    """And of the same work when they are planned again.

    Planned again they may have other steps: a step knows less than the product that it comes from, for instance of two
    0/1 tensors that give the same index only the one that is left.
    """
    (result,) = binarise([case.node])
    assert (result.shape, result.dtype) == (case.node.shape, case.node.dtype)
    assert all(kind_of(n) for n in topological([result]) if isinstance(n, Einsum))
    expected, value = (evaluate([node], case.values)[0] for node in (case.node, result))
    np.testing.assert_allclose(value, expected, rtol=tolerance(case.node), atol=tolerance(case.node))
    assert total_cost(binarise([result])).flops >= total_cost([result]).flops


@pytest.mark.whole_planner
def test_a_map_that_holds_an_index_twice_comes_first():
    """It is written out as a mask, along with which the other is read; so planned again the steps are the same."""
    a, x = affine(3, [3, 2], [-1, 0], 2, float), variable("x", (), float)
    result = binarise([einsum([a, a, x, x, x], [(0, 1, 2), (1, 1, 2), (), (), ()], (0,))])
    assert binarise(result) == result


def test_an_axis_of_one_entry_is_read_with_a_long_stride():
    a, x = affine(1, [2], [2], 0, float), variable("x", (1,), float)
    (result,) = binarise([einsum([a, x], [(0, 1), (0,)], (1,))])
    assert evaluate([result], {x: np.array([3.0])})[0].tolist() == [3, 0]


@MANY
@given(products(dtypes=(np.int64,), coefficients=(1, -1, 3)))
def test_integers_are_exact(case):
    if case.node.dtype.kind == "i":
        expected = evaluate([case.node], case.values, exact=True)[0]
        assert (evaluate(binarise([case.node]), case.values)[0] == expected).all()


def test_vectors_meet_matrices_before_matrices_meet():
    x, d = variable("X", (20, 10), float), variable("d", (20,), float)
    (node,) = binarise([einsum([x, d, x], [(0, 1), (0,), (0, 2)], (1, 2))])
    assert kinds(node) == ["group", "contract"]
    assert {operand.shape for operand in node.operands} == {(20, 10)}


def test_the_number_goes_to_the_smallest_tensor():
    a, v = variable("A", (9, 9), float), variable("v", (9,), float)
    (form,) = binarise([einsum([v, a, v], [(0,), (0, 1), (1,)], (), 0.5)])
    assert kind_of(form) == "layout"
    assert form.coefficient == 0.5
    (gram,) = binarise([einsum([a, v, a], [(0, 1), (0,), (0, 2)], (1, 2), 3)])
    assert [n.shape for n in topological([gram]) if isinstance(n, Einsum) and n.coefficient == 3] == [(9,)]


def test_a_sign_stays_outside_in_a_sum():
    a, v = variable("A", (9, 9), float), variable("v", (9,), float)
    (total,) = binarise([add([v, einsum([a, v], [(0, 1), (1,)], (0,), -2)])])
    assert [operand.coefficient for operand in total.operands if isinstance(operand, Einsum)] == [-1]


@pytest.mark.whole_planner
def test_a_delta_is_written_last():
    v, a = variable("v", (4,), float), variable("A", (3, 2), float)
    node = einsum([v, unit(4, 2, float), a], [(0,), (0, 1), (2, 3)], (0, 2, 1, 3))
    assert kinds(node) == ["group", "embed"]


@pytest.mark.whole_planner
def test_summed_units_and_ones_disappear():
    v = variable("v", (4,), float)
    assert kinds(einsum([v, unit(4, 3, float), ones((5,), float)], [(0,), (0, 1, 2), (3,)], (1,))) == ["layout"]


def test_many_factors_are_searched_quickly():
    nodes = [variable(f"f{k}", (3, 3), float) for k in range(60)]
    node = einsum(nodes, [(k, k + 1) for k in range(60)], (0, 60))
    assert calls(partial(kinds, node)) < 200_000
    assert kinds(node).count("contract") == 59


@pytest.mark.whole_planner
def test_deep_graphs_are_walked_without_recursion():
    x = variable("x", (2,), float)
    y = x
    for _ in range(3000):
        y = einsum([y, x], [(0,), (0,)], (0,))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(220)
    try:
        assert binarise([y]) == (y,)
    finally:
        sys.setrecursionlimit(limit)


def test_a_map_that_reads_nothing_leaves_nothing():
    x, y = variable("x", (2,), float), variable("y", (3,), float)
    places = affine(2, [3], [3], -1, float)  # the entries -1, 2 and 5 of x
    node = add([einsum([x, places], [(0,), (0, 1)], (1,), 2), y])
    (result,) = binarise([node])
    values = {leaf: np.ones(leaf.shape) for leaf in leaves([node])}
    np.testing.assert_array_equal(evaluate([result], values)[0], np.ones(3))
    assert all(kind_of(n) for n in topological([result]) if isinstance(n, Einsum))


def test_what_is_merged_first_does_not_hide_what_masks_and_others_hold():
    """Pairs with a sum of their own, one after the other, beside a mask over the index that is summed last."""
    rng = np.random.default_rng(0)
    A, B, C, D = (variable(name, (2, 3), float) for name in "ABCD")
    x, y = variable("x", (2,), float), variable("y", (3,), float)
    m = variable("m", (2, 3), bool)
    values = {leaf: rng.normal(size=leaf.shape) for leaf in (A, B, C, D, x, y)} | {m: rng.random((2, 3)) > 0.4}
    for operands, inputs, output in (
        ([x, y, y, A, B], [(0,), (1,), (1,), (2, 1), (2, 1)], (0,)),
        ([A, B, C, D, x, m], [(0, 1), (0, 1), (2, 1), (2, 1), (0,), (0, 1)], (0,)),
        ([A, B, C, D, y, m], [(0, 1), (0, 1), (2, 3), (2, 3), (1,), (2, 1)], (2,)),
        ([A, A, B, y, y, m], [(0, 1), (0, 1), (0, 1), (1,), (1,), (2, 1)], (2,)),
    ):
        node = einsum(operands, inputs, output)
        (result,) = binarise([node])
        assert all(kind_of(n) for n in topological([result]) if isinstance(n, Einsum))
        arrays = [values[operand].astype(float) for operand in operands]
        np.testing.assert_allclose(
            evaluate([result], values)[0],
            np.einsum(*[a for pair in zip(arrays, inputs, strict=True) for a in pair], output),
        )


def test_products_that_are_held_are_not_taken_apart_again(monkeypatch):
    """Without that the steps of a product that nobody needs are let go, and looked for anew."""
    searched = []
    monkeypatch.setattr(contraction, "contraction_pairs", lambda *given: searched.append(given) or pairs(*given))
    pairs = contraction_pairs
    a, b, x = variable("held a", (3, 4), float), variable("held b", (4, 5), float), variable("held x", (5,), float)

    def steps():
        (result,) = binarise([einsum([a, b, x], [(0, 1), (1, 2), (2,)], (0,), 1)])
        return total_cost([result])

    with products_held():
        first = steps()
        with products_held():
            assert steps() == first
        assert steps() == first
    assert len(searched) == 1
    assert steps() == first
    assert len(searched) == 2


@pytest.mark.whole_planner
def test_a_product_and_its_multiples_are_contracted_once():
    """``Σ (A B)²`` and its gradients, in which ``2 A B`` stands: three matrix products and a sum of squares."""
    A, B = np.arange(35.0).reshape(5, 7), np.arange(42.0).reshape(7, 6) % 5

    def f(A, B):
        return np.sum((A @ B) ** 2)

    function = ea.compile(ea.value_and_grad(f, argnums=(0, 1)))
    steps = ea.explain(function, A, B).plan.steps
    assert len([step for step in steps if isinstance(step.kernel, Contract)]) == 4
    value, (of_a, of_b) = function(A, B)
    assert value == np.sum((A @ B) ** 2)
    np.testing.assert_array_equal(of_a, 2 * A @ B @ B.T)
    np.testing.assert_array_equal(of_b, 2 * A.T @ (A @ B))


def test_a_factor_that_was_padded_takes_no_mask():
    """``Σ_p x[i + p - 1] w[p]``: the zeros around x are there, and nothing else has those indices."""
    x, w = np.arange(40.0).reshape(8, 5), np.array([1.0, 2.0, 3.0])

    def f(x, w):
        return sliding_window_view(np.pad(x, [(0, 0), (1, 1)]), 3, axis=1) @ w

    kernels = [type(step.kernel) for step in ea.explain(ea.compile(f), x, w).plan.steps]
    assert kernels.count(Pad) == 1
    assert Inside not in kernels
    np.testing.assert_array_equal(ea.compile(f)(x, w), [np.convolve(row, w[::-1], "same") for row in x])


@pytest.mark.parametrize("turned", [False, True])
def test_of_maps_that_meet_the_one_is_followed_that_writes_less(turned):
    """Entries of a tensor that is numbered as a whole, picked by their numbers: no pick has a row of all numbers."""
    u = variable("u", (3, 4, 5), float)
    k = leaf((3, 1, 2), int, ("variable", "k"), "k")
    numbered, picked = affine(60, [5, 4, 3], [12, 3, 1], 0, float), selection(k, 60, float)
    node = einsum([picked, numbered, u], [(0, 6, 1, 2), (2, 3, 4, 5), (5, 4, 3)], (0, 1))
    resolved = resolve(node)
    maps = resolved.maps[::-1] if turned else resolved.maps
    applied = apply_maps(replace(resolved, maps=maps), lambda product: binarise([product])[0])
    assert len(maps) == 2
    steps = topological([factor.node for factor in applied.factors])
    assert max(prod(step.shape) for step in steps if isinstance(step, Einsum)) == 60
