"""Which stored tensors are symmetric matrices, by the way they are computed.

Owns this knowledge. Imports the graph and the catalogue. Invariant: a tensor called symmetric equals its transpose in
the last two axes whatever the numbers are; of one that is not, nothing is said.

A slot of a symmetric tensor has the fact ``symmetric``; where it stands in a product, its last two labels are sorted.
"""

from __future__ import annotations

from itertools import product

from einsumad.functions.general.declared import is_symmetric as is_declared
from einsumad.graph import Add, Einsum, Elementwise, Labels, Leaf, Node, einsum, order_key
from einsumad.planning import Factor

SYMMETRIC = "symmetric"
_MOST_TURNED = 6


def is_symmetric(node: Node) -> bool:
    """Whether the tensor is symmetric in its last two axes."""
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        return False
    seen = {node}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        inner = _inside(part)
        if inner is None:
            return False
        waiting += [operand for operand in inner if operand not in seen]
        seen.update(inner)
    return True


def _inside(node: Node) -> tuple[Node, ...] | None:
    """Operands of which symmetry follows if they have it; none are needed where it is known, None where it is not."""
    match node:
        case Leaf():
            return () if SYMMETRIC in node.facts else None
        case Add() | Elementwise():
            return node.operands
        case Einsum(operands=(operand,), inputs=(labels,)) if labels == tuple(range(len(node.shape))):
            return (operand,)
        case Einsum():
            rank = len(node.shape)
            order = (*range(rank - 2), rank - 1, rank - 2)
            turned = einsum(node.operands, node.inputs, order, node.coefficient, node.dtype)
            return () if _oriented(turned) is _oriented(node) else None
    return () if is_declared(node) else None


def oriented(factor: Factor) -> Factor:
    """The factor with the last two labels in order, where it is symmetric in them."""
    node, labels = factor
    if isinstance(node, Leaf) and SYMMETRIC in node.facts:
        return Factor(node, turned(labels) if labels[-2] > labels[-1] else labels)
    return factor


def turned(labels: Labels) -> Labels:
    """The labels with the last two exchanged."""
    return (*labels[:-2], labels[-1], labels[-2])


def _oriented(node: Einsum) -> Einsum:
    """Of the ways to write a product whose symmetric factors are turned the one that is first in the order of nodes."""
    places = [k for k, held in enumerate(node.operands) if isinstance(held, Leaf) and SYMMETRIC in held.facts]
    best = node
    for choice in product((False, True), repeat=len(places[:_MOST_TURNED])) if places else ():
        chosen = {place for place, turn in zip(places, choice, strict=False) if turn}
        inputs = [turned(labels) if k in chosen else labels for k, labels in enumerate(node.inputs)]
        other = einsum(node.operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)
        best = min(best, other, key=order_key)
    return best
