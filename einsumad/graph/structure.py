"""What two graphs have in common when they differ in their leaves only.

Owns the structural key. Imports traversal. Invariant: equal keys mean that the graphs become the same nodes
once their leaves, in order of visit, are replaced by the same leaves.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence

from einsumad.graph.constructors import leaf
from einsumad.graph.digests import blake2b
from einsumad.graph.nodes import Leaf, Node
from einsumad.graph.traversal import substitute, topological


def structural_key(roots: Sequence[Node]) -> tuple[bytes, tuple[Leaf, ...]]:
    """A digest of the graph that is blind to leaf identity, and the leaves in order of visit."""
    position: dict[Node, int] = {}
    table: list[object] = []
    found: list[Leaf] = []
    for node in topological(roots):
        position[node] = len(position)
        table.append(node.form)
        if isinstance(node, Leaf):
            found.append(node)
        else:
            table.append(tuple([position[operand] for operand in node.operands]))
    table.append(tuple([position[root] for root in roots]))
    return blake2b(marshal.dumps(table, 2), digest_size=16).digest(), tuple(found)


def with_slots(roots: Sequence[Node], found: Sequence[Leaf]) -> tuple[tuple[Node, ...], tuple[Leaf, ...]]:
    """The graph over anonymous leaves numbered in the given order, and those leaves."""
    slots = tuple([leaf(node.shape, node.dtype, ("slot", k), node.name, node.facts) for k, node in enumerate(found)])
    return substitute(roots, dict(zip(found, slots, strict=True))), slots
