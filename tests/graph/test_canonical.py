"""The same product is the same node, whatever the letters and the order of operands."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.graph import Unit, add, einsum, leaf, multiply, ones, rebuild, total, unit
from einsumad.graph.verify import verify
from tests.effort import calls
from tests.graph.build import symbol
from tests.graph.dense import dense

_SIZE = 2


@st.composite
def products(draw):
    """Operands (often the same node twice), labels of one size, output labels."""
    pool = [symbol(f"T{rank}", *[_SIZE] * rank) for rank in range(4)] + [
        unit(_SIZE, 2, float),
        symbol("S", 2, 2),
    ]
    operands = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6))
    inputs = [tuple(draw(st.integers(0, 5)) for _ in operand.shape) for operand in operands]
    met = sorted({label for labels in inputs for label in labels})
    output = draw(st.permutations(met))[: draw(st.integers(0, len(met)))]
    return operands, inputs, tuple(output)


@settings(max_examples=max(500, settings().max_examples))
@given(products(), st.data())
def test_letters_and_order_of_operands_play_no_part(written, data):
    operands, inputs, output = written
    node = einsum(operands, inputs, output, 3)
    letters = data.draw(st.permutations(range(-7, 13)))
    order = data.draw(st.permutations(range(len(operands))))
    renamed = [tuple(letters[label] for label in inputs[k]) for k in order]
    again = einsum([operands[k] for k in order], renamed, [letters[label] for label in output], 3)
    assert again is node
    verify([node])


@settings(max_examples=max(200, settings().max_examples))
@given(st.integers(2, 9), st.data())
def test_letters_play_no_part_where_equal_factors_are_told_apart_by_what_they_lead_to(length, data):
    """Chains of the same matrices from two axes of the result, as in Hessians of networks; some matrices repeat."""
    kinds = data.draw(st.lists(st.integers(0, 5), min_size=length, max_size=length))
    operands, inputs, size = [symbol("X", 2, 2)] * 2, [(0, 1), (0, 2)], 3
    ends = [1, 2]
    for kind in kinds:
        for side in (0, 1):
            operands += [symbol(f"W{kind}", 2, 2), symbol(f"m{kind}", 2, 2)]
            inputs += [(ends[side], size), (0, size)]
            ends[side], size = size, size + 1
    output = data.draw(st.sampled_from([ends, [0, *ends], [0], [], [1, 2, *ends]]))
    node = einsum(operands, inputs, output)
    letters = data.draw(st.permutations(range(size)))
    order = data.draw(st.permutations(range(len(operands))))
    renamed = [tuple(letters[label] for label in inputs[k]) for k in order]
    assert einsum([operands[k] for k in order], renamed, [letters[label] for label in output]) is node
    verify([node])


@settings(max_examples=max(150, settings().max_examples))
@given(products())
def test_the_canonical_form_has_the_value_that_was_written(written):
    operands, inputs, output = written
    node = einsum(operands, inputs, output, 3)
    generator = np.random.default_rng(0)
    values = {o: generator.integers(-3, 4, o.shape).astype(float) for o in dict.fromkeys(operands) if not o.operands}
    arguments = []
    for operand, labels in zip(operands, inputs, strict=True):
        arguments += [dense(operand, values), list(labels)]
    np.testing.assert_array_equal(dense(node, values), 3 * np.einsum(*arguments, list(output)))


@settings(max_examples=max(500, settings().max_examples))
@given(products(), st.data())
def test_a_product_of_other_operands_is_the_one_that_is_written_anew(written, data):
    """Whether they keep their order, as leaves of later names do, or change it, and where two become one."""
    operands, inputs, output = written
    node = einsum(operands, inputs, output, 3)
    names = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=6, max_size=6))
    others = {
        leaf: symbol(f"{names[k]}{len(leaf.shape)}", *leaf.shape)
        for k, leaf in enumerate(dict.fromkeys(o for o in node.operands if not isinstance(o, Unit)))
    }
    replaced = [others.get(operand, operand) for operand in node.operands]
    again = rebuild(node, replaced)
    assert again is einsum(replaced, node.inputs, range(len(node.shape)), 3)
    verify([again])


@given(st.permutations(range(5)))
def test_the_order_of_a_sum_plays_no_part(order):
    terms = [symbol(f"t{k % 4}", 3) for k in range(5)]
    assert add([terms[k] for k in order]) is add(terms)


def test_products_that_are_not_the_same_are_different_nodes():
    matrix = symbol("T2", 2, 2)
    forms = [
        einsum([matrix, matrix], [(0, 1), (1, 2)], (0, 2)),
        einsum([matrix, matrix], [(0, 1), (1, 2)], (2, 0)),
        einsum([matrix, matrix], [(0, 1), (2, 1)], (0, 2)),
        einsum([matrix, matrix], [(1, 0), (1, 2)], (0, 2)),
        einsum([matrix, matrix], [(0, 1), (0, 1)], (0, 1)),
        einsum([matrix, matrix], [(0, 1), (1, 0)], (0, 1)),
        einsum([matrix, matrix], [(0, 1), (0, 1)], ()),
        einsum([matrix, matrix], [(0, 1), (1, 0)], ()),
        einsum([matrix, matrix], [(0, 0), (1, 1)], ()),
    ]
    assert len(set(forms)) == len(forms)


def test_a_symmetric_product_is_symmetric_as_a_node():
    matrix = symbol("X", 5, 3)
    gram = einsum([matrix, matrix], [(0, 1), (0, 2)], (1, 2))
    assert gram is einsum([matrix, matrix], [(0, 1), (0, 2)], (2, 1))


def test_interchangeable_operands_cost_no_search():
    vector, matrix = symbol("x", 3), symbol("M", 3, 3)
    assert calls(lambda: multiply(*[vector] * 60)) < 5_000
    assert calls(lambda: einsum([matrix] * 40, [(0, k) for k in range(1, 41)], range(41))) < 5_000


def test_chains_of_equal_matrices_take_time_in_proportion_to_their_length():
    matrix = symbol("W", 2, 2)

    def two_chains(length):
        first = [(k, k + 1) for k in range(length)]
        second = [(length + 1 + k, length + 2 + k) for k in range(length)]
        return lambda: einsum([matrix] * 2 * length, [*first, *second], [0, length + 1])

    assert calls(two_chains(400)) < 5 * calls(two_chains(100))


def test_past_the_search_bound_the_form_is_legal_and_repeatable():
    matrix = symbol("M", 2, 2)
    loops = [(k, k + 1 if k % 3 < 2 else k - 2) for k in range(24)]
    first = einsum([matrix] * 24, loops, ())
    assert einsum([matrix] * 24, loops, ()) is first
    verify([first])


def test_numbers_are_ordered_even_when_they_are_not_comparable():
    numbers = [leaf((), float, ("number", value)) for value in (2.5, float("nan"), float("-inf"), 3, 1e300)]
    products = {multiply(*numbers), multiply(*reversed(numbers)), multiply(*numbers[2:], *numbers[:2])}
    assert len(products) == 1
    assert total(*numbers) is total(*reversed(numbers))
    verify(products)


def test_ones_are_factors_like_others():
    vector = symbol("x", 3)
    spread = einsum([vector, ones((4,), float)], [(7,), (2,)], (2, 7))
    assert spread.shape == (4, 3)
    assert spread is einsum([ones((4,), float), vector], [(0,), (1,)], (0, 1))
