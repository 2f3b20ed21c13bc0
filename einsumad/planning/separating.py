"""Sums inside of products, taken out so that parts of an index can be added up.

Owns these rewrites. Imports the indices and the graph. Invariant: the roots keep value, shape and dtype.

A product in normal form is flat. ``(sum_l a[l]) (sum_m b[m])``, with both sums over samples, is one product with two
labels of one index, and ``r sum_l a[l]``, where r is known after a sum over samples only, is one sum that would need a
sweep after that of r. Both are taken apart again here. It is done where parts are wanted only: the order in which a
flat product is contracted is chosen by cost otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einsumad.graph import Einsum, Labels, Node, Unit, einsum, rebuild, topological
from einsumad.planning.indices import Classes, Index


def separated(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots in which sums over labels of one index in the same product are products of their own."""
    classes = Classes(roots)
    memo: dict[Node, Node] = {}
    for node in topological(roots):
        operands = [memo[operand] for operand in node.operands]
        if isinstance(node, Einsum) and (labels := classes.sums_that_meet(node)):
            memo[node] = _separated(node, operands, labels)
        else:
            memo[node] = rebuild(node, operands)
    return tuple([memo[root] for root in roots])


def _separated(node: Einsum, operands: Sequence[Node], sums: Sequence[frozenset[int]]) -> Node:
    """The product with what each of the sums is over as a factor, where no operand has two of them."""
    pairs = list(zip(operands, node.inputs, strict=True))
    for together in sums:
        others = {label for other in sums if other != together for label in other}
        inside = [pair for pair in pairs if not together.isdisjoint(pair[1])]
        outside = [pair for pair in pairs if together.isdisjoint(pair[1])]
        if outside and others.isdisjoint([label for _, labels in inside for label in labels]):
            pairs = [_factor(node, inside, outside), *outside]
    found, inputs = zip(*pairs, strict=True)
    return einsum(found, inputs, range(len(node.shape)), node.coefficient, node.dtype)


def _factor(
    node: Einsum, inside: Sequence[tuple[Node, Labels]], outside: Sequence[tuple[Node, Labels]]
) -> tuple[Node, Labels]:
    """The operands inside as one, over the labels that the others or the result have."""
    used = {*range(len(node.shape)), *[label for _, labels in outside for label in labels]}
    kept = tuple(sorted(used.intersection([label for _, labels in inside for label in labels])))
    operands, inputs = zip(*inside, strict=True)
    return einsum(operands, inputs, kept, 1, node.dtype), kept


def with_late_factors_outside(roots: Sequence[Node], index: Index) -> tuple[tuple[Node, ...], Index]:
    """The roots, and the index, with sums over it free of factors that are known later than what is summed.

    Only of factors whose labels the result has, so that no sum becomes larger.
    """
    memo: dict[Node, Node] = {}
    known: dict[Node, int] = {}
    summed: set[Node] = set()
    for node in topological(roots):
        operands = [memo[operand] for operand in node.operands]
        if node in index.summed and isinstance(node, Einsum):
            inner, new = _taken_out(node, operands, known)
            summed.add(inner)
            known[inner] = max([known[o] for o in inner.operands], default=0) + 1
        else:
            new = rebuild(node, operands)
        memo[node] = new
        if new not in known:
            known[new] = max([known[operand] for operand in new.operands], default=0)
    axes = {memo[node]: axis for node, axis in index.axes.items()}
    return tuple([memo[root] for root in roots]), Index(axes, frozenset(summed), index.size)


def _taken_out(node: Einsum, operands: Sequence[Node], known: Mapping[Node, int]) -> tuple[Node, Node]:
    """The sum, and the product that it is a factor of; the same where nothing is taken out."""
    rank = len(node.shape)
    pairs = list(zip(operands, node.inputs, strict=True))
    free = [all(label < rank for label in labels) and not isinstance(o, Unit) for o, labels in pairs]
    early = max([known[pair[0]] for pair, outside in zip(pairs, free, strict=True) if not outside], default=0)
    late = [pair for pair, outside in zip(pairs, free, strict=True) if outside and known[pair[0]] > early]
    if not late:
        same = einsum(operands, node.inputs, range(rank), node.coefficient, node.dtype)
        return same, same
    inner, kept = _factor(node, [pair for pair in pairs if pair not in late], late)
    found, inputs = zip((inner, kept), *late, strict=True)
    return inner, einsum(found, inputs, range(rank), node.coefficient, node.dtype)
