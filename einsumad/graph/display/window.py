"""Which part of a graph is shown.

Owns the bounds on what is looked at. Imports the kinds and traversal. Invariant: however large the graph, a
window holds at most `most` nodes and their leaves, those next to the roots first, and no node shows more than
`WIDEST` operands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from einsumad.graph.nodes import Leaf, Node
from einsumad.records import record

WIDEST = 16


@record
class Window:
    """The visible nodes (operands first), what they use that is not visible, and how often each is used."""

    order: tuple[Node, ...]
    hidden: tuple[Node, ...]
    users: dict[Node, int]


def shown_operands(node: Node) -> tuple[Node, ...]:
    """The operands that are shown: all but those beyond the widest line."""
    return node.operands[:WIDEST]


def look(roots: Sequence[Node], most: int) -> Window:
    """The window on a graph: the nodes nearest to the roots, and all leaves that these use."""
    near = _nearest(roots, most)
    order: dict[Node, None] = {}
    hidden: dict[Node, None] = {}
    users: dict[Node, int] = {}
    for root in roots:
        users[root] = users.get(root, 0) + 1
    stack: list[tuple[Node, bool]] = [(root, False) for root in reversed(roots)]
    entered: set[Node] = set()
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order[node] = None
        elif node not in near and not isinstance(node, Leaf):
            hidden[node] = None
        elif node not in entered:
            entered.add(node)
            stack.append((node, True))
            for operand in reversed(shown_operands(node)):
                users[operand] = users.get(operand, 0) + 1
                stack.append((operand, False))
    return Window(tuple(order), tuple(hidden), users)


def count_nodes(roots: Sequence[Node]) -> int:
    """The number of nodes of a graph."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for operand in stack.pop().operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return len(seen)


def _nearest(roots: Sequence[Node], most: int) -> set[Node]:
    near = set(roots)
    queue = deque(dict.fromkeys(roots))
    while queue and len(near) < most:
        for operand in shown_operands(queue.popleft()):
            if operand not in near and len(near) < most:
                near.add(operand)
                queue.append(operand)
    return near
