"""Which nodes may be infinite or undefined though the leaves are finite.

Owns that deduction. Imports the graph and the catalogue. Invariant: it follows from the functions alone, and a node
that is said to stay finite does so where nothing overflows.
"""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from einsumad.functions import stays_finite
from einsumad.graph import Node

_known: WeakKeyDictionary[Node, bool] = WeakKeyDictionary()
"""What was found, for as long as the nodes live."""


def may_be_infinite(node: Node) -> bool:
    """Whether the node may be infinite or undefined though the leaves are finite."""
    known = _known.get(node)
    if known is not None:
        return known
    stack = [node]
    while stack:
        found = stack[-1]
        waiting = [] if found in _known else [operand for operand in found.operands if operand not in _known]
        stack += waiting
        if waiting:
            continue
        stack.pop()
        if found not in _known:
            unsafe = not stays_finite(found) or any(_known[operand] for operand in found.operands)
            _known[found] = unsafe and found.dtype.kind == "f"
    return _known[node]


def infinite_among(order: Sequence[Node]) -> set[Node]:
    """Those of the nodes, operands first, that may be infinite or undefined though the leaves are finite."""
    return {node for node in order if may_be_infinite(node)}
