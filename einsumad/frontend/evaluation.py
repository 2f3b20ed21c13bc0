"""The value of a node whose leaves all have one.

Owns nothing but the way from a node to its value. Imports the graph, the value store and execution.
Invariant: a value is returned only if it follows from stored values; nothing is guessed, and what is returned
is read-only.
"""

from __future__ import annotations

import numpy as np

from einsumad.execution.reference import evaluate
from einsumad.frontend.values import remember, value_of
from einsumad.graph import Leaf, Node, fresh_leaf, substitute


def concrete(node: Node) -> np.ndarray | None:
    """The value of the node, or None where the value of some leaf it depends on is not known."""
    known = known_values(node)
    if known is None:
        return None
    if node in known:
        return known[node]
    places = {
        inner: inner if isinstance(inner, Leaf) else fresh_leaf(inner.shape, inner.dtype) for inner in known
    }
    (root,) = substitute([node], places)
    (value,) = evaluate([root], {places[inner]: value for inner, value in known.items()})
    return remember(node, np.asarray(value, node.dtype))


def known_values(root: Node) -> dict[Node, np.ndarray] | None:
    """Stored values that together determine the root, those nearest to it; None where they do not suffice."""
    found: dict[Node, np.ndarray] = {}
    seen = {root}
    stack = [root]
    while stack:
        node = stack.pop()
        value = value_of(node)
        if value is not None:
            found[node] = value
            continue
        if isinstance(node, Leaf):
            return None
        for operand in node.operands:
            if operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return found
