"""Affine tensors and selections: every law against dense 0/1 tensors, at the bounds and beyond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.graph import Affine, Einsum, Ones, Selection, Unit, Zero, affine, einsum, leaf, ones, selection
from einsumad.graph.verify import verify
from einsumad.rewriting.affine import contract_structural, orient_affine
from tests.graph.dense import dense

_SIZES = st.integers(1, 5)
_STRIDES = st.integers(-3, 3)
_OFFSETS = st.integers(-5, 6)
_INDEX = leaf((4,), np.int64, ("variable", "index"), "index")


def contracted(node, values=None):
    """All contractions and orientations one after the other, each checked against the dense value."""
    expected = dense(node, values)
    steps = 0
    while True:
        following = contract_structural(node) if isinstance(node, Einsum) else None
        if following is None:
            following = orient_affine(node) if isinstance(node, Einsum) else None
        if following is None:
            return node, steps
        steps += 1
        assert steps < 50, "the rules do not come to an end"
        verify([following])
        assert (following.shape, following.dtype) == (node.shape, node.dtype)
        np.testing.assert_array_equal(dense(following, values), expected)
        node = following


@st.composite
def chains(draw):
    """A product of affine tensors over a few labels, some of them summed, each label of one size."""
    sizes = [draw(_SIZES) for _ in range(4)]
    operands, inputs = [], []
    for _ in range(draw(st.integers(1, 3))):
        labels = draw(st.lists(st.integers(0, 3), min_size=2, max_size=3))
        strides = [draw(_STRIDES) for _ in labels[1:]]
        operands.append(affine(sizes[labels[0]], [sizes[k] for k in labels[1:]], strides, draw(_OFFSETS), float))
        inputs.append(tuple(labels))
    if draw(st.booleans()):
        label = draw(st.sampled_from(inputs))[0]
        operands.append(ones((sizes[label],), float))
        inputs.append((label,))
    met = sorted({label for labels in inputs for label in labels})
    output = draw(st.permutations(met))[: draw(st.integers(0, len(met)))]
    return einsum(operands, inputs, output, draw(st.sampled_from([1, 2, -0.5])))


@settings(max_examples=max(600, settings().max_examples))
@given(chains())
def test_every_step_keeps_the_dense_value(node):
    contracted(node)


@settings(max_examples=max(300, settings().max_examples))
@given(st.tuples(_SIZES, _SIZES, _SIZES), st.tuples(_STRIDES, _STRIDES), st.tuples(_OFFSETS, _OFFSETS))
def test_two_maps_compose_where_nothing_leaves_the_middle(sizes, strides, offsets):
    (n, k, m), (p, q), (a, b) = sizes, strides, offsets
    outer, inner = affine(n, [k], [p], a, float), affine(k, [m], [q], b, float)
    node, _ = contracted(einsum([outer, inner], [(0, 1), (1, 2)], (0, 2)))
    images = {b + q * j for j in range(m)}
    if isinstance(outer, Affine) and isinstance(inner, Affine) and images <= set(range(k)) and n > 1:
        assert len(node.operands) == 1


def test_composition_that_would_forget_the_middle_bounds_is_left_alone():
    shift_out = affine(4, [4], [1], 1, float)
    shift_back = affine(4, [4], [1], -1, float)
    node = einsum([shift_out, shift_back], [(0, 1), (1, 2)], (0, 2))
    assert contract_structural(node) is None
    assert not np.array_equal(dense(node), np.eye(4))


def test_slices_of_slices_are_slices():
    outer, inner = affine(20, [6], [3], 2, float), affine(6, [2], [2], 1, float)
    node = contract_structural(einsum([outer, inner], [(0, 1), (1, 2)], (0, 2)))
    assert node is einsum([affine(20, [2], [6], 5, float)], [(0, 1)], (0, 1))


def test_a_flip_flipped_is_the_unit():
    flip = affine(5, [5], [-1], 4, float)
    node = contract_structural(einsum([flip, flip], [(0, 1), (1, 2)], (0, 2)))
    assert node is einsum([einsum_unit(5)], [(0, 1)], (0, 1))


def einsum_unit(size):
    unit = affine(size, [size], [1], 0, float)
    assert isinstance(unit, Unit)
    return unit


def test_a_slice_and_its_transpose_over_the_long_axis_are_the_unit():
    piece = affine(9, [3], [2], 1, float)
    node = contract_structural(einsum([piece, piece], [(0, 1), (0, 2)], (1, 2)))
    assert node is einsum([einsum_unit(3)], [(0, 1)], (0, 1))


def test_disjoint_slices_are_zero():
    even, odd = affine(10, [5], [2], 0, float), affine(10, [5], [2], 1, float)
    node = contract_structural(einsum([even, odd], [(0, 1), (0, 2)], (1, 2)))
    assert [type(operand) for operand in node.operands] == [Zero]


def test_ones_under_a_map_inside_the_bounds_are_ones():
    node = contract_structural(einsum([ones((9,), float), affine(9, [3], [2], 1, float)], [(0,), (0, 1)], (1,)))
    assert all(isinstance(operand, Ones) for operand in node.operands)
    outside = einsum([ones((5,), float), affine(5, [3], [2], 1, float)], [(0,), (0, 1)], (1,))
    assert contract_structural(outside) is not None or dense(outside).min() == 0


@pytest.mark.parametrize(("n", "m", "step", "offset"), [(3, 9, 1, -4), (4, 9, -1, 6), (1, 5, 1, -2), (1, 6, 2, -4)])
def test_the_long_axis_of_a_one_to_one_map_becomes_the_in_axis(n, m, step, offset):
    mapped = affine(n, [m], [step], offset, float)
    node = einsum([mapped], [(0, 1)], (0, 1))
    turned = orient_affine(node)
    assert turned.operands[0].shape == (m, n)
    np.testing.assert_array_equal(dense(turned), dense(node))
    assert orient_affine(turned) is None


def test_both_spellings_of_a_shift_are_one_node():
    up, down = affine(5, [5], [1], 2, float), affine(5, [5], [1], -2, float)
    written = {
        orient_affine(node) or node for node in (einsum([up], [(0, 1)], (0, 1)), einsum([down], [(1, 0)], (0, 1)))
    }
    assert len(written) == 1


@settings(max_examples=max(200, settings().max_examples))
@given(st.tuples(_SIZES, _SIZES), st.booleans(), st.tuples(_STRIDES, _OFFSETS), st.data())
def test_selections_against_maps(sizes, against_out, mapping, data):
    (size, other), (step, offset) = sizes, mapping
    shape = (other, size) if against_out else (size, other)
    mapped = affine(shape[0], [shape[1]], [step], offset, float)
    picked = selection(_INDEX, size, float)
    values = {_INDEX: np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=4, max_size=4)))}
    labels = (2, 1) if against_out else (1, 2)
    contracted(einsum([picked, mapped], [(0, 1), labels], (0, 2)), values)


def test_a_flipped_selection_selects_flipped_indices():
    node = einsum([selection(_INDEX, 6, float), affine(6, [6], [-1], 5, float)], [(0, 1), (1, 2)], (0, 2))
    found = contract_structural(node)
    assert [type(operand) for operand in found.operands] == [Selection]
    values = {_INDEX: np.array([0, 5, 2, 2])}
    np.testing.assert_array_equal(dense(found, values), dense(node, values))


def test_rows_of_a_selection_sum_to_one():
    node = contract_structural(einsum([selection(_INDEX, 6, float)], [(0, 1)], (0,)))
    assert [type(operand) for operand in node.operands] == [Ones]


@settings(max_examples=max(100, settings().max_examples))
@given(st.tuples(_SIZES, _SIZES), st.booleans(), st.data())
def test_a_selection_of_a_selection_is_one_selection(sizes, square, data):
    """``Σ_k [k = u[r]] [m = v[k]] = [m = v[u[r]]]``, also where v has further axes or shares the axis of u."""
    size, other = sizes
    inner = leaf((size, 4) if square else (size,), int, ("variable", "v"), "v")
    first, second = selection(_INDEX, size, float), selection(inner, other, float)
    entries = st.lists(st.integers(0, other - 1), min_size=4 * size, max_size=4 * size)
    values = {
        _INDEX: np.array(data.draw(st.lists(st.integers(0, size - 1), min_size=4, max_size=4))),
        inner: np.array(data.draw(entries))[: 4 * size if square else size].reshape(inner.shape),
    }
    shared = data.draw(st.booleans()) if square else False
    labels = (1, 0 if shared else 3, 2) if square else (1, 2)
    output = (0, 2) if shared or not square else (0, 3, 2)
    node = einsum([first, second], [(0, 1), labels], output)
    found = contract_structural(node)
    assert [type(operand) for operand in found.operands] == [Selection]
    np.testing.assert_array_equal(dense(found, values), dense(node, values))


def test_columns_of_a_selection_and_equal_selections_are_left_alone():
    picked = selection(_INDEX, 6, float)
    assert contract_structural(einsum([picked], [(0, 1)], (1,))) is None
    assert contract_structural(einsum([picked, picked], [(0, 1), (2, 1)], (0, 2))) is None
