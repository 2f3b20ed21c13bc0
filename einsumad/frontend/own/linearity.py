"""Whether an expression is linear in some leaves.

Owns that proof. Imports calculus. Invariant: "linear" is proved from the graph alone, operation by operation, so it
holds for all values; what cannot be proved is reported as not linear.
"""

from __future__ import annotations

from collections.abc import Collection

from einsumad.calculus import local_jacobian
from einsumad.graph import BOOL, Add, Einsum, General, Leaf, Node, Zero, leaves, topological
from einsumad.graph.display import short_text


def reason_not_linear(root: Node, seeds: Collection[Leaf]) -> str | None:
    """Why the root, in normal form, is not linear in the seeds; None where it is.

    A product is if one factor is, a sum if all terms are, a function of tensors if it is differentiable with a
    derivative that does not depend on the seeds (an affine function of the catalogue is linear).
    """
    reached: set[Node] = set(seeds)
    for node in topological([root]):
        places = [k for k, operand in enumerate(node.operands) if operand in reached]
        if not places:
            continue
        reason = _reason(node, places, seeds)
        if reason is not None:
            return reason
        reached.add(node)
    if root in reached or isinstance(root, Zero):
        return None
    return f"it is {short_text(root)} where that is zero"


def _reason(node: Node, places: list[int], seeds: Collection[Leaf]) -> str | None:
    match node:
        case Einsum() if len(places) == 1 and node.operands[places[0]].dtype != BOOL:
            return None
        case Einsum():
            return f"it has a product of that with itself, {short_text(node)}"
        case Add():
            rest = [o for k, o in enumerate(node.operands) if k not in places and not isinstance(o, Zero)]
            return f"it has the term {short_text(rest[0])}, in which that does not stand" if rest else None
        case General() if len(places) == 1:
            terms = local_jacobian(node, places[0])
            if terms and not set(seeds) & set(leaves(terms)):
                return None
    return f"it has {short_text(node)}"
