"""The value of a node whose leaves all have one.

Owns nothing but the way from a node to its value. Imports the graph, the value store and the cache of plans.
Invariant: a value is returned only if it follows from stored values; nothing is guessed, and what is returned
is read-only.
"""

from __future__ import annotations

import numpy as np

from einsumad.frontend.cache import Derivation, find_or_derive, run
from einsumad.frontend.values import remember, value_of
from einsumad.graph import Leaf, Node, fresh_leaf, structural_key, substitute, with_slots
from einsumad.rewriting import normalise


def concrete(node: Node) -> np.ndarray | None:
    """The value of the node, or None where the value of some leaf it depends on is not known."""
    known = known_values(node)
    if known is None:
        return None
    if node in known:
        return known[node]
    places = {inner: inner if isinstance(inner, Leaf) else fresh_leaf(inner.shape, inner.dtype) for inner in known}
    by_leaf = {places[inner]: value for inner, value in known.items()}
    roots = substitute([node], places)
    structure, found = structural_key(roots)

    def build() -> Derivation:
        over_slots, slots = with_slots(roots, found)
        return Derivation(slots, normalise(over_slots))

    derivation, _ = find_or_derive(("evaluate", structure), build)
    (value,) = run(derivation, found, lambda leaf: by_leaf.get(leaf, value_of(leaf)), None)
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
