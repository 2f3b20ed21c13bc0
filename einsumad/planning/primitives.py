"""The primitive products that a plan is made of, and how to recognise them.

Owns the classification of product nodes. Imports the graph. Invariant: a product is primitive if and only if
:func:`kind_of` names its kind; the builders here make primitive nodes only.

==========  ============================================================================================
constant    a number: ones, or no operands
dense       a 0/1 tensor written out
inside      where an affine map stays within its bounds
read        an ordinary operand read along a map: one of its axes becomes others
write       an ordinary operand added into zeros along a map: some of its axes become another
layout      one operand: diagonal, permutation, another dtype, and either a sum over axes or a factor
embed       at most one ordinary operand, written on a diagonal of zeros or spread over new axes
group       entrywise product with broadcasting, selected by its masks at the very end
contract    two operands and at least one sum; each summed index is in both
selected    the same, with masks on the indices of either operand, outside of which terms do not count
==========  ============================================================================================

Only constants, layouts without a sum and embeddings of no operand have a coefficient other than one: a
factor is a step of its own, done in place, so that the product without it can be shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, zip_longest
from math import prod
from typing import Any, NamedTuple

import numpy as np

from einsumad.graph import (
    BOOL,
    Affine,
    Einsum,
    Elementwise,
    Labels,
    Node,
    Number,
    Ones,
    Selection,
    Structural,
    Unit,
    Zero,
    einsum,
)

_ONES: frozenset[type] = frozenset([Ones])
_STRUCTURAL: frozenset[type] = frozenset([Unit, Ones, Zero, Affine, Selection])


class Factor(NamedTuple):
    """A node in a product, with the label of each of its axes."""

    node: Node
    labels: Labels


def is_mask(operand: Node) -> bool:
    """Whether the operand selects, in a product that is not boolean."""
    return operand.dtype == BOOL and not isinstance(operand, Structural)


def has_sum(node: Einsum) -> bool:
    """Whether the product sums over an index."""
    return max(chain.from_iterable(node.inputs), default=-1) >= len(node.shape)


def in_turn(operands: Sequence[Node]) -> list[int]:
    """The order in which factors meet: reciprocals between the others, what stands again behind what stands once.

    ``f (f r)`` does not overflow where ``(f f) r`` does, ``(r f) r`` does not vanish where ``(r r) f`` does.
    """
    met: Counter[Node] = Counter()
    rounds = []
    for operand in operands:
        met[operand] += 1
        rounds.append(met[operand])
    places = sorted(range(len(operands)), key=rounds.__getitem__)
    above = [k for k in places if not is_reciprocal(operands[k])]
    below = [k for k in places if is_reciprocal(operands[k])]
    return [k for pair in zip_longest(above, below) for k in pair if k is not None]


def is_reciprocal(node: Node) -> bool:
    """Whether the node is one over another, or over a power of it."""
    if not isinstance(node, Elementwise):
        return False
    return node.function == "reciprocal" or (
        node.function == "power" and any(isinstance(p, int | float) and p < 0 for p in node.params)
    )


def constant_value(node: Node) -> Number | None:
    """The number that the node is everywhere, or None."""
    if isinstance(node, Einsum):
        kinds = set(map(type, node.operands))
        if Zero in kinds:
            return 0
        return None if kinds - _ONES or has_sum(node) else node.coefficient
    if isinstance(node, Structural):
        return 1 if isinstance(node, Ones) else 0 if isinstance(node, Zero) else None
    return None


def only_scales(node: Node) -> bool:
    """Whether the node is a number times one tensor of its dtype."""
    if not isinstance(node, Einsum) or len(node.operands) != 1 or isinstance(node.operands[0], Structural):
        return False
    return node.operands[0].dtype == node.dtype != BOOL and node.inputs[0] == tuple(range(len(node.shape)))


def kind_of(node: Einsum) -> str | None:
    """The kind of a primitive product, or None."""
    operands = node.operands
    if not (operands and _STRUCTURAL.isdisjoint(map(type, operands))):
        return _structural_kind(node) if constant_value(node) is None else "constant"
    summed = has_sum(node)
    if summed and (node.coefficient != 1 or (node.dtype == BOOL and len(operands) > 1)):
        return None
    if len(operands) == 1 and (summed or (operands[0].dtype == BOOL) == (node.dtype == BOOL)):
        return "layout"
    if node.coefficient != 1 or _repeats(node):
        return None
    dtype = node.dtype
    if [operand for operand in operands if operand.dtype is not dtype and operand.dtype not in (dtype, BOOL)]:
        return None
    if not summed:
        return "group"
    return "contract" if _is_contraction(node) else "selected" if _is_selected(node) else None


def _repeats(node: Einsum) -> bool:
    return sum(map(len, map(set, node.inputs))) < sum(map(len, node.inputs))


def _is_contraction(node: Einsum) -> bool:
    if len(node.operands) != 2 or BOOL in [operand.dtype for operand in node.operands]:
        return False
    first, second = map(set, node.inputs)
    return max(first ^ second, default=-1) < len(node.shape)


def _is_selected(node: Einsum) -> bool:
    """Whether a product is a contraction but for masks, each on indices of one of the two operands."""
    factors = [k for k, operand in enumerate(node.operands) if operand.dtype != BOOL]
    if len(factors) != 2 or len(node.operands) == 2:
        return False
    first, second = (set(node.inputs[k]) for k in factors)
    if max(first ^ second, default=-1) >= len(node.shape):
        return False
    return all(first.issuperset(labels) or second.issuperset(labels) for labels in node.inputs)


def _structural_kind(node: Einsum) -> str | None:
    """A 0/1 tensor written out, one along which another is read or written, or an embedding, or neither."""
    if any(isinstance(operand, Affine | Selection) for operand in node.operands):
        return _map_kind(node) if node.coefficient == 1 else None
    core: set[int] | None = None
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if not isinstance(operand, Unit | Ones):
            if core is not None or isinstance(operand, Structural) or operand.dtype != node.dtype:
                return None
            core = set(labels)
    if has_sum(node) or _repeats(node) or (core is not None and node.coefficient != 1):
        return None
    free = set(core or ())
    spent: set[int] = set()
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if isinstance(operand, Unit | Ones):
            meeting = free.intersection(labels)
            if spent.intersection(labels) or len(meeting) > isinstance(operand, Unit):
                return None
            spent.update(labels)
    return "embed"


def _map_kind(node: Einsum) -> str | None:
    """A map alone, or one of the right form beside one ordinary operand."""
    rank = len(node.shape)
    first = node.operands[0]
    if len(node.operands) == 1:
        if node.dtype != first.dtype:
            return None
        if node.inputs[0] == tuple(range(rank)):
            return "dense"
        return "inside" if isinstance(first, Affine) and node.inputs[0] == (rank, *range(rank)) else None
    if len(node.operands) > 2 or _repeats(node) or any(operand.dtype != node.dtype for operand in node.operands):
        return None
    mapped, held = split_map(node)
    if isinstance(mapped.node, Structural):
        return None
    at, places = held
    others = set(mapped.labels)
    if at >= rank and at in others and max((*places, *(others - {at})), default=-1) < rank:
        kept = all(always_inside(o) or is_padding(o) for o in node.operands if isinstance(o, Affine))
        return "read" if kept else None
    if at < rank and at not in others and others.issuperset(places):
        return "write" if all(label < rank or label in places for label in others) else None
    return None


def split_map(node: Einsum) -> tuple[Factor, tuple[int, Labels]]:
    """Of a product of two the ordinary operand, the label that the map gives, and those that it depends on."""
    second = isinstance(node.operands[1], Affine | Selection)
    labels = node.inputs[second]
    held = (labels[0], labels[1:]) if isinstance(node.operands[second], Affine) else (labels[-1], labels[:-1])
    return Factor(node.operands[not second], node.inputs[not second]), held


def reach(node: Affine) -> tuple[int, int]:
    """The least and the greatest index that an affine map gives, bounds left aside."""
    ends = [stride * (size - 1) for stride, size in zip(node.strides, node.shape[1:], strict=True)]
    return node.offset + sum(min(0, end) for end in ends), node.offset + sum(max(0, end) for end in ends)


def always_inside(node: Node) -> bool:
    """Whether a map never leaves the bounds; the values of a selection have to be inside."""
    if not isinstance(node, Affine):
        return True
    low, high = reach(node)
    return low >= 0 and high < node.shape[0]


def numbers_in_order(size: int, sizes: Sequence[int], strides: Sequence[int], offset: int) -> bool:
    """Whether places number an axis of this size in C order: splitting or merging it is a matter of the shape."""
    if offset or 0 in sizes or prod(sizes) != size:
        return False
    expected = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    return all(length == 1 or s == e for s, e, length in zip(strides, expected, sizes, strict=True))


def is_padding(node: Affine) -> bool:
    """Whether the map shifts one axis, so that reading along it pads or cuts."""
    return node.strides == (1,)


def layout(factor: Factor, output: Labels, coefficient: Number = 1, dtype: Any = None) -> Factor:
    """The factor with axes permuted, diagonals taken, other labels summed; itself where nothing changes."""
    dtype = factor.node.dtype if dtype is None else dtype
    if factor.labels == output and coefficient == 1 and factor.node.dtype == dtype:
        return factor
    node, labels = factor
    while isinstance(node, Einsum) and _permutes(node):
        labels, node = tuple([labels[axis] for axis in node.inputs[0]]), node.operands[0]
    if labels == output and coefficient == 1 and node.dtype == dtype:
        return Factor(node, labels)
    return Factor(einsum([node], [labels], output, coefficient, dtype), output)


def _permutes(node: Einsum) -> bool:
    """Whether the node is one stored tensor with its axes in another order."""
    if len(node.operands) != 1 or node.coefficient != 1 or len(node.inputs[0]) != len(node.shape):
        return False
    (operand,) = node.operands
    return operand.dtype == node.dtype and not isinstance(operand, Structural) and not _repeats(node)


def scaled(factor: Factor, coefficient: Number) -> Factor:
    """A number times the factor."""
    return layout(factor, factor.labels, coefficient)


def group(factors: Sequence[Factor], masks: Sequence[Factor], output: Labels, dtype: np.dtype) -> Factor:
    """The entrywise product of the factors where all masks hold."""
    if len(factors) == 1 and not masks:
        return layout(factors[0], output)
    operands = [*factors, *masks]
    return Factor(einsum([f.node for f in operands], [f.labels for f in operands], output, 1, dtype), output)


def number(value: Number, dtype: np.dtype) -> Factor:
    """A number as a factor without axes."""
    return Factor(einsum([], [], [], value, dtype), ())


def lies_on_diagonals(node: Node) -> bool:
    """Whether the tensor is zero but for diagonals, on which it has one tensor or number."""
    if isinstance(node, Einsum):
        return kind_of(node) == "embed" and any(isinstance(operand, Unit) for operand in node.operands)
    return isinstance(node, Unit)


def single_summed(node: Einsum) -> int | None:
    """The only label that a layout sums over, if its axis has a single entry and nothing else is changed: a reading."""
    (operand,), (labels,) = node.operands, node.inputs
    summed = [axis for axis, label in enumerate(labels) if label >= len(node.shape)]
    if len(summed) != 1 or operand.shape[summed[0]] != 1 or len(set(labels)) < len(labels):
        return None
    return labels[summed[0]] if node.coefficient == 1 and operand.dtype == node.dtype else None
