"""The normal form on random graphs: its value, its invariants, and that it is one."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.execution.reference import evaluate
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Node,
    Ones,
    Unit,
    Zero,
    count_users,
    einsum,
    product_dtype,
    topological,
)
from einsumad.graph.verify import verify
from einsumad.rewriting import Progress, normal_product, normalise, product_of
from einsumad.rewriting.flatten import MOST_TERMS, is_layout
from einsumad.rewriting.rules import MOST_OPERANDS
from einsumad.rewriting.sums import split_coefficient
from tests.rewriting.examples import EXAMPLES, MORE
from tests.strategies import ANY, POLYNOMIAL, Program, affordable, away_from_jumps, largest, programs

MANY = settings(max_examples=max(400, settings().max_examples))
HUNDREDS = settings(max_examples=max(300, settings().max_examples))


def check_invariants(roots: tuple[Node, ...]) -> None:
    users = Counter(count_users(roots))
    for node in topological(roots):
        if isinstance(node, Einsum):
            check_product(node, users)
        elif isinstance(node, Add):
            check_sum(node, users)


def check_product(node: Einsum, users: Counter[Node]) -> None:
    rank = len(node.shape)
    pairs = list(zip(node.operands, node.inputs, strict=True))
    assert node.coefficient != 0
    assert not any(isinstance(operand, Zero) for operand in node.operands)
    for operand, labels in pairs:
        if isinstance(operand, Unit):
            assert all(label < rank for label in labels), "a delta that a renaming would remove"
            assert operand.shape[0] > 1
    held = [labels for operand, labels in pairs if isinstance(operand, Ones)]
    others = set(chain(*(labels for operand, labels in pairs if not isinstance(operand, Ones))))
    assert len(held) <= 1
    for labels in held:
        assert len(set(labels)) == len(labels)
        assert all(label < rank and label not in others for label in labels)
        assert labels or len(pairs) == 1
    masks = [pair for pair in pairs if pair[0].dtype == BOOL and node.dtype != BOOL]
    assert len(set(masks)) == len(masks)
    plain = node.coefficient == 1 and len(pairs) == 1 and pairs[0][1] == tuple(range(rank))
    assert not (plain and pairs[0][0].dtype == node.dtype), "a product that is its operand"
    for operand in node.operands:
        if isinstance(operand, Einsum) and operand.dtype == node.dtype:
            full = len(node.operands) + len(operand.operands) - 1 > MOST_OPERANDS
            assert not is_layout(operand)
            assert full or users[operand] > 1, "a product that stands in one product only"
            assert not any(isinstance(inner, (Unit, Ones)) for inner in operand.operands)


def check_sum(node: Add, users: Counter[Node]) -> None:
    assert len(node.operands) > 1
    assert not any(isinstance(term, Zero) for term in node.operands)
    bodies = [split_coefficient(term)[1] for term in node.operands]
    assert len(set(bodies)) == len(bodies), "terms that differ by their number only"
    for term in node.operands:
        if isinstance(term, Add) and term.dtype == node.dtype:
            full = len(node.operands) + len(term.operands) - 1 > MOST_TERMS
            assert full or users[term] > 1, "a sum that stands in one sum only"


def normal(program: Program) -> Node:
    """The normal form, checked for everything but its value."""
    (found,) = normalise([program.root])
    verify([found])
    assert (found.shape, found.dtype) == (program.root.shape, program.root.dtype)
    check_invariants((found,))
    assert normalise([found]) == (found,)
    return found


@pytest.mark.fuzz
@MANY
@given(programs(POLYNOMIAL, most_rank=3))
def test_polynomials_keep_their_value_exactly(program: Program) -> None:
    found = normal(program)
    affordable(topological([program.root, found]))
    values = {node: value.astype(int) for node, value in program.values.items()}
    before, after = evaluate([program.root, found], values, exact=True)
    assert np.array_equal(before, after)


@pytest.mark.fuzz
@MANY
@given(programs(ANY, most_rank=3))
def test_values_are_kept(program: Program) -> None:
    check_value(program, 1e-10)


@pytest.mark.fuzz
@HUNDREDS
@given(programs(ANY, np.float32))
def test_values_are_kept_in_single_precision(program: Program) -> None:
    check_value(program, 1e-3)


def check_value(program: Program, tolerance: float) -> None:
    found = normal(program)
    nodes = topological([program.root, found])
    affordable(nodes)
    values = dict(zip(nodes, evaluate(nodes, program.values), strict=True))
    away_from_jumps(values)
    before, after = values[program.root], values[found]
    assert after.dtype == before.dtype
    where = np.isfinite(before)
    error = np.abs(np.where(where, after, 0) - np.where(where, before, 0))
    assert np.all(error <= tolerance * largest(values.values()))


@pytest.mark.parametrize("name", [*EXAMPLES, *MORE])
def test_invariants_hold_on_the_examples(name: str) -> None:
    check_invariants(normalise([{**EXAMPLES, **MORE}[name]]))


@pytest.mark.fuzz
@HUNDREDS
@given(programs(ANY), programs(ANY))
def test_roots_are_normalised_together_as_they_are_alone(first: Program, second: Program) -> None:
    """Of two graphs that share leaves only: what is shared otherwise stays shared."""
    together = normalise([first.root, second.root, first.root])
    assert together[0] is together[2]
    check_invariants(together)
    assert normalise(together) == together


@pytest.mark.fuzz
@HUNDREDS
@given(programs(ANY))
def test_the_same_rules_fire_every_time(program: Program) -> None:
    first, second = Progress(), Progress()
    assert normalise([program.root], first) == normalise([program.root], second)
    assert list(first.fired.items()) == list(second.fired.items())


@pytest.mark.fuzz
@HUNDREDS
@given(programs(ANY), programs(ANY))
def test_what_was_tried_before_changes_no_normal_form(first: Program, second: Program) -> None:
    """With the progress of other graphs, in which nodes had more users or fewer, the result is the same."""
    progress = Progress()
    normalise([first.root, first.root], progress)
    normalise([second.root], progress)
    for roots in ([first.root], [first.root, second.root], [second.root, second.root, first.root]):
        assert normalise(roots, progress) == normalise(roots)


@HUNDREDS
@given(programs(POLYNOMIAL), st.data())
def test_a_product_that_is_no_node_yet_has_the_normal_form_of_the_node(program: Program, data: st.DataObject):
    """Of two nodes in normal form over some of their axes; what lies below one of them may be settled."""
    nodes = normalise([program.root, *[node for node in topological([program.root]) if node.dtype.kind == "f"]])
    left, right = (data.draw(st.sampled_from([node for node in nodes if node.dtype.kind == "f"])) for _ in range(2))
    rank = len(left.shape)
    places = [[k for k, size in enumerate(left.shape) if size == other] for other in right.shape]
    inputs = [range(rank), [data.draw(st.sampled_from([*same, rank + axis])) for axis, same in enumerate(places)]]
    output = [label for label in {*inputs[0], *inputs[1]} if data.draw(st.booleans())]
    settled = frozenset(topological([left])) if data.draw(st.booleans()) else frozenset[Node]()
    work = product_of([left, right], inputs, output, 3, product_dtype([left, right]))
    node = einsum([left, right], inputs, output, 3)
    found = normal_product(work, Progress(), settled)
    assert found is normalise([node], None, settled)[0]
    verify([found])
