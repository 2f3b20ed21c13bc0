"""Outside of which indices a node is zero because nothing was selected, or no index leads there.

Owns that deduction. Imports rewriting's part of it, the graph and the catalogue. Invariant: where a mask of the support
of a node is false, the node is a sum of no terms, whatever its factors are; a support may be weaker than possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from einsumad.functions import apply
from einsumad.graph import Add, Affine, Einsum, Labels, Node, Selection, Structural, Unit, einsum, zero
from einsumad.planning.primitives import always_inside, is_mask
from einsumad.planning.truth import Truths
from einsumad.rewriting.masks import support_of_sum

Placed: TypeAlias = tuple[Node, Labels]
"""A mask, or a 0/1 tensor, and the labels of its axes."""

_MOST_MASKS = 8
_COUNT = np.dtype(np.float64)  # a count may be large, but a sum of what is not negative does not come back to 0


class Supports:
    """The supports of nodes, found operands first."""

    __slots__ = ("_known", "_truths")

    def __init__(self) -> None:
        """Know of no node yet."""
        self._known: dict[Node, tuple[Placed, ...]] = {}
        self._truths = Truths()

    def placed(self, operand: Node, labels: Labels) -> list[Placed]:
        """The masks outside of which an operand of a product is zero, on the labels that it has there.

        None for a 0/1 tensor, along which the product reads and writes.
        """
        if isinstance(operand, Structural):
            return []
        return [(mask, tuple([labels[axis] for axis in axes])) for mask, axes in self._known.get(operand, ())]

    def enter(self, node: Node) -> None:
        """Deduce the support of a node from those of its operands."""
        found: Iterable[Placed] = ()
        if isinstance(node, Einsum) and node.dtype.kind == "f":
            found = projected(self.selecting(node), maps_of(node), range(len(node.shape)))
        elif isinstance(node, Affine | Selection | Unit):
            axes = tuple(range(len(node.shape)))
            found = [_counted([(node, axes)], set(axes))]
        elif isinstance(node, Add):
            terms = [list(self._known.get(operand, ())) for operand in node.operands]
            if all(terms):
                found = support_of_sum(terms, node.shape)
        kept = tuple(self.saying(dict.fromkeys(found)))[:_MOST_MASKS]
        if kept:
            self._known[node] = kept

    def saying(self, masks: Iterable[Placed]) -> list[Placed]:
        """Those of the masks that are not known to be true everywhere."""
        return [pair for pair in masks if not self._truths.everywhere(pair[0])]

    def selecting(self, node: Einsum) -> list[Placed]:
        """The masks among the factors of a product, and those outside of which its factors are zero."""
        found: dict[Placed, None] = {}
        for operand, labels in zip(node.operands, node.inputs, strict=True):
            if is_mask(operand):
                found[operand, labels] = None
            found.update(dict.fromkeys(self.placed(operand, labels)))
        return list(found)


def maps_of(node: Einsum) -> list[Placed]:
    """The 0/1 tensors among the factors of a product, save those of ones."""
    pairs = zip(node.operands, node.inputs, strict=True)
    return [(operand, labels) for operand, labels in pairs if isinstance(operand, Affine | Selection | Unit)]


def projected(masks: Sequence[Placed], maps: Sequence[Placed], kept: Iterable[int]) -> list[Placed]:
    """Masks over the labels to keep: true where some values of all other labels lead past all masks and along all maps.

    Those that have no other labels stand alone; the rest are counted, one count for what other labels connect.
    """
    wanted = set(kept)
    found = [pair for pair in masks if wanted.issuperset(pair[1])]
    found += [_counted([pair], wanted) for pair in maps if wanted.issuperset(pair[1])]
    waiting = [pair for pair in (*masks, *maps) if not wanted.issuperset(pair[1])]
    while waiting:
        joined = [waiting.pop(0)]
        reach = set(joined[0][1]) - wanted
        while True:
            near = [pair for pair in waiting if not reach.isdisjoint(pair[1])]
            if not near:
                break
            waiting = [pair for pair in waiting if pair not in near]
            joined += near
            reach.update(*[set(labels) - wanted for _, labels in near])
        if _meet(joined) or any(_may_miss(node, labels, wanted) for node, labels in joined):
            found.append(_counted(joined, wanted))
    return found


def _meet(joined: Sequence[Placed]) -> bool:
    """Whether two maps give the same index: one may lead where the other does not."""
    given = [_given(node, labels) for node, labels in joined if isinstance(node, Affine | Selection)]
    return len(set(given)) < len(given)


def _given(node: Node, labels: Labels) -> int:
    """The index that a map gives."""
    return labels[0] if isinstance(node, Affine) else labels[-1]


def _may_miss(node: Node, labels: Labels, kept: set[int]) -> bool:
    """Whether there may be an index that nothing leads to."""
    if not isinstance(node, Structural):
        return True
    to, *others = labels if isinstance(node, Affine) else (labels[-1], *labels[:-1])
    if to in kept:
        return not set(others) <= kept and not _covers(node)
    return not always_inside(node) and not kept.isdisjoint(others)


def _covers(node: Structural) -> bool:
    """Whether an affine map only shifts, flips or repeats one axis and leaves nothing out."""
    if not isinstance(node, Affine) or len(node.strides) != 1 or abs(node.strides[0]) != 1:
        return False
    ends = (node.offset, node.offset + node.strides[0] * (node.shape[1] - 1))
    return min(ends) <= 0 and max(ends) >= node.shape[0] - 1


def _counted(joined: Sequence[Placed], kept: set[int]) -> Placed:
    labels = tuple(sorted(kept.intersection(*[[label for _, held in joined for label in held]])))
    count = einsum([node for node, _ in joined], [held for _, held in joined], labels, 1, _COUNT)
    return apply("greater", count, zero(count.shape, _COUNT)), labels
