"""Which indices can be gone through, how often, and what is rewritten for it."""

import numpy as np
import pytest

from einsumad.execution import compile_split
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call, general_function, general_names
from einsumad.graph import add, einsum, leaves, ones, scale, unit
from einsumad.planning import cuttable_indices, split_plan, sweeps_through
from einsumad.planning.lengths import length_of_parts, ways
from einsumad.planning.separating import separated
from tests.planning.products import variable

N = 7
a, b = variable("a", (N,), np.float64), variable("b", (N,), np.float64)
X, A = variable("X", (N, 3), np.float64), variable("A", (3, 3), np.float64)
RNG = np.random.default_rng(0)
VALUES = {node: RNG.normal(size=node.shape) for node in (a, b, X, A)}


def total(*factors):
    return einsum(factors, [(0,)] * len(factors), ())


def through(root):
    (way,) = [way for way in ways([root]) if way.index.size == N]
    return way


def same_as_reference(root, way, lengths=(2, 3, 5)):
    (expected,) = evaluate([root], VALUES)
    inputs = leaves([root])
    for length in lengths:
        (found,) = compile_split(split_plan(way, inputs, length))(*[VALUES[node] for node in inputs])
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_two_sums_in_one_product_are_taken_out():
    flat = einsum([a, b, apply("tanh", a), X], [(0,), (0,), (1,), (1, 2)], (2,))
    assert not [index for index in cuttable_indices([flat]) if index.size == N]
    (apart,) = separated([flat])
    assert [index for index in cuttable_indices([apart]) if index.size == N]
    np.testing.assert_allclose(evaluate([apart], VALUES)[0], evaluate([flat], VALUES)[0], rtol=1e-13)
    same_as_reference(flat, through(flat))


def test_a_sum_beside_the_index_is_taken_out():
    flat = einsum([a, apply("tanh", a), b], [(0,), (1,), (1,)], (0,))
    way = through(flat)
    assert len(way.ends) == 2
    same_as_reference(flat, way)


def test_what_two_sums_share_stays_whole():
    square = variable("S", (N, N), np.float64)
    flat = einsum([a, square, b], [(0,), (0, 1), (1,)], ())
    assert separated([flat]) == (flat,)
    joined = einsum([a, a, square], [(0,), (1,), (0, 1)], ())
    assert separated([joined]) == (joined,)
    assert not [index for index in cuttable_indices([joined]) if index.size == N]


def test_labels_of_one_delta_are_one():
    tied = einsum([a, unit(N, 2, np.float64), b], [(0,), (0, 1), (1,)], ())
    assert separated([tied]) == (tied,)
    same_as_reference(tied, through(tied))


def test_factors_that_are_known_later_do_not_wait_for_another_sweep():
    norm = apply("sqrt", total(a, a))
    once = einsum([X, a, apply("reciprocal", norm)], [(0, 1), (0,), ()], (1,))
    way = through(once)
    assert len(way.ends) == 1
    same_as_reference(once, way)
    late = apply("tanh", einsum([a, X], [(0,), (0, 1)], (1,)))
    assert len(through(einsum([X, late, a], [(0, 1), (1,), (0,)], (1,))).ends) == 1
    needed = einsum([X, late], [(0, 1), (1,)], ())  # taking it out would sum three numbers instead of one
    assert len(through(needed).ends) == 2
    same_as_reference(needed, through(needed))


def test_each_sum_that_samples_need_takes_a_sweep():
    node, often = a, 1
    while often <= 8:
        root = total(node, node)
        way = through(root)
        assert len(way.ends) == often
        node = add([node, scale(-0.5, einsum([apply("tanh", root), ones((N,), np.float64)], [(), (0,)], (0,)))])
        often += 1
    same_as_reference(root, way)
    (index,) = cuttable_indices([total(node, node)])
    assert sweeps_through([total(node, node)], index) is None


def test_sums_and_rows_that_one_sweep_gives():
    row = apply("exp", a)
    roots = [row, total(row), apply("exp", scale(0.1, total(row)))]
    (way,) = ways(roots)
    assert [[end.shape for end in ends] for ends in way.ends] == [[(), (N,)]]
    plan = split_plan(way, leaves(roots), 3)
    assert plan.sweeps[0].places == (None, 0)
    assert len(plan.after.outputs) == 1


def test_divisors_that_no_part_changes_stay_divisors():
    """Multiplied out on its own the square of the quotient would overflow."""
    c = variable("c", (), np.float64)
    d = apply("reciprocal", apply("exp", c))
    root = einsum([a, d, d, apply("exp", c)], [(0,), (), (), ()], ())
    inputs = leaves([root])
    plan = compile_split(split_plan(through(root), inputs, 3))
    values = {a: VALUES[a], c: -700.0}
    (found,) = plan(*[np.asarray(values[node]) for node in inputs])
    np.testing.assert_allclose(found, np.sum(VALUES[a]) * np.exp(700.0), rtol=1e-10)


@pytest.mark.parametrize("size", [4, 5, 6, 7, 9, 100, 101, 10**7, 10**7 + 1])
def test_lengths(size):
    for parts in (1, 2, 3, 10, size):
        length = length_of_parts(size, parts)
        if length is not None:
            assert length >= 2
            assert -(-size // length) <= max(parts, 1)
            assert size % length != 1


def _operands(name):
    """Operands of a function, for N items each."""
    size = 4 if name == "solve" else 3
    square = variable("square", (N, size, size), np.float64)
    matrices = {"determinant", "sign_determinant", "logabsdet", "logdet", "inverse", "solve"}
    if name not in matrices:
        return [X]
    return [square, variable("right", (N, size, 2), np.float64)] if name == "solve" else [square]


@pytest.mark.parametrize("name", [name for name in general_names() if general_function(name).item_rank is not None])
def test_functions_of_items_are_cut_between_them(name):
    """Also where two of them are of one operand, for which small matrices have their own code."""
    operands = _operands(name)
    node = call(name, *operands)
    rank = len(node.shape)
    root = einsum([node, call(name, *operands), a], [tuple(range(rank)), tuple(range(rank)), (0,)], (0,))
    values = {leaf: np.random.default_rng(1).normal(size=leaf.shape) for leaf in leaves([root])}
    if node.operands[0] is not X:  # positive definite, so that all of them have a value
        square = values[operands[0]]
        values[operands[0]] = square @ square.swapaxes(1, 2) + np.eye(square.shape[-1])
    inputs = leaves([root])
    for roots in ([root], [einsum([root], [(0,)], ())], [node]):
        (way,) = [way for way in ways(roots) if way.index.size == N]
        expected = evaluate(roots, values)
        for length in (2, 3, 5):
            read = [leaf for leaf in inputs if leaf in leaves(roots)]
            found = compile_split(split_plan(way, read, length))(*[values[leaf] for leaf in read])
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


def test_functions_of_constants_for_each_item_stay_whole():
    rows = call("solve", ones((N, 1, 1), np.float64), variable("right", (N, 1, 2), np.float64))
    assert not [index for index in cuttable_indices([rows]) if index.size == N]


def test_only_what_has_the_index_is_cut():
    way = through(einsum([X, A, X], [(0, 1), (1, 2), (0, 2)], (0,)))
    plan = split_plan(way, [A, X], 3)
    assert plan.sweeps[0].reads == ((0, None), (1, 0))
    assert [leaf.shape for leaf in plan.sweeps[0].part.inputs] == [(3, 3), (3, 3)]
    assert [leaf.shape for leaf in plan.sweeps[0].rest.inputs] == [(3, 3), (1, 3)]
