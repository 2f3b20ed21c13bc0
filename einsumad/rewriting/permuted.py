"""Tensors in another order along their last axis: reversed, sorted, or by an ``argsort``.

Owns that recognition. Imports the graph. Invariant: what is called an order is a permutation whatever the values are.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TypeAlias

from einsumad.graph import Add, Affine, Einsum, Elementwise, General, Node, Selection, Zero

Order: TypeAlias = tuple[tuple[Node, bool], ...]
"""Permutations, the first one first: sorts, or structural operands and whether their first axis is the new one."""


def in_some_order(node: Node, functions: AbstractSet[str]) -> tuple[General, Order] | None:
    """The value of one of the functions, all of its last axis, and the order it is in along this."""
    if isinstance(node, General):
        if node.function in functions:
            return (node, ()) if len(node.params) < 3 else None
        found = in_some_order(node.operands[0], functions) if node.function == "sort" else None
        return None if found is None else (found[0], (*found[1], (node, True)))
    if not isinstance(node, Einsum) or len(node.operands) != 2 or node.coefficient != 1:
        return None
    last = len(node.shape) - 1
    for k in (0, 1):
        value, permutation = node.operands[k], node.operands[1 - k]
        labels, places = node.inputs[k], node.inputs[1 - k]
        if _permutes(permutation) and isinstance(value, General | Einsum) and value.dtype == node.dtype:
            moved = labels[:-1] == tuple(range(last)) and set(places) == {labels[-1], last}
            found = in_some_order(value, functions) if moved else None
            return None if found is None else (found[0], (*found[1], (permutation, places[0] == last)))
    return None


def _permutes(node: Node) -> bool:
    """Whether a structural operand of two axes is a permutation matrix."""
    match node:
        case Affine(shape=(first, second), strides=(stride,), offset=offset):
            return first == second and (stride, offset) in ((1, 0), (-1, first - 1))
        case Selection(shape=(first, second)):
            return first == second and _orders(node.operands[0])
    return False


def _orders(index: Node) -> bool:
    """Whether an index along one axis takes each place once: an ``argsort``, also reversed or counted from the end."""
    while True:
        match index:
            case General(function="argsort", shape=(_,)):
                return True
            case Add(operands=operands):
                given = [o for o in operands if not isinstance(o, Zero) and not _wraps(o, operands)]
                if len(given) != 1:
                    return False
                (index,) = given
            case Einsum(operands=(first, second), coefficient=1) if _permutes(first) or _permutes(second):
                index = second if _permutes(first) else first
            case _:
                return False


def _wraps(node: Node, beside: tuple[Node, ...]) -> bool:
    """Whether this is what is added to places that are counted from the end."""
    return (
        isinstance(node, Einsum)
        and len(node.operands) == 1
        and node.coefficient == node.shape[0]
        and isinstance(node.operands[0], Elementwise)
        and node.operands[0].function == "less"
        and node.operands[0].operands[0] in beside
        and isinstance(node.operands[0].operands[1], Zero)
    )
