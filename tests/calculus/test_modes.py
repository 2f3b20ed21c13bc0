"""Forward, reverse and cross-country mode as such: directions, adjoints, several roots, orders of elimination."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from einsumad.calculus import JacobianGraph, active_nodes, derivative, eliminate, pull, push
from einsumad.execution.reference import evaluate
from einsumad.functions import apply
from einsumad.graph import Einsum, Leaf, Node, add, einsum, leaf, multiply, ones, scale, topological
from einsumad.graph.verify import verify
from einsumad.rewriting import normalise
from tests.calculus.oracle import MODES, jacobians, normal
from tests.jets import directional
from tests.strategies import POLYNOMIAL, Program, affordable, programs

THOUSAND = settings(max_examples=max(500, settings().max_examples))
SEEDS = st.integers(0, 255)


def variable(name: str, *shape: int) -> Leaf:
    return leaf(shape, float, ("variable", name), name)


A, B, x, y = variable("A", 3, 3), variable("B", 3, 3), variable("x", 3), variable("y", 3)


@pytest.mark.fuzz
@THOUSAND
@given(programs(POLYNOMIAL, most_steps=5), SEEDS, st.booleans())
def test_push_along_a_direction_is_the_directional_derivative(program: Program, seed: int, simplify: bool) -> None:
    affordable(topological([program.root]))
    generator = np.random.default_rng(seed)
    tangents = {source: variable(f"d{source.name}", *source.shape) for source in program.sources}
    values = {node: value.astype(int) for node, value in program.values.items()}
    directions = {source: generator.integers(-2, 3, source.shape).astype(object) for source in program.sources}
    expected = directional(program.root, values, directions, 1)[1]
    (pushed,) = push([program.root], tangents)
    if pushed is None:
        assert not np.any(expected)
        return
    verify([pushed])
    assert pushed.shape == program.root.shape
    found = normal(pushed) if simplify else pushed
    affordable(topological([program.root, found]))
    held = values | {tangents[source]: direction for source, direction in directions.items()}
    assert np.array_equal(evaluate([found], held, exact=True)[0], expected)


@pytest.mark.fuzz
@THOUSAND
@given(programs(POLYNOMIAL, most_steps=5), SEEDS)
def test_push_and_pull_are_adjoint(program: Program, seed: int) -> None:
    """``<cotangent, J v> = <pull of the cotangent, v>``, in whole numbers."""
    generator = np.random.default_rng(seed)
    cotangent = variable("cotangent", *program.root.shape)
    tangents = {source: variable(f"d{source.name}", *source.shape) for source in program.sources}
    (pushed,) = push([program.root], tangents)
    pulled = pull({program.root: cotangent}, program.sources)
    assert (pushed is None) == all(node is None for node in pulled)
    if pushed is None:
        return
    kept = [(node, tangents[s]) for node, s in zip(pulled, program.sources, strict=True) if node is not None]
    pairs = normalise([pushed, *[node for node, _ in kept]])
    affordable(topological(pairs))
    values = {node: value.astype(int) for node, value in program.values.items()}
    for node in (cotangent, *tangents.values()):
        values[node] = generator.integers(-2, 3, node.shape)
    moved, *adjoints = evaluate(pairs, values, exact=True)
    left = np.sum(moved * values[cotangent].astype(object))
    right = sum(np.sum(found * values[d].astype(object)) for found, (_, d) in zip(adjoints, kept, strict=True))
    assert left == right


@pytest.mark.fuzz
@settings(max_examples=max(300, settings().max_examples))
@given(programs(POLYNOMIAL, most_steps=5), SEEDS)
def test_every_order_of_elimination_has_the_same_value(program: Program, seed: int) -> None:
    """Three random orders, one chosen vertex by vertex, and the orders of forward and reverse mode."""
    sources = program.sources
    vertices = active_nodes([program.root], sources)
    orders: list[list[Node]] = [vertices, vertices[::-1], []]
    shuffles = [np.random.default_rng(seed + k).permutation(len(vertices)) for k in range(3)]
    orders.extend([[vertices[n] for n in shuffle] for shuffle in shuffles])
    chosen = np.random.default_rng(seed)

    def choose(graph: JacobianGraph, remaining: list[Node]) -> Node:
        assert set(remaining) <= set(graph.vertices)
        return remaining[chosen.integers(len(remaining))]

    found = [derivative(program.root, sources, "cross-country", order) for order in [*orders, choose]]
    found.append(derivative(program.root, sources, "cross-country", choose, normal))
    found.append(derivative(program.root, sources, "reverse"))
    roots = [node for group in found for node in group]
    affordable(topological(roots))
    values = evaluate(roots, {n: v.astype(int) for n, v in program.values.items()}, exact=True)
    for k, value in enumerate(values):
        assert np.array_equal(value, values[k % len(sources)])


@pytest.mark.parametrize("mode", MODES)
def test_several_sources_and_the_root_among_them(mode: str) -> None:
    root = multiply(x, y)
    in_root, in_y = derivative(root, [root, y], mode)
    values = {x: np.array([1.0, 2, 3]), y: np.array([4.0, 5, 6])}
    assert np.array_equal(evaluate([in_root], values)[0], np.eye(3))
    assert np.array_equal(evaluate([in_y], values)[0], np.diag([1.0, 2, 3]))


def test_pull_of_several_roots_adds_up() -> None:
    """Of roots of which one depends on another, each with its own cotangent."""
    inner = multiply(x, x)
    outer = multiply(inner, y)
    first, second = variable("first", 3), variable("second", 3)
    (found,) = pull({inner: first, outer: second}, [x])
    assert found is not None
    expected = add([multiply(first, x, coefficient=2), multiply(second, y, x, coefficient=2)])
    values = {node: np.array([1, 2, 3]) + k for k, node in enumerate((x, y, first, second))}
    assert np.array_equal(*evaluate([found, expected], values, exact=True))


def test_push_of_several_roots_visits_shared_nodes_once() -> None:
    shared = apply("exp", einsum([A, x], [(0, 1), (1,)], (0,)))
    roots = [multiply(shared, y), einsum([shared], [(0,)], ())]
    direction = variable("dx", 3)
    first, second, missing = push([*roots, y], {x: direction})
    assert missing is None
    assert first is not None
    assert second is not None
    contractions = [
        node
        for node in topological([first, second])
        if isinstance(node, Einsum) and direction in node.operands and A in node.operands
    ]
    assert len(contractions) == 1


def test_directions_may_have_further_axes() -> None:
    """Several directions at once, and rows of cotangents."""
    root = einsum([A, x, x], [(0, 1), (1,), (0,)], (0,))
    directions, cotangents = variable("V", 3, 4), variable("W", 2, 3)
    (pushed,) = push([root], {x: directions})
    (pulled,) = pull({root: cotangents}, [x])
    assert pushed is not None
    assert pulled is not None
    assert pushed.shape == (3, 4)
    assert pulled.shape == (2, 3)
    generator = np.random.default_rng(0)
    values = {node: generator.integers(-3, 4, node.shape) for node in (A, x, directions, cotangents)}
    jacobian, moved, back = evaluate([jacobians(root, [x], "reverse")[0], pushed, pulled], values, exact=True)
    assert np.array_equal(moved, jacobian @ values[directions].astype(object))
    assert np.array_equal(back, values[cotangents].astype(object) @ jacobian)


def test_elimination_keeps_the_graph_small() -> None:
    """After it, the only edges left run from the root to the sources."""
    root = einsum([apply("tanh", einsum([A, x], [(0, 1), (1,)], (0,))), B], [(0,), (0, 1)], (1,))
    seen: list[int] = []

    def choose(graph: JacobianGraph, remaining: list[Node]) -> Node:
        seen.append(sum(map(len, graph.into.values())))
        return remaining[0]

    (found,) = eliminate(root, [x], choose)
    assert found is not None
    assert seen == [3, 2]


def test_the_paper_example_is_one_product_in_every_mode() -> None:
    """The Hessian of ``x'Ax`` is ``A + A'`` whatever the mode (Laue, Mitterreiter and Giesen, section 1)."""
    root = einsum([x, A, x], [(0,), (0, 1), (1,)], ())
    for mode in MODES:
        (gradient,) = jacobians(root, [x], mode)
        (hessian,) = jacobians(gradient, [x], mode)
        assert hessian is normal(add([A, einsum([A], [(1, 0)], (0, 1))]))


def test_the_jacobian_graph_adds_contributions_of_one_operand() -> None:
    root = multiply(x, x, scale(2, x), ones((3,), float))
    values = {x: np.array([1, 2, 3])}
    for mode in MODES:
        (found,) = evaluate(jacobians(root, [x], mode), values, exact=True)
        assert np.array_equal(found, np.diag([6, 24, 54]))
