"""The local Jacobian of every node kind, against differences that are exact for what is linear in one operand slot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.calculus import identity, is_active, local_jacobian
from einsumad.errors import DifferentiationError
from einsumad.execution.reference import evaluate
from einsumad.functions import apply, call
from einsumad.graph import (
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Ones,
    Selection,
    Structural,
    Unit,
    Zero,
    add,
    affine,
    einsum,
    leaf,
    nodes,
    ones,
    selection,
    topological,
    unit,
    zero,
)
from einsumad.graph.verify import verify
from tests.calculus.oracle import jacobian_by_differences
from tests.strategies import POLYNOMIAL, Program, affordable, programs


def variable(name: str, *shape: int, dtype: object = float) -> Leaf:
    return leaf(shape, dtype, ("variable", name), name)


x, y, s = variable("x", 3), variable("y", 3), variable("s")
A, B = variable("A", 3, 3), variable("B", 3, 3)
index = variable("i", 2, dtype=np.int64)

WITH_RULE: dict[type[Node], list[Node]] = {
    Einsum: [
        einsum([A, x], [(0, 1), (1,)], (0,), 2),
        einsum([A], [(0, 0)], (0,)),
        einsum([A], [(0, 0)], ()),
        einsum([A], [(0, 1)], (1, 0), -0.5),
        einsum([A], [(0, 1)], (1,)),
        einsum([A, s, unit(3, 2, float)], [(0, 1), (), (1, 2)], (0, 2)),
        einsum([x, unit(3, 3, float)], [(0,), (0, 1, 2)], (0, 1, 2)),
        einsum([x, affine(3, (2,), (1,), 1, float)], [(0,), (0, 1)], (1,)),
        einsum([x, selection(index, 3, float)], [(1,), (0, 1)], (0,)),
        einsum([x, ones((2,), float)], [(0,), (1,)], (1, 0)),
        einsum([apply("greater", x, y), x, B], [(0,), (0,), (0, 1)], (1,)),
    ],
    Add: [add([x, y]), add([A, B, einsum([A], [(0, 1)], (1, 0))])],
    Elementwise: [apply("sin", x), apply("power_xy", apply("exp", x), y)],
    General: [call("inverse", A), call("solve", A, B), call("product", A), call("logsumexp", A)],
}
WITHOUT_RULE: dict[type[Node], Node] = {
    Leaf: x,
    Unit: unit(3, 2, float),
    Ones: ones((3,), float),
    Zero: zero((3,), float),
    Affine: affine(3, (2,), (1,), 1, float),
    Selection: selection(index, 3, float),
}


def kinds() -> set[type[Node]]:
    """The closed set: what the module of node kinds defines, without the two that are no kind of their own."""
    found = {kind for kind in vars(nodes).values() if isinstance(kind, type) and issubclass(kind, Node)}
    return found - {Node, Structural}


def test_every_node_kind_is_covered() -> None:
    assert set(WITH_RULE) | set(WITHOUT_RULE) == kinds()
    assert all(isinstance(node, kind) for kind, held in WITH_RULE.items() for node in held)
    assert all(type(node) is kind for kind, node in WITHOUT_RULE.items())


@pytest.mark.parametrize("kind", WITHOUT_RULE, ids=lambda kind: kind.__name__)
def test_what_has_no_rule_raises(kind: type[Node]) -> None:
    with pytest.raises(DifferentiationError, match=kind.__name__):
        local_jacobian(WITHOUT_RULE[kind], 0)


def cases() -> list[tuple[Node, int]]:
    return [
        (node, k) for held in WITH_RULE.values() for node in held for k, o in enumerate(node.operands) if is_active(o)
    ]


def with_fresh_operands(node: Node) -> tuple[Node, list[Node]]:
    """The same node over one leaf for each active operand slot."""
    slots = [
        variable(f"slot{k}", *o.shape) if is_active(o) and not isinstance(o, Structural) else o
        for k, o in enumerate(node.operands)
    ]
    match node:
        case Einsum():
            return einsum(slots, node.inputs, range(len(node.shape)), node.coefficient, node.dtype), slots
        case Add():
            return add(slots, node.dtype), slots
        case Elementwise():
            return apply(node.function, *slots, params=node.params), slots
        case General():
            return call(node.function, *slots, params=node.params), slots
    raise AssertionError(type(node))


@pytest.mark.parametrize(("node", "position"), cases(), ids=lambda part: type(part).__name__)
def test_local_jacobian_is_the_derivative_in_one_slot(node: Node, position: int) -> None:
    root, slots = with_fresh_operands(node)
    source = slots[position]
    if not isinstance(source, Leaf):
        return
    generator = np.random.default_rng(position)
    values = {
        held: np.array([2, 0])
        if held is index
        else generator.uniform(0.5, 1, held.shape) + np.eye(*held.shape[-2:])
        if len(held.shape) == 2
        else generator.uniform(0.5, 1, held.shape)
        for held in topological([root])
        if isinstance(held, Leaf) and held is not index
    }
    values[index] = np.array([2, 0])
    terms = [term for k, o in enumerate(root.operands) if o is source for term in local_jacobian(root, k)]
    verify(terms)
    for term in terms:
        assert term.shape == root.shape + source.shape
        assert term.dtype == root.dtype
    found = sum(evaluate(terms, values))
    np.testing.assert_allclose(found, jacobian_by_differences(root, source, values), rtol=0, atol=1e-8)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 2), (0,), (2, 0)])
def test_identity(shape: tuple[int, ...]) -> None:
    node = identity(shape, np.dtype(np.float32))
    verify([node])
    size = int(np.prod(shape))
    assert node.dtype == np.float32
    np.testing.assert_array_equal(evaluate([node], {})[0], np.eye(size).reshape(shape + shape))


@pytest.mark.fuzz
@settings(max_examples=max(500, settings().max_examples))
@given(programs(POLYNOMIAL, most_steps=4), st.integers(0, 255))
def test_products_are_linear_in_each_slot(program: Program, seed: int) -> None:
    """In whole numbers: ``C(A + V) - C(A) = J V`` for every product of the graph and every slot."""
    generator = np.random.default_rng(seed)
    for node in topological([program.root]):
        if not isinstance(node, Einsum):
            continue
        for position, operand in enumerate(node.operands):
            if not is_active(operand) or isinstance(operand, Structural):
                continue
            (term,) = local_jacobian(node, position)
            affordable([node, term])
            slot = variable("slot", *operand.shape)
            held = [slot if k == position else other for k, other in enumerate(node.operands)]
            moved = einsum(held, node.inputs, range(len(node.shape)), node.coefficient, node.dtype)
            values = {n: v.astype(int) for n, v in program.values.items()}
            (base,) = evaluate([operand], values, exact=True)
            step = generator.integers(-2, 3, operand.shape).astype(object)
            before, after = (evaluate([moved], {**values, slot: at}, exact=True)[0] for at in (base, base + step))
            (jacobian,) = evaluate([term], values, exact=True)
            found = np.tensordot(jacobian, step, step.ndim) if step.ndim else jacobian * step
            assert np.array_equal(np.asarray(after - before, object), np.asarray(found, object))
