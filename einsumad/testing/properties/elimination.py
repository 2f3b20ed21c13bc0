"""Every order of eliminating the vertices of a traced graph, and plans against the reference interpreter.

Owns these laws. Imports agreement, the calculus, the rewriting and the reference interpreter. Invariant: what is
expected comes from the reference interpreter, which shares no code with plans; at places beside the point all leaves
move, so constants that cancel each other show.

Source: Griewank and Walther, *Evaluating Derivatives*, 2008, chapters 9 and 10: all elimination sequences accumulate
the same Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import permutations
from math import prod

import numpy as np

from einsumad.calculus import Term, active_nodes, as_node, derivative
from einsumad.graph import Node
from einsumad.rewriting import Progress, normalise
from einsumad.testing.point import Array
from einsumad.testing.properties.agreement import Claim, Equation, agree
from einsumad.testing.properties.place import Place
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding
from einsumad.testing.systems.noisy import TooLargeError, moved, noisy_values, refuse_large
from einsumad.testing.systems.own import Graph

ORDERS = "elimination orders"
REFERENCE = "reference interpreter"

_ALL_ORDERS_OF = 5
_RANDOM_ORDERS = 24
_MOST_VERTICES = 40


def elimination_orders(probe: Probe) -> Iterator[Finding]:
    """The Jacobian by every order of elimination if there are at most five vertices, by 24 random orders otherwise."""
    graph: Graph = probe.at.further("graph")
    expected = derivative(graph.root, graph.sources, "reverse")
    versions = list(dict.fromkeys(_versions(probe, graph)))
    roots = [node for version in versions for node in version]
    refuse_large([*roots, *expected])

    def found(place: Place) -> Array:
        values = _evaluated(roots, graph, place)
        step = len(graph.sources)
        return np.stack([_matrix(values[k : k + step], graph) for k in range(0, len(values), step)])

    def reference(place: Place) -> Array:
        matrix = _matrix(_evaluated(expected, graph, place), graph)
        return np.broadcast_to(matrix, (len(versions), *matrix.shape))

    claim = Claim(ORDERS, 1, f"{len(versions)} different expressions", "reverse order, not simplified")
    yield agree(probe, claim, Equation(found, reference, composed=True), _in_version(probe))


def _in_version(probe: Probe) -> Callable[[int], str]:
    locate = probe.entries.of_tensor(1)
    return lambda position: f"{locate(position)} of expression {position // (probe.value.size * probe.size)}"


def _versions(probe: Probe, graph: Graph) -> Iterator[tuple[Node, ...]]:
    """The Jacobians by the orders that are tried, in normal form; the edges of every other order are simplified too."""
    ends = {graph.root, *graph.sources}
    vertices = [node for node in active_nodes([graph.root], graph.sources) if node not in ends]
    if len(vertices) > _MOST_VERTICES:
        raise TooLargeError(f"the graph has {len(vertices)} vertices to eliminate, more than {_MOST_VERTICES}")
    orders: Iterator[Sequence[Node]]
    if len(vertices) <= _ALL_ORDERS_OF:
        orders = permutations(vertices)
    else:
        rng = np.random.default_rng(probe.case.seed)
        orders = ([vertices[k] for k in rng.permutation(len(vertices))] for _ in range(_RANDOM_ORDERS))
    progress = Progress()

    @cache
    def normal_form(node: Node) -> Node:
        return normalise([node], progress)[0]

    def normal(edge: Term) -> Node:
        return normal_form(as_node(edge))

    for number, order in enumerate(orders):
        simplify = normal if number % 2 else as_node
        yield normalise(derivative(graph.root, graph.sources, "cross-country", order, simplify), progress)


def reference_interpreter(probe: Probe) -> Iterator[Finding]:
    """The value and the Jacobian as they are computed, against the traced expressions as they are written."""
    graph: Graph = probe.at.further("graph")
    refuse_large([graph.root])
    value = Equation(
        lambda place: place.value(), lambda place: _evaluated([graph.root], graph, place)[0], composed=True
    )
    yield agree(probe, Claim(REFERENCE, 0, "value", "the traced graph"), value, probe.entries.of_value)
    expressions = derivative(graph.root, graph.sources, "reverse")
    refuse_large(expressions)
    jacobian = Equation(
        lambda place: probe.tensor(place, 1),
        lambda place: _matrix(_evaluated(expressions, graph, place), graph),
        composed=True,
    )
    claim = Claim(REFERENCE, 1, probe.modes[0], "the derivative in reverse mode, not simplified")
    yield agree(probe, claim, jacobian, probe.entries.of_tensor(1))


def _evaluated(roots: Sequence[Node], graph: Graph, place: Place) -> list[Array]:
    """Values by the reference interpreter; beside the point in Monte Carlo arithmetic."""
    values = graph.values
    if place.number:
        values = {leaf: moved(np.asarray(value), place.number) for leaf, value in values.items()}
    return noisy_values(roots, values, place.number)


def _matrix(jacobians: Sequence[Array], graph: Graph) -> Array:
    """Jacobians in several arrays as one matrix."""
    rows = prod(graph.root.shape)
    blocks = [
        np.asarray(jacobian, np.float64).reshape(rows, prod(source.shape))
        for jacobian, source in zip(jacobians, graph.sources, strict=True)
    ]
    return np.concatenate(blocks, axis=1)
