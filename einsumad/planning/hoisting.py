"""What a part of an index does not change: computed once, before all parts.

Owns which expressions these are. Imports the products' parts and the graph. Invariant: what is taken out does not
depend on the part, neither on its values nor on its length.

Products are looked at in primitive steps, since which factors meet first is decided there. An expression that two parts
of different length have in common does not depend on the part: leaves that are cut have the length in their shape, and
so has what is spread along the index.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.graph import (
    Einsum,
    Elementwise,
    Leaf,
    Node,
    Structural,
    dependents,
    leaves,
    topological,
)
from einsumad.planning.primitives import constant_value

_KEPT_WITH_USERS = ("reciprocal", "logical_not")
"""Functions that the step which reads them takes in: as divisors, and as the other branch of a choice."""


def unchanging(one: Sequence[Node], other: Sequence[Node]) -> tuple[Node, ...]:
    """The largest expressions of a cut that one of another length has too and that cost something."""
    depend = dependents(one, leaves(one))  # the rest is made of 0/1 tensors
    return tuple(_outermost(one, depend.intersection(topological(other))))


def _outermost(roots: Sequence[Node], common: set[Node]) -> list[Node]:
    found: list[Node] = []
    seen: set[Node] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in common and _costs(node):
            found.append(node)
        else:
            stack.extend(reversed(node.operands))
    return found


def _costs(node: Node) -> bool:
    """Whether the node is more than another way to read its operand."""
    if isinstance(node, Leaf | Structural) or constant_value(node) is not None:
        return False
    if isinstance(node, Elementwise):
        return node.function not in _KEPT_WITH_USERS
    if not isinstance(node, Einsum):
        return True
    held = [operand for operand in node.operands if not isinstance(operand, Structural)]
    sums = any(label >= len(node.shape) for labels in node.inputs for label in labels)
    return len(held) > 1 or sums
