"""The first step of a product: units rename, ones spread, and what is left is a product of stored tensors.

Owns the elimination of structural operands and of operands that only rearrange another tensor. Imports the
primitives. Invariant: the resolved product, embedded, is the product; its factors and masks have distinct
labels each.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, prod

import numpy as np

from einsumad.graph import (
    BOOL,
    Affine,
    Einsum,
    Labels,
    Node,
    Number,
    Ones,
    Selection,
    Structural,
    Unit,
    Zero,
    einsum,
    unit,
)
from einsumad.planning.primitives import Factor, has_sum, is_mask, layout, number
from einsumad.records import record

_LARGEST_COEFFICIENT = 1e64


@record
class Resolved:
    """A product of factors where all masks hold, summed to the labels of `output`, and how it is embedded.

    `maps` are affine tensors and selections. `axes` has the label of each axis of the result: a label that comes back
    is a delta, one that `output` lacks is spread. `work` is the dtype that the product is computed in.
    """

    factors: list[Factor]
    masks: list[Factor]
    maps: list[Factor]
    output: Labels
    coefficient: Number
    sizes: dict[int, int]
    axes: Labels
    work: np.dtype


def resolve(node: Einsum, *, stored_deltas: bool = False) -> Resolved | None:
    """The product without units and ones; None where it is a structural zero. Deltas may become stored masks."""
    found, coefficient = _inlined(node)
    if stored_deltas:
        found = [_stored(f) for f in found]
    sizes = {label: size for f in found for label, size in zip(f.labels, f.node.shape, strict=True)}
    if 0 in sizes.values() or any(isinstance(f.node, Zero) for f in found):
        return None
    names = _renaming(found)
    found = [Factor(f.node, tuple([names.get(label, label) for label in f.labels])) for f in found]
    axes = tuple([names.get(label, label) for label in range(len(node.shape))])
    stored = [f for f in found if not isinstance(f.node, Unit | Ones)]
    held = {label for f in stored for label in f.labels}
    for label in {label for f in found for label in f.labels} - held - set(axes):
        coefficient *= sizes[label]
    maps = [f for f in stored if isinstance(f.node, Structural)]
    masks = [f for f in stored if is_mask(f.node)]
    factors = [f for f in stored if not is_mask(f.node) and not isinstance(f.node, Structural)]
    work = np.result_type(node.dtype, *{f.node.dtype for f in factors})
    if not isfinite(coefficient) and stored:
        factors.append(number(coefficient, work))
        coefficient = 1
    output = tuple([label for label in dict.fromkeys(axes) if label in held])
    factors = [layout(f, tuple(dict.fromkeys(f.labels)), 1, work) for f in factors]
    masks = [layout(f, tuple(dict.fromkeys(f.labels))) for f in masks]
    return Resolved(factors, masks, maps, output, coefficient, sizes, axes, work)


def _stored(factor: Factor) -> Factor:
    """The factor, a stored mask in the place of a delta: it selects what is multiplied with it, and is contracted."""
    if not isinstance(factor.node, Unit):
        return factor
    axes = range(len(factor.node.shape))
    return Factor(einsum([unit(factor.node.shape[0], len(axes), BOOL)], [axes], axes, 1, BOOL), factor.labels)


def _inlined(node: Einsum) -> tuple[list[Factor], Number]:
    """The factors, with operands that only rearrange, scale or spread a tensor replaced by that tensor."""
    coefficient = node.coefficient
    found: list[Factor] = []
    pending = list(zip(reversed(node.operands), reversed(node.inputs), strict=True))
    while pending:
        operand, labels = pending.pop()
        if not isinstance(operand, Einsum) or not rearranges(operand) or _wraps(operand, node.dtype):
            found.append(Factor(operand, labels))
            continue
        product = coefficient * operand.coefficient
        if operand.coefficient != 1 and not 1 / _LARGEST_COEFFICIENT < abs(product) < _LARGEST_COEFFICIENT:
            found.append(Factor(operand, labels))
            continue
        coefficient = product
        for inner, places in zip(reversed(operand.operands), reversed(operand.inputs), strict=True):
            pending.append((inner, tuple([labels[place] for place in places])))
    return found, coefficient


def _wraps(node: Einsum, dtype: np.dtype) -> bool:
    """Whether whole numbers are scaled within bounds that are none of the product."""
    return node.coefficient != 1 and node.dtype.kind in "iu" and node.dtype != dtype


def rearranges(node: Node) -> bool:
    """Whether the node only permutes, scales, spreads or embeds one tensor of its own dtype."""
    if not isinstance(node, Einsum):
        return False
    ordinary = [operand for operand in node.operands if not isinstance(operand, Unit | Ones)]
    if len(ordinary) > 1 or not isfinite(node.coefficient) or has_sum(node):
        return False
    if any(len(set(labels)) < len(labels) for labels in node.inputs):
        return False  # a diagonal is taken where it is
    return all(o.dtype == node.dtype and not isinstance(o, Affine | Selection) for o in ordinary)


def _renaming(factors: Iterable[Factor]) -> dict[int, int]:
    """For each label in a unit the smallest label equal to it: an output label where there is one."""
    names: dict[int, int] = {}
    for factor in factors:
        if isinstance(factor.node, Unit):
            together = {names.get(label, label) for label in factor.labels}
            first = min(together)
            names.update(dict.fromkeys(factor.labels, first))
            for label, name in names.items():
                if name in together:
                    names[label] = first
    return names


def size_of(labels: Iterable[int], sizes: dict[int, int]) -> int:
    """The number of entries of a tensor with these labels."""
    return prod([sizes[label] for label in labels])
