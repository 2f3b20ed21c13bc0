"""Rules for masks: boolean factors that select.

Imports the graph, the catalogue and the working form. Invariant: where a factor is zero because nothing was selected,
the product carries the mask that says so, and so stays zero against an infinite or undefined factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from typing import TypeAlias

from einsumad.functions import apply
from einsumad.graph import BOOL, Add, Einsum, Elementwise, Labels, Node, Unit, einsum, ones
from einsumad.rewriting.product import Product, is_mask, open_product
from einsumad.rewriting.rules import MASK, Context, Rule, stepwise

PlacedMask: TypeAlias = tuple[Node, Labels]
_DEEPEST = 4
"""Sums inside of one another that are looked through for masks."""


def share_masks(work: Product, context: Context) -> bool:
    """The masks of an operand are masks of the product; a mask that stands twice is dropped."""
    masks: set[PlacedMask] = set()
    repeated: list[int] = []
    for k, operand in enumerate(work.operands if work.dtype != BOOL else ()):
        if operand.dtype == BOOL:
            pair = operand, work.inputs[k]
            if pair in masks:
                repeated.append(k)
            masks.add(pair)
    missing = _missing(work, masks, context) if len(work.operands) > 1 else {}
    if repeated:
        work.drop(repeated)
    for mask, placed in missing:
        work.append(mask, placed)
    return bool(repeated or missing)


def _missing(work: Product, masks: set[PlacedMask], context: Context) -> dict[PlacedMask, None]:
    """The masks of operands that the product does not have itself."""
    known = context.notes.masks
    missing: dict[PlacedMask, None] = {}
    for operand, labels in zip(work.operands, work.inputs, strict=True):
        if not isinstance(operand, (Einsum, Add)):
            continue
        held = known.get(operand)
        if held is None:
            held = known[operand] = support(operand)
        for mask, axes in held:
            pair = (mask, tuple([labels[axis] for axis in axes]))
            if pair not in masks:
                missing[pair] = None
    return missing


def support(node: Node, deepest: int = _DEEPEST) -> list[PlacedMask]:
    """Masks, with the axes they stand on, outside of which the node is zero because nothing was selected."""
    if isinstance(node, Einsum):
        return _support_of_product(node, deepest)
    if isinstance(node, Add) and deepest and all(isinstance(term, Einsum) for term in node.operands):
        terms: list[list[PlacedMask]] = []
        for term in node.operands:
            terms.append(support(term, deepest - 1))
            if not terms[-1]:
                return []
        return support_of_sum(terms, node.shape)
    return []


def _support_of_product(node: Einsum, deepest: int) -> list[PlacedMask]:
    """The masks among the factors that stand on output axes, also where a delta carries them to another axis.

    Of one factor alone, as in a difference, they are its own: products of more carry them already.
    """
    rank = len(node.shape)
    if deepest and len(node.operands) == 1 and node.operands[0].dtype != BOOL:
        (labels,) = node.inputs
        inner = [
            (mask, tuple([labels[axis] for axis in axes])) for mask, axes in support(node.operands[0], deepest - 1)
        ]
        return [(mask, placed) for mask, placed in inner if all(label < rank for label in placed)]
    if not any(operand.dtype == BOOL for operand in node.operands):
        return []
    pairs = list(zip(node.operands, node.inputs, strict=True))
    ties = [sorted(labels) for operand, labels in pairs if isinstance(operand, Unit)]
    found: dict[PlacedMask, None] = {}
    for operand, labels in pairs:
        if is_mask(operand, node.dtype):
            alike = [next((tie for tie in ties if label in tie), [label]) for label in labels]
            for placed in product(*alike):
                if all(label < rank for label in placed):
                    found[operand, placed] = None
    return list(found)


def support_of_sum(terms: Sequence[list[PlacedMask]], shape: tuple[int, ...]) -> list[PlacedMask]:
    """Masks common to all terms, and the disjunction of what masks the terms have besides."""
    common = [pair for pair in terms[0] if all(pair in other for other in terms[1:])]
    others = [[pair for pair in term if pair not in common] for term in terms]
    if not all(others):
        return common
    single = [term[0] for term in others if len(term) == 1]
    if any(a[1] == b[1] and _are_complementary(a[0], b[0]) for a in single for b in single):
        return common
    each = dict.fromkeys([reduce(lambda a, b: _joined("logical_and", a, b, shape), term) for term in others])
    return [*common, reduce(lambda a, b: _joined("logical_or", a, b, shape), each)]


def _joined(function: str, first: PlacedMask, second: PlacedMask, shape: tuple[int, ...]) -> PlacedMask:
    """Two masks as one over the axes of both: in normal form, or the next pass would take it for another mask."""
    axes = tuple(sorted({*first[1], *second[1]}))
    return apply(function, *[_spread(placed, axes, shape) for placed in (first, second)]), axes


def _spread(placed: PlacedMask, axes: Labels, shape: tuple[int, ...]) -> Node:
    mask, labels = placed
    missing = [axis for axis in axes if axis not in labels]
    if not missing and labels == axes:
        return mask
    spread = [ones([shape[axis] for axis in missing], BOOL)] if missing else []
    return einsum([mask, *spread], [labels, *[missing for _ in spread]], axes, 1, BOOL)


def _are_complementary(a: Node, b: Node) -> bool:
    return any(
        isinstance(one, Elementwise) and one.function == "logical_not" and one.operands[0] is other
        for one, other in ((a, b), (b, a))
    )


def exclude(node: Einsum, _: Context) -> Node | None:
    """``[m] [not m] A = 0``: nothing is selected."""
    masks = [p for p in zip(node.operands, node.inputs, strict=True) if is_mask(p[0], node.dtype)]
    if any(a[1] == b[1] and _are_complementary(a[0], b[0]) for a in masks for b in masks):
        work = open_product(node)
        work.coefficient = 0
        return work.build()
    return None


RULES = (
    stepwise(
        "share-masks",
        "A (m B) = m A (m B); m m = m",
        "masks not yet shared",
        share_masks,
        frozenset([Einsum, Add, MASK]),
    ),
    Rule("exclude", Einsum, "[m] [¬m] A = 0", "nodes", exclude, frozenset(["logical_not"])),
)
