"""Compiled plans against the reference interpreter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.execution import compile_plan
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import affine, einsum, leaves, selection, topological
from einsumad.planning import make_plan
from tests.execution.graphs import graphs
from tests.planning.products import products, random_values, variable

MANY = settings(max_examples=max(120, settings().max_examples))


def compiled(*roots):
    return compile_plan(make_plan(roots, leaves(roots)))


def run(roots, values):
    """The outputs, after the checks that hold for every plan."""
    inputs = leaves(roots)
    arrays = [np.asarray(values[node]) for node in inputs]
    copies = [array.copy() for array in arrays]
    outputs = compiled(*roots)(*arrays)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    for k, (root, output) in enumerate(zip(roots, outputs, strict=True)):
        assert (np.shape(output), output.dtype) == (root.shape, root.dtype)
        if isinstance(output, np.ndarray):
            assert output.flags.writeable
            assert not any(np.shares_memory(output, other) for other in [*arrays, *outputs[:k]])
    return outputs


def tolerance(*roots):
    return 1e-4 if any(node.dtype == np.float32 for node in topological(roots)) else 1e-9


@pytest.mark.fuzz
@MANY
@given(products(most_operands=8))
def test_products(case):
    (value,) = run([case.node], case.values)
    (expected,) = evaluate([case.node], case.values)
    np.testing.assert_allclose(value, expected, rtol=tolerance(case.node), atol=tolerance(case.node))


@pytest.mark.fuzz
@MANY
@given(products(dtypes=(np.int64,), coefficients=(1, -1, 3)))
def test_integer_products_are_exact(case):
    if case.node.dtype.kind == "i":
        (value,) = run([case.node], case.values)
        assert (value == evaluate([case.node], case.values, exact=True)[0]).all()


def test_large_integers_do_not_go_through_floating_point():
    a, b = variable("a", (3, 3), np.int64), variable("b", (3, 3), np.int64)
    x = np.full((3, 3), 2**31 + 1)
    (value,) = run([einsum([a, b], [(0, 1), (1, 2)], (0, 2))], {a: x, b: np.eye(3, dtype=int) * (2**30 + 1)})
    assert (value == (2**31 + 1) * (2**30 + 1)).all()


@pytest.mark.fuzz
@MANY
@given(graphs())
def test_graphs(graph):
    outputs = run(graph.roots, graph.values)
    for value, expected in zip(outputs, evaluate(graph.roots, graph.values), strict=True):
        size = np.abs(expected).max(initial=1)
        if np.isfinite(expected).all() and (expected.dtype == np.float64 or size < 1e4):
            rtol = 1e-7 if expected.dtype == np.float64 else 2e-2
            np.testing.assert_allclose(value, expected, rtol=rtol, atol=rtol * size)


@st.composite
def masked_products(draw):
    """A product with one or two masks and inf or NaN where a mask switches a comparable factor off."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    count = draw(st.integers(1, 4))
    sizes = [draw(st.integers(1, 3)) for _ in range(count)]
    subset = st.sets(st.integers(0, count - 1)).map(lambda labels: tuple(sorted(labels)))
    mask_labels = draw(st.lists(subset, min_size=1, max_size=2))
    factor_labels = draw(st.lists(subset, max_size=4))
    everything = sorted({label for labels in mask_labels + factor_labels for label in labels})
    output = draw(st.lists(st.sampled_from(everything), unique=True)) if everything else []
    space = np.ones([sizes[label] for label in range(count)], bool)
    values, operands = {}, []
    for k, labels in enumerate(mask_labels):
        node = variable(f"m{k}", [sizes[label] for label in labels], bool)
        values[node] = random_values(rng, node.shape, bool)
        operands.append(node)
    for k, labels in enumerate(factor_labels):
        node = variable(f"x{k}", [sizes[label] for label in labels], float)
        value = random_values(rng, node.shape, float)
        for mask, own in zip(operands[: len(mask_labels)], mask_labels, strict=True):
            comparable = all(set(own) <= set(o) or set(o) <= set(own) for o in [*mask_labels, labels])
            if comparable or set(own) <= set(output):
                alive = _alive(values[mask], own, labels, space.shape)
                value = np.where(alive, value, draw(st.sampled_from([np.inf, np.nan, -np.inf, 0.0])))
        values[node] = value
        operands.append(node)
    return einsum(operands, mask_labels + factor_labels, output, draw(st.sampled_from([1, -2, 0.5])), float), values


def _alive(mask, mask_labels, labels, space):
    """For which entries of a factor with these labels the mask holds somewhere."""
    grid = np.indices(space, sparse=True)
    holds = np.broadcast_to(mask[tuple([grid[label] for label in mask_labels])], space)
    return holds.any(axis=tuple([axis for axis in range(len(space)) if axis not in labels]))


@pytest.mark.fuzz
@MANY
@given(masked_products())
def test_what_a_mask_switches_off_never_contributes(case):
    node, values = case
    (expected,) = evaluate([node], values)
    assert np.isfinite(expected).all()
    (value,) = run([node], values)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


def test_a_diagonal_of_what_was_taken_is_not_written_to():
    a, k = variable("A", (3, 3), float), variable("k", (3,), int)
    taken = einsum([a, selection(k, 3, float)], [(0, 1), (0, 1)], (0,))
    padded = einsum([a, affine(3, (3,), (1,), -1, float)], [(0, 1), (1, 0)], (0,))
    values = {a: np.arange(9.0).reshape(3, 3), k: np.array([0, 2, 1])}
    for node, expected in ((taken, [0, 5, 7]), (padded, [0, 3, 7])):
        (found,) = run([apply("exp", node)], values)
        np.testing.assert_allclose(found, np.exp(expected))
