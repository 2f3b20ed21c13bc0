"""The choice of the order in which Jacobians are multiplied.

Owns the candidates and the choice. Imports calculus, rewriting and the cost of a plan. Invariant: all candidates have
the same value; the choice depends on structure and sizes only, so it is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal, TypeAlias

from einsumad.calculus import Factors, JacobianGraph, Mode, Simplify, Term, active_nodes, derivative
from einsumad.graph import Einsum, Node, Unit, topological
from einsumad.planning.contraction import binarise
from einsumad.planning.cost import Cost, total_cost
from einsumad.planning.distribution import distribute
from einsumad.planning.expansion import expand
from einsumad.planning.held import products_held
from einsumad.planning.options import in_force, progress_of_jacobians
from einsumad.planning.reverse_bound import multiplied_in_reverse
from einsumad.records import record, values
from einsumad.rewriting import Progress, normal_product, normalise, product_of

Strategy: TypeAlias = Literal["auto", "forward", "reverse", "cross-country"]
STRATEGIES: tuple[Strategy, ...] = ("auto", "forward", "reverse", "cross-country")
Kept: TypeAlias = Callable[[Node, int], Sequence[Node]]
"""What is computed of a Jacobian with so many axes of rows, where it is kept in its structure."""
_MOST_VERTICES_TO_ELIMINATE = 120
_MOST_VERTICES_TO_COMPARE = 300
_SECONDS_OF_A_VERTEX = 2e-4
"""About the time that it takes to build one more order and its cost, for each node of what is differentiated."""
_FEW_VERTICES = 20
"""Nodes of what is differentiated up to which every order is soon built."""
_FAR_MORE = 2
"""How many times what was found plain reverse mode has to multiply, for the search to end there."""


@record
class Candidate:
    """One order of multiplication and what it would cost."""

    mode: Mode
    cost: Cost


@record
class Choice:
    """The Jacobians in normal form, one for each source, how they were built, and what was compared."""

    jacobians: tuple[Node, ...]
    mode: Mode
    candidates: tuple[Candidate, ...]


def notes_on(choices: Sequence[Choice]) -> list[Any]:
    """The choices as plain data, without the Jacobians."""
    return [[choice.mode, [[c.mode, *values(c.cost)] for c in choice.candidates]] for choice in choices]


def choices_of(notes: Any) -> tuple[Choice, ...]:
    """The choices of such data, without the Jacobians. Raises :class:`ValueError` for other data."""
    found: list[Choice] = []
    for mode, candidates in notes:
        for name, *numbers in [[mode], *candidates]:
            if name not in STRATEGIES or any(type(number) is not int for number in numbers):
                raise ValueError(f"{name!r} is no order of multiplication")
        found.append(Choice((), mode, tuple([Candidate(name, Cost(*numbers)) for name, *numbers in candidates])))
    return tuple(found)


def jacobian(
    root: Node,
    sources: Sequence[Node],
    strategy: Strategy = "auto",
    beside: Sequence[Node] = (),
    progress: Progress | None = None,
    *,
    symmetric: bool = False,
    kept: Kept | None = None,
) -> Choice:
    """The Jacobians of a node in normal form by the cheapest order, or by the one asked for.

    `beside` are nodes that are computed anyway: what a candidate shares with them costs it nothing. A Jacobian that is
    `symmetric` is made in reverse mode by the same products as in forward mode, each transposed: one of them is tried.
    It is not even built where the elimination of vertices leaves little to gain. Whether it does is judged by what is
    stored of a Jacobian that is `kept` in its structure; orders are compared by the work without it, which is what
    later operations on the structure have to do.
    """
    modes = _modes_to_try(root, sources, strategy, symmetric=symmetric)
    progress = progress_of_jacobians() if progress is None else progress
    if len(modes) == 1:
        return Choice(_build(root, sources, modes[0], progress), modes[0], ())
    costs: dict[tuple[Node, ...], Cost] = {}
    known: dict[Node, Cost] = {}

    def cost_of(nodes: tuple[Node, ...]) -> Cost:
        if nodes not in costs:
            costs[nodes] = total_cost(binarise(distribute(expand((*beside, *nodes)))), known)
        return costs[nodes]

    built: dict[Mode, tuple[Node, ...]] = {}
    with products_held():
        for mode in reversed(modes):
            nodes = built[mode] = _build(root, sources, mode, progress)
            if symmetric and mode == "cross-country" and len(topological([root])) >= _FEW_VERTICES:
                cost = cost_of(_computed(nodes, len(root.shape), kept))
                if _suffices(cost, nodes, root, sources):
                    return Choice(nodes, mode, (Candidate(mode, cost),))
        candidates = {mode: Candidate(mode, cost_of(built[mode])) for mode in reversed(modes)}
    chosen = min(modes, key=lambda mode: candidates[mode].cost.seconds())
    return Choice(built[chosen], chosen, tuple([candidates[mode] for mode in modes]))


def _computed(nodes: tuple[Node, ...], rows: int, kept: Kept | None) -> tuple[Node, ...]:
    """What is computed of Jacobians with so many axes of rows."""
    return nodes if kept is None else tuple([part for node in nodes for part in kept(node, rows)])


def _suffices(cost: Cost, nodes: Sequence[Node], root: Node, sources: Sequence[Node]) -> bool:
    """Whether no second order is looked for: a call is short beside that, and plain reverse mode takes far more.

    Where a structure leaves less arithmetic than the tensor has entries, how much there is of it says nothing: another
    order may leave none.
    """
    if cost.seconds() > _SECONDS_OF_A_VERTEX * len(topological([root])):
        return False
    entries = sum([prod(node.shape) for node in nodes])
    return entries <= cost.flops and _FAR_MORE * cost.flops <= multiplied_in_reverse(root, sources)


def _modes_to_try(root: Node, sources: Sequence[Node], strategy: Strategy, *, symmetric: bool) -> tuple[Mode, ...]:
    """A scalar's gradient is reverse mode at once; a very large graph is not searched, the sizes decide."""
    if strategy != "auto":
        return (strategy,)
    outputs, inputs = prod(root.shape), sum(prod(source.shape) for source in sources)
    if outputs <= 1:
        return ("reverse",)
    vertices = len(topological([root]))
    if vertices > _MOST_VERTICES_TO_ELIMINATE:
        vertices = len(active_nodes([root], sources))
    if vertices > _MOST_VERTICES_TO_COMPARE:
        return ("forward",) if inputs < outputs else ("reverse",)
    if vertices > _MOST_VERTICES_TO_ELIMINATE:
        return ("reverse",) if symmetric else ("reverse", "forward")
    if not in_force().cross_country:
        return ("reverse", "forward")
    return ("reverse", "cross-country") if symmetric else ("reverse", "forward", "cross-country")


def _build(root: Node, sources: Sequence[Node], mode: Mode, progress: Progress) -> tuple[Node, ...]:
    if mode == "cross-country":
        edges = derivative(root, sources, mode, LeastMarkowitz(), _edges_over(root, progress))
        return normalise(edges, progress)
    return normalise(derivative(root, sources, mode), progress)


def _edges_over(root: Node, progress: Progress) -> Simplify:
    """What brings edges into normal form; the nodes that are differentiated are computed anyway, and stay."""
    computed = frozenset(topological([root]))

    def simplify(edge: Term) -> Node:
        if isinstance(edge, Factors):
            return normal_product(product_of(*edge), progress, computed)
        return normalise([edge], progress, computed)[0]

    return simplify


class LeastMarkowitz:
    """The vertex whose elimination multiplies the fewest entries (Markowitz's rule on tensor edges); the last at a tie.

    Source: Griewank and Walther, *Evaluating Derivatives*, section 10.2.
    """

    def __init__(self) -> None:
        self._volumes: dict[Node, int] = {}
        self._work: dict[Node, float] = {}

    def __call__(self, graph: JacobianGraph, remaining: Sequence[Node]) -> Node:
        """The one of the remaining vertices that is eliminated next: the edges of its neighbours are others then."""
        best, least = remaining[-1], None
        for vertex in reversed(remaining):
            work = self._work.get(vertex)
            if work is None:
                work = self._work[vertex] = self._work_of(vertex, graph)
            if least is None or work < least:
                best, least = vertex, work
        for neighbour in (*graph.into.get(best, ()), *graph.out_of.get(best, ())):
            self._work.pop(neighbour, None)
        return best

    def _work_of(self, vertex: Node, graph: JacobianGraph) -> float:
        incoming = sum([self._volume(edge) for edge in graph.into.get(vertex, {}).values()])
        outgoing = sum([self._volume(edge) for edge in graph.out_of.get(vertex, {}).values()])
        return incoming * outgoing / max(1, prod(vertex.shape))

    def _volume(self, edge: Node) -> int:
        found = self._volumes.get(edge)
        if found is None:
            found = self._volumes[edge] = edge_volume(edge)
        return found


def edge_volume(edge: Node) -> int:
    """The number of entries of a Jacobian that are not zero by its deltas."""
    if not isinstance(edge, Einsum) or not in_force().compression:
        return prod(edge.shape)
    tied = {
        label
        for operand, labels in zip(edge.operands, edge.inputs, strict=True)
        if isinstance(operand, Unit)
        for label in labels[1:]
    }
    return prod([size for label, size in enumerate(edge.shape) if label not in tied])
