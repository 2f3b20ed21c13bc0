"""Parts of a product that stand in it twice are contracted once, and the value stays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.execution.reference import evaluate
from einsumad.graph import Einsum, einsum, topological
from einsumad.planning.coinciding import twins
from einsumad.planning.contraction import binarise
from einsumad.planning.cost import total_cost
from einsumad.planning.primitives import kind_of
from tests.planning.products import random_values, variable

MANY = settings(max_examples=max(150, settings().max_examples))


def contractions(root):
    return [n for n in topological(binarise([root])) if isinstance(n, Einsum) and kind_of(n) == "contract"]


def sandwich(length, n, width):
    """``Σ K[b,i,y] S[y,z] K[b,j,z]`` with K a chain of matrices that depend on the batch."""
    chain = [variable(f"W{k}", (n, n), float) for k in range(length)]
    slopes = [variable(f"d{k}", (width, n), float) for k in range(length)]
    middle = variable("S", (n, n), float)
    operands, inputs = [], []
    label = 3
    for end in (1, 2):
        place = end
        for matrix, slope in zip(chain, slopes, strict=True):
            operands += [matrix, slope]
            inputs += [(place, label), (0, label)]
            place, label = label, label + 1
        if end == 1:
            first = place
    operands.append(middle)
    inputs.append((first, place))
    return einsum(operands, inputs, (0, 1, 2)), [*chain, *slopes, middle]


@pytest.mark.parametrize("length", [2, 3, 8, 40])
def test_both_chains_of_a_sandwich_are_one(length):
    root, leaves = sandwich(length, 6, 5)
    assert len(contractions(root)) == length + 1
    rng = np.random.default_rng(length)
    values = {leaf: random_values(rng, leaf.shape, leaf.dtype) / 2 for leaf in leaves}
    chain = [values[leaf] for leaf in leaves[:length]]
    slopes = [values[leaf] for leaf in leaves[length:-1]]
    K = np.eye(6)[None].repeat(5, axis=0)
    for matrix, slope in zip(chain, slopes, strict=True):
        K = K @ matrix * slope[:, None, :]
    expected = K @ values[leaves[-1]] @ K.transpose(0, 2, 1)
    np.testing.assert_allclose(evaluate(binarise([root]), values)[0], expected, rtol=1e-9, atol=1e-12)


def test_a_chain_that_ends_in_a_vector_is_no_matrix():
    """``(W1 W2 v)[i] (W1 W2 v)[j]``: twice the same vector, made from its end."""
    W1, W2, v = variable("W1", (50, 50), float), variable("W2", (50, 50), float), variable("v", (50,), float)
    root = einsum([W1, W2, v, W1, W2, v], [(0, 2), (2, 3), (3,), (1, 4), (4, 5), (5,)], (0, 1))
    assert [node.shape for node in contractions(root)] == [(50,), (50,)]


def test_powers_of_a_matrix_share_their_halves():
    A = variable("A", (7, 7), float)
    root = einsum([A] * 8, [(0 if k == 0 else k + 1, 1 if k == 7 else k + 2) for k in range(8)], (0, 1))
    assert len(contractions(root)) < 7
    value = random_values(np.random.default_rng(0), (7, 7), float)
    expected = np.linalg.matrix_power(value, 8)
    np.testing.assert_allclose(evaluate(binarise([root]), {A: value})[0], expected, rtol=1e-10)


def test_parts_that_are_used_in_different_ways_are_left():
    """One copy is summed over an index that the other one keeps."""
    A, B = variable("A", (4, 4), float), variable("B", (4, 4), float)
    root = einsum([A, B, A, B], [(0, 3), (3, 4), (1, 5), (5, 2)], (0, 1, 2))
    values = {A: np.arange(16.0).reshape(4, 4), B: np.eye(4) + 1}
    expected = np.einsum("ad,de,bf,fc->abc", values[A], values[B], values[A], values[B])
    np.testing.assert_allclose(evaluate(binarise([root]), values)[0], expected)


def test_what_is_there_once_has_no_copy():
    assert twins([(0, 1), (1, 2), (2, 3)], [0, 1, 2]) is None
    assert twins([(0, 1), (0, 2)], [0, 0]) is None


@st.composite
def doubled(draw):
    """A product in which a random part stands twice, with other labels, and random factors between."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 3))
    count = draw(st.integers(1, 4))
    part = [tuple(draw(st.permutations(range(4)))[: draw(st.integers(1, 3))]) for _ in range(count)]
    nodes = [variable(f"p{draw(st.integers(0, count - 1))}{len(labels)}", (n,) * len(labels), float) for labels in part]
    moved = {label: draw(st.sampled_from([label, label + 4])) for label in range(4)}
    operands = [*nodes, *nodes]
    inputs = [*part, *[tuple([moved[label] for label in labels]) for labels in part]]
    for k in range(draw(st.integers(0, 2))):
        labels = tuple(draw(st.permutations(range(8)))[: draw(st.integers(1, 3))])
        operands.append(variable(f"m{k}{len(labels)}", (n,) * len(labels), float))
        inputs.append(labels)
    held = sorted({label for labels in inputs for label in labels})
    output = draw(st.permutations(held))[: draw(st.integers(0, min(4, len(held))))]
    values = {node: random_values(rng, node.shape, float) for node in operands}
    return einsum(operands, inputs, output), values


@pytest.mark.fuzz
@MANY
@given(doubled())
def test_random_products_that_hold_a_part_twice(case):
    root, values = case
    (result,) = binarise([root])
    assert total_cost([result]).calls >= 0
    expected, found = (evaluate([node], values)[0] for node in (root, result))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.whole_planner
def test_hessian_of_a_deep_network_takes_one_chain_of_jacobians():
    """The plan grows by the same number of steps a layer, and has no tensor of order four but the result."""
    rng = np.random.default_rng(0)
    n = 6

    def plan(layers):
        weights = [rng.normal(size=(n, n)) for _ in range(layers)]
        x = rng.normal(size=(n, n))

        def loss(first):
            hidden = x
            for w in (first, *weights[1:]):
                hidden = np.maximum(hidden @ w, 0)
            return np.sum(np.log(np.sum(np.exp(hidden), axis=1)))

        return ea.explain(ea.hessian(loss), weights[0]).plan

    plans = [plan(layers) for layers in (10, 20, 30)]
    counts = [len(found.steps) for found in plans]
    assert counts[1] - counts[0] == counts[2] - counts[1]
    assert all(sum(len(step.shape) == 4 for step in found.steps) <= 2 for found in plans)
    deep = plan(60)
    assert len(deep.steps) < 9 * 60
    assert sum(len(step.shape) == 4 for step in deep.steps) <= 2
