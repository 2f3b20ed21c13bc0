"""Forward and reverse mode: the same local Jacobians multiplied from one side or from the other.

Owns the two sweeps. Imports the rules and the chain rule. Invariant: neither holds a rule; both visit each node once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from einsumad.calculus.chain import accumulate, through
from einsumad.calculus.local import flows, is_active, local_terms
from einsumad.graph import Node, topological


def active_nodes(roots: Sequence[Node], sources: Sequence[Node]) -> list[Node]:
    """The nodes through which derivatives flow all the way from the sources to the roots, operands first.

    Where an operand is on the list and its user too, there is such a way through both: a slot without a rule matters
    there and nowhere else, in every mode.
    """
    order = topological(roots)
    near = _reached(order, sources, lambda node, _: is_active(node))
    slots: set[tuple[Node, int]] = set()
    useful = set(roots)
    for node in reversed(order):
        if node in useful and node in near:
            for position, operand in enumerate(node.operands):
                if operand in near and flows(node, position):
                    slots.add((node, position))
                    useful.add(operand)
    reached = _reached(order, sources, lambda node, position: (node, position) in slots)
    return [node for node in order if node in reached and node in useful]


def _reached(order: Sequence[Node], sources: Sequence[Node], passes: Callable[[Node, int], bool]) -> set[Node]:
    """The sources, and the nodes that have a slot that passes something on from one that is reached."""
    reached = set(sources)
    for node in order:
        for position, operand in enumerate(node.operands):
            if operand in reached and passes(node, position):
                reached.add(node)
                break
    return reached


def push(roots: Sequence[Node], tangents: Mapping[Node, Node]) -> tuple[Node | None, ...]:
    """Forward mode: the tangent of each root, or None where it does not depend on the sources.

    A tangent has the axes of its node and then any further axes, the same for all sources.
    """
    known: dict[Node, Node] = dict(tangents)
    for node in active_nodes(roots, list(tangents)):
        if node in known:
            continue
        terms = [
            through(term, known[operand], len(operand.shape), first=True)
            for position, operand in enumerate(node.operands)
            if operand in known
            for term in local_terms(node, position)
        ]
        if terms:
            known[node] = accumulate(terms)
    return tuple([known.get(root) for root in roots])


def pull(cotangents: Mapping[Node, Node], sources: Sequence[Node]) -> tuple[Node | None, ...]:
    """Reverse mode: the cotangent of each source, or None where no root depends on it.

    A cotangent has any leading axes, the same for all roots, and then the axes of its node.
    """
    roots = list(cotangents)
    path = active_nodes(roots, sources)
    on_path = set(path)
    wanted = set(sources)
    pending: dict[Node, list[Node]] = {root: [cotangent] for root, cotangent in cotangents.items()}
    found: dict[Node, Node] = {}
    for node in reversed(path):
        terms = pending.pop(node, None)
        if not terms:
            continue
        cotangent = accumulate(terms)
        if node in wanted:
            found[node] = cotangent
        for position, operand in enumerate(node.operands):
            if operand in on_path:
                contributions = [
                    through(term, cotangent, len(node.shape), first=False) for term in local_terms(node, position)
                ]
                pending.setdefault(operand, []).extend(contributions)
    return tuple([found.get(source) for source in sources])
