"""Cross-country mode: vertices of the graph eliminated one by one, in any order.

Owns vertex elimination. Imports the rules and the chain rule. Invariant: after each elimination the remaining graph has
the same derivative; every order gives the same value. Forward and reverse mode are two of the orders.
Source: Griewank and Walther, *Evaluating Derivatives*, chapter 9; Laue et al., AAAI 2020, section 3.3 (cross-country).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TypeAlias

from einsumad.calculus.chain import accumulate, chained
from einsumad.calculus.local import Term, as_node, local_terms
from einsumad.calculus.modes import active_nodes
from einsumad.graph import Node
from einsumad.records import record

Simplify: TypeAlias = Callable[[Term], Node]
"""Makes an edge of a node, or of a product that is none yet."""


@record(frozen=False, eq=True, repr=True)
class JacobianGraph:
    """The graph whose edges carry Jacobians: ``into[w][v]`` and ``out_of[v][w]`` hold that of w with respect to v."""

    vertices: list[Node]
    into: dict[Node, dict[Node, Node]] = field(default_factory=dict)
    out_of: dict[Node, dict[Node, Node]] = field(default_factory=dict)

    def connect(self, user: Node, operand: Node, terms: list[Term], simplify: Simplify) -> None:
        """Add a contribution to the edge from `operand` to `user`."""
        before = self.into.setdefault(user, {}).get(operand)
        if before is not None:
            terms = [before, *terms]
        edge = simplify(terms[0] if len(terms) == 1 else accumulate([as_node(term) for term in terms]))
        self.into[user][operand] = edge
        self.out_of.setdefault(operand, {})[user] = edge

    def eliminate(self, vertex: Node, simplify: Simplify) -> None:
        """Replace every path through the vertex by an edge past it."""
        outgoing, incoming = self.out_of.pop(vertex, {}), self.into.pop(vertex, {})
        for user, left in outgoing.items():
            for operand, right in incoming.items():
                self.connect(user, operand, [chained(left, right, len(vertex.shape))], simplify)
        for user in outgoing:
            del self.into[user][vertex]
        for operand in incoming:
            del self.out_of[operand][vertex]


Choice: TypeAlias = Callable[[JacobianGraph, Sequence[Node]], Node]


def jacobian_graph(root: Node, sources: Sequence[Node], simplify: Simplify) -> JacobianGraph:
    """The graph of local Jacobians between the sources and the root."""
    path = active_nodes([root], sources)
    on_path = set(path)
    graph = JacobianGraph(path)
    for node in path:
        by_operand: dict[Node, list[Term]] = {}
        for position, operand in enumerate(node.operands):
            if operand in on_path:
                by_operand.setdefault(operand, []).extend(local_terms(node, position))
        for operand, terms in by_operand.items():
            if terms:
                graph.connect(node, operand, terms, simplify)
    return graph


def eliminate(
    root: Node, sources: Sequence[Node], order: Iterable[Node] | Choice, simplify: Simplify = as_node
) -> tuple[Node | None, ...]:
    """The Jacobians of the root with respect to the sources by eliminating all other vertices in the order given.

    `order` lists vertices (those it leaves out follow in reverse order) or chooses the next one from the graph that is
    left. `simplify` is applied to every edge. None where the root does not depend on a source.
    """
    graph = jacobian_graph(root, sources, simplify)
    ends = {root, *sources}
    remaining = [vertex for vertex in graph.vertices if vertex not in ends]
    if callable(order):
        while remaining:
            vertex = order(graph, remaining)
            remaining.remove(vertex)
            graph.eliminate(vertex, simplify)
    else:
        known = set(remaining)
        for vertex in dict.fromkeys([v for v in order if v in known] + remaining[::-1]):
            graph.eliminate(vertex, simplify)
    edges = graph.into.get(root, {})
    return tuple([edges.get(source) for source in sources])
