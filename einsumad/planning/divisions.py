"""How often is divided by what may be small to rounding: counted when a plan is made, so that no digit is wrong unseen.

Owns that count. Imports the graph and the catalogue. Invariant: only the last parameter of rows that divide changes;
each root is given its own count, so what is planned beside it does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.functions import general_function
from einsumad.functions.rows import whole
from einsumad.graph import Einsum, General, Node, general, substitute, topological

_MOST = 6
"""More than so many make no difference any more."""


def _divides(node: Node) -> bool:
    return isinstance(node, General) and general_function(node.function).divides


def _own(node: Node) -> int:
    """The number that a row is made with."""
    return whole(node.params, -1) if isinstance(node, General) and _divides(node) else 0


def with_counts(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with the number of divisions that are multiplied with each other known to the rows that divide."""
    order = topological(roots)
    dividing = [node for node in order if _divides(node)]
    if not dividing:
        return tuple(roots)
    counts: dict[Node, int] = {}
    for node in order:
        below = [counts[operand] for operand in node.operands]
        together = sum(below) if isinstance(node, Einsum) else max(below, default=0)
        counts[node] = min(_MOST, together + _own(node))
    return tuple([_counted(root, counts[root]) for root in roots])


def _counted(root: Node, count: int) -> Node:
    """The root whose rows that divide all have this count."""
    if not count:
        return root
    found = [node for node in topological([root]) if isinstance(node, General) and _divides(node)]
    return substitute(
        [root],
        {
            node: general(node.function, node.operands, (*node.params[:-1], count), node.shape, node.dtype)
            for node in found
        },
    )[0]
