"""Masks of a product: they select, and are never multiplied into anything that is summed or stored.

Owns the order in which masks meet factors. Imports the primitives. Invariant: where a mask is false no
factor whose labels contain the mask's, or are contained in them, contributes; a mask over output labels
holds for all factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from einsumad.graph import BOOL, Einsum, Labels
from einsumad.planning.primitives import Factor, group, is_mask, layout
from einsumad.planning.resolve import size_of


def without_stretched_axes(
    factors: Sequence[Factor], masks: Sequence[Factor], output: Labels
) -> tuple[list[Factor], list[Factor]]:
    """The factors and masks without axes of size 1 that not all have: a mask reaches across such an axis."""
    every = [factor for factor in (*factors, *masks) if factor.labels]
    single = {label for f in every for label, size in zip(f.labels, f.node.shape, strict=True) if size == 1}
    stretched = {label for label in single if not all(label in held for held in (output, *[f.labels for f in every]))}
    if not stretched:
        return list(factors), list(masks)

    def narrow(factor: Factor) -> Factor:
        return layout(factor, tuple([label for label in factor.labels if label not in stretched]))

    return [narrow(factor) for factor in factors], [narrow(mask) for mask in masks]


def apply_masks(
    factors: Sequence[Factor],
    masks: Sequence[Factor],
    output: Labels,
    sizes: dict[int, int],
    dtype: np.dtype,
    *,
    zeros: Mapping[Factor, Sequence[Factor]],
) -> tuple[list[Factor], list[Factor]]:
    """The factors after selection, and the masks that are left for the result.

    `zeros` has the masks outside of which a factor is zero as it is.
    """
    early: list[Factor] = []
    late: list[Factor] = []
    held = _held_by(factors, masks, zeros)
    for mask in joined(masks):
        free = [factor for factor, over in zip(factors, held, strict=True) if mask.labels not in over]
        (late if _belongs_last(mask, free, output, sizes) else early).append(mask)
    early.sort(key=lambda mask: -len(mask.labels))  # stable: equal sizes keep the canonical order
    parts = [_Part(factor, frozenset(factor.labels), found) for factor, found in zip(factors, held, strict=True)]
    sets = [(mask, frozenset(mask.labels)) for mask in early]
    for mask, labels in sets:
        parts = _collected(mask, labels, sets, parts, dtype)
    selected: list[Factor] = []
    for part in parts:
        missing = [m for m, labels in sets if labels <= part.labels and m.labels not in part.held]
        selected.append(group([part.factor], missing, part.factor.labels, dtype))
    kept = set(output)
    late += [mask for mask, labels in sets if labels <= kept and not all(labels <= part.labels for part in parts)]
    return selected, late


class _Part(NamedTuple):
    """A factor, its labels as a set, and the labels of the masks that were applied to it."""

    factor: Factor
    labels: frozenset[int]
    held: frozenset[Labels]


def joined(masks: Sequence[Factor]) -> list[Factor]:
    """One mask for each set of labels: those over equal sets hold together."""
    sets: dict[frozenset[int], list[Factor]] = {}
    for mask in masks:
        sets.setdefault(frozenset(mask.labels), []).append(mask)
    return [group(_distinct(same), [], same[0].labels, BOOL) for same in sets.values()]


def _held_by(
    factors: Sequence[Factor], masks: Sequence[Factor], zeros: Mapping[Factor, Sequence[Factor]]
) -> list[frozenset[Labels]]:
    """For each factor the sets of labels over which it is zero outside of all masks already."""
    over: dict[frozenset[int], list[Factor]] = {}
    for mask in masks:
        over.setdefault(frozenset(mask.labels), []).append(mask)
    found: list[frozenset[Labels]] = []
    for factor in factors:
        own = _masks_within(factor).union(zeros.get(factor, ()))
        found.append(frozenset([same[0].labels for same in over.values() if own.issuperset(same)]) if own else _NONE)
    return found


def _masks_within(factor: Factor) -> set[Factor]:
    """The masks that the product which a factor stands for has, over the labels of the factor."""
    node = factor.node
    if not isinstance(node, Einsum) or node.dtype == BOOL:
        return set()
    return {
        Factor(operand, tuple([factor.labels[label] for label in labels]))
        for operand, labels in zip(node.operands, node.inputs, strict=True)
        if is_mask(operand) and all(label < len(node.shape) for label in labels)
    }


_NONE: frozenset[Labels] = frozenset()


def _distinct(factors: Sequence[Factor]) -> list[Factor]:
    return list(dict.fromkeys(factors))


def _belongs_last(mask: Factor, factors: Sequence[Factor], output: Labels, sizes: dict[int, int]) -> bool:
    """Whether one selection of the result is right where selections of the factors are not, or costs less."""
    labels = set(mask.labels)
    if not labels <= set(output):
        return False
    if not all(labels <= set(f.labels) or labels >= set(f.labels) for f in factors):
        return True
    larger = sum(size_of(f.labels, sizes) for f in factors if labels < set(f.labels))
    return larger > size_of(output, sizes)


def _collected(
    mask: Factor,
    labels: frozenset[int],
    masks: Sequence[tuple[Factor, frozenset[int]]],
    parts: list[_Part],
    dtype: np.dtype,
) -> list[_Part]:
    """Multiply the factors within the mask's labels and select there; numbers may go with a larger factor."""
    inside = [part for part in parts if part.labels <= labels and mask.labels not in part.held]
    larger = [part for part in parts if labels < part.labels]
    if not inside and (larger or any(mask.labels in part.held for part in parts)):
        return parts
    place, within = mask.labels, labels
    if larger and all(not part.factor.labels for part in inside):
        carrier = min(larger, key=lambda part: len(part.factor.labels))
        inside.append(carrier)
        place, within = carrier.factor.labels, carrier.labels
    used = {id(part) for part in inside}  # the same factor may occur twice
    for part in inside:
        if part.labels == within:
            place = part.factor.labels
            break
    held = [m for m, own in masks if own <= within]
    result = group([part.factor for part in inside], held, place, dtype)
    rest = [part for part in parts if id(part) not in used]
    return [*rest, _Part(result, within, frozenset([m.labels for m in held]))]
