"""How many entries reverse mode multiplies: a bound on what a Jacobian costs by the cheapest order.

Owns that count. Imports calculus and the graph. Invariant: nothing is built; the count is that of cotangents which are
multiplied out, as far as deltas leave them entries, so a plan that keeps products apart takes less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TypeAlias

from einsumad.calculus import active_nodes, local_jacobian
from einsumad.graph import Add, Einsum, Elementwise, Labels, Node, Unit, Zero

Pattern: TypeAlias = Labels
"""A number for each axis of a Jacobian, first those of the root: where two are equal, a delta ties the axes."""


def multiplied_in_reverse(root: Node, sources: Sequence[Node]) -> int:
    """The number of products of entries, those of all vertices of the graph together."""
    path = active_nodes([root], sources)
    on_path = set(path)
    rank = len(root.shape)
    cotangents: dict[Node, Pattern] = {root: (*range(rank), *range(rank))}
    total = 0
    for node in reversed(path):
        if node not in cotangents:
            continue
        for position, operand in enumerate(node.operands):
            for local in _local(node, position) if operand in on_path else ():
                shapes = (*root.shape, *node.shape), (*node.shape, *operand.shape)
                found, products = _chained(cotangents[node], local, rank, shapes)
                cotangents[operand] = _of_both(cotangents[operand], found) if operand in cotangents else found
                total += 0 if isinstance(node, Add) else products
    return total


def _local(node: Node, position: int) -> list[Pattern]:
    """The patterns of the terms of a local Jacobian."""
    rank = len(node.shape)
    match node:
        case Add() | Elementwise():
            return [(*range(rank), *range(rank))]
        case Einsum():
            return [_tied((*range(rank), *node.inputs[position]), node)]
    terms = [term for term in local_jacobian(node, position) if not isinstance(term, Zero)]
    return [_tied(tuple(range(len(term.shape))), term) for term in terms]


def _tied(labels: Labels, node: Node) -> Pattern:
    """The labels, with one number for those that a delta ties."""
    pairs = zip(node.operands, node.inputs, strict=True) if isinstance(node, Einsum) else ()
    ties = [held for factor, held in pairs if isinstance(factor, Unit)]
    return _joined(labels, ties) if ties else labels


def _chained(
    left: Pattern, right: Pattern, rank: int, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> tuple[Pattern, int]:
    """The pattern of the product over the axes between, those of `left` from `rank` on, and its products of entries."""
    start, middle = len(left), len(left) - rank
    numbers = (*left, *[start + number for number in right])
    joined = _joined(numbers, [(left[rank + axis], start + right[axis]) for axis in range(middle)])
    sizes = dict(zip(joined, (*shapes[0], *shapes[1]), strict=True))
    return _in_order([*joined[:rank], *joined[start + middle :]]), prod(sizes.values())


def _joined(numbers: Labels, ties: Iterable[Labels]) -> Labels:
    """The numbers, one for all that are tied."""
    first: dict[int, int] = {}
    for tie in ties:
        same = {first.get(number, number) for number in tie}
        least = min(same)
        first.update({number: least for number, held in first.items() if held in same})
        first.update(dict.fromkeys([*same, *tie], least))
    return tuple([first.get(number, number) for number in numbers])


def _of_both(one: Pattern, other: Pattern) -> Pattern:
    """The pattern of a sum: axes that are tied in both terms."""
    return _in_order(list(zip(one, other, strict=True)))


def _in_order(numbers: Sequence[object]) -> Pattern:
    """The numbers in the order in which they stand first."""
    found: dict[object, int] = {}
    return tuple([found.setdefault(number, len(found)) for number in numbers])
