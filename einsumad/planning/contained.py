"""Entrywise products that hold another product of the same plan whole: ``O (O d)`` beside ``O d``.

Owns that step. Imports the graph and the primitives. Invariant: values stay but for rounding; no product is added, and
none meets its factors in an order that overflows or vanishes where it did not before.

A value and its gradient often have such products: ``Σ (O d)²`` and ``-2 Bᵀ (O O d)``. What is held is read again, for
the tensor that it was made of, so there is as much in memory, and less to multiply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from einsumad.graph import Einsum, Leaf, Node, einsum, rebuild, topological
from einsumad.planning.primitives import in_turn, is_mask, is_reciprocal, kind_of

_Holders: TypeAlias = dict[Node, list[Einsum]]
"""Products that others may hold, by their first factor."""


def share_contained(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots, where a product of three and more tensors reads the largest other product that it holds."""
    order = topological(roots)
    holders: _Holders = {}
    for node in order:
        if isinstance(node, Einsum) and _is_worth_reading(node):
            holders.setdefault(node.operands[0], []).append(node)
    if not holders:
        return tuple(roots)
    memo: dict[Node, Node] = {}
    for node in order:
        _enter(node, holders, memo)
    return tuple([memo[root] for root in roots])


def _is_worth_reading(node: Einsum) -> bool:
    """Whether the product is entrywise, without masks, and made of different tensors, one of which is computed.

    Inputs are there anyway: to keep their product would take more memory.
    """
    operands = node.operands
    return (
        len(operands) > 1
        and len(set(operands)) == len(operands)
        and kind_of(node) == "group"
        and not any(is_mask(operand) for operand in operands)
        and not all(isinstance(operand, Leaf) for operand in operands)
    )


def _enter(node: Node, holders: _Holders, memo: dict[Node, Node]) -> None:
    """Enter what a node becomes, whose operands are entered; what it reads again comes first, wherever it stood."""
    if node in memo:
        return
    found = _read_again(node, holders, memo) if isinstance(node, Einsum) and len(node.operands) > 2 else None
    memo[node] = rebuild(node, [memo[operand] for operand in node.operands]) if found is None else found


def _read_again(node: Einsum, holders: _Holders, memo: dict[Node, Node]) -> Node | None:
    """The product with the largest one that it holds in place of its factors; None where it holds none."""
    if kind_of(node) != "group":
        return None
    own = dict.fromkeys(node.operands)
    inner = [other for operand in own for other in holders.get(operand, ()) if own.keys() >= {*other.operands}]
    inner = [other for other in inner if len(other.operands) < len(node.operands) and other.dtype == node.dtype]
    for other in sorted(inner, key=lambda other: -len(other.operands)):
        for start, operand in enumerate(node.operands):
            found = _places(node, other, start) if operand is other.operands[0] else None
            if found is not None and _keeps_turn(node, found):
                _enter(other, holders, memo)
                return _with(node, other, found, memo)
    return None


def _places(node: Einsum, other: Einsum, start: int) -> list[int] | None:
    """Where the factors of the other product stand in this one, with the same indices but for their names."""
    places = [start]
    renamed = dict(zip(other.inputs[0], node.inputs[start], strict=True))
    for factor, labels in zip(other.operands[1:], other.inputs[1:], strict=True):
        place = next(
            (
                k
                for k, (operand, meant) in enumerate(zip(node.operands, node.inputs, strict=True))
                if operand is factor and all(renamed.get(a, b) == b for a, b in zip(labels, meant, strict=True))
            ),
            None,
        )
        if place is None:
            return None
        renamed.update(zip(labels, node.inputs[place], strict=True))
        places.append(place)
    return places if len(set(renamed.values())) == len(renamed) else None


def _keeps_turn(node: Einsum, places: Sequence[int]) -> bool:
    """Whether these factors may meet first: without reciprocals any may, as none of them stands twice."""
    if not any(is_reciprocal(operand) for operand in node.operands):
        return True
    return set(places) == set(in_turn(node.operands)[: len(places)])


def _with(node: Einsum, other: Einsum, places: Sequence[int], memo: Mapping[Node, Node]) -> Node:
    """The product of the other one and of the factors elsewhere."""
    renamed: dict[int, int] = {}
    for labels, place in zip(other.inputs, places, strict=True):
        renamed.update(zip(labels, node.inputs[place], strict=True))
    rest = [k for k in range(len(node.operands)) if k not in places]
    operands = [memo[other], *[memo[node.operands[k]] for k in rest]]
    inputs = [[renamed[axis] for axis in range(len(other.shape))], *[node.inputs[k] for k in rest]]
    return einsum(operands, inputs, range(len(node.shape)), 1, node.dtype)
