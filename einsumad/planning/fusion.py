"""Kernels that take in those of operands which nothing else reads.

Owns these fusions. Imports the kernels. Invariant: the value is that of the steps one after the other.

A sum of parts that each lie at a place of their own, as of what was concatenated, or of gradients in slices, would make
each part as large as the whole; :class:`Joined` writes each where it belongs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

import numpy as np

from einsumad.graph import BOOL, Add, Einsum, Elementwise, Labels, Node, Number, Structural
from einsumad.planning.kernels import (
    Choose,
    Embed,
    Group,
    Joined,
    Kernel,
    Overlap,
    Pad,
    Patched,
    Place,
    Sum,
    kernel_of,
)
from einsumad.planning.primitives import kind_of, lies_on_diagonals, only_scales


def fused_kernel(node: Node, users: Callable[[Node], int]) -> tuple[Kernel, tuple[Node, ...]]:
    """The kernel of a node, with those of operands that it takes in, given how many users a node has.

    Sums take in factors, become choices between complementary masks, add to a diagonal in place, and write parts to
    their places; groups take in reciprocals as divisions.
    """
    kernel, operands = kernel_of(node)
    match kernel:
        case Sum():
            return (
                _choice(node, operands, users)
                or _placed(operands, users)
                or _joined(node, operands, users)
                or _weighted(operands, users)
            )
        case Group() if node.dtype.kind == "f":
            return _patched(kernel, node, operands, users) or _divided(kernel, node, operands, users)
    return kernel, operands


def _patched(
    kernel: Group, node: Node, operands: tuple[Node, ...], users: Callable[[Node], int]
) -> tuple[Kernel, tuple[Node, ...]] | None:
    """``A[i] (c δ[i,j] + B[i,j])`` as ``A[i] B[i,j]`` with other entries on the diagonal: one pass over all entries."""
    if kernel.masks:
        return None
    for k, (operand, labels) in enumerate(zip(operands, kernel.inputs, strict=True)):
        found = _placed(operand.operands, users) if isinstance(operand, Add) and users(operand) == 1 else None
        if found is None or operand.dtype != node.dtype or operands.count(operand) > 1:
            continue
        place, (whole, *core) = found
        if isinstance(place, Place):
            placed = Place(
                tuple([labels[axis] for axis in place.labels]),
                tuple([tuple([labels[axis] for axis in delta]) for delta in place.deltas]),
                place.coefficient,
            )
            return Patched(kernel, placed, k), (*operands[:k], whole, *operands[k + 1 :], *core)
    return None


def _placed(operands: tuple[Node, ...], users: Callable[[Node], int]) -> tuple[Kernel, tuple[Node, ...]] | None:
    """Two terms of which one is zero but for diagonals, and has no other user."""
    if len(operands) != 2:
        return None
    for whole, term in (operands, operands[::-1]):
        coefficient, placed = _unscaled(term, users)
        if lies_on_diagonals(placed) and not lies_on_diagonals(_unscaled(whole, users)[1]) and users(placed) == 1:
            kernel, core = kernel_of(placed)
            if isinstance(kernel, Embed):
                return Place(kernel.labels, kernel.deltas, coefficient * kernel.coefficient), (whole, *core)
    return None


def _unscaled(node: Node, users: Callable[[Node], int]) -> tuple[Number, Node]:
    """The factor in front of a tensor that has no other user, and the tensor."""
    if isinstance(node, Einsum) and only_scales(node) and users(node) == 1 and isfinite(node.coefficient):
        return node.coefficient, node.operands[0]
    return 1, node


class _Part(NamedTuple):
    """A number times a tensor that is written into zeros from `start` on along an axis."""

    coefficient: Number
    tensor: Node
    labels: Labels
    along: int
    start: int


def _joined(
    node: Node, operands: tuple[Node, ...], users: Callable[[Node], int]
) -> tuple[Kernel, tuple[Node, ...]] | None:
    """Two or more terms that are zero but for a part along the same axis; terms without such a part are whole ones."""
    found = [_part(operand, node, users) for operand in operands]
    counts = Counter([part.along for part in found if part is not None])
    along = min(counts, key=lambda axis: (-counts[axis], axis), default=0)
    if counts[along] < 2:
        return None
    parts = []
    for operand, part in zip(operands, found, strict=True):
        if part is not None and part.along == along:
            parts.append(part)
        else:
            parts.append(_Part(*_unscaled(operand, users), tuple(range(len(node.shape))), along, 0))
    kernel = Joined(
        along,
        tuple([part.labels for part in parts]),
        tuple([part.start for part in parts]),
        tuple([part.coefficient for part in parts]),
    )
    return kernel, tuple([part.tensor for part in parts])


def _part(term: Node, whole: Node, users: Callable[[Node], int]) -> _Part | None:
    """The term as a part of the whole, if nothing else reads it; numbers and orders of axes are looked through."""
    coefficient: Number = 1
    axes: Labels = tuple(range(len(whole.shape)))
    while isinstance(term, Einsum) and users(term) == 1 and _turns(term):
        coefficient *= term.coefficient
        axes = tuple([axes[label] for label in term.inputs[0]])
        term = term.operands[0]
    if not isinstance(term, Einsum) or users(term) != 1 or kind_of(term) not in ("read", "write"):
        return None
    kernel, (core, *_) = kernel_of(term)
    match kernel:
        case Pad():
            at, along, start = kernel.at, kernel.place, -kernel.offset
        case Overlap(places=(at,)) if core.shape[kernel.labels.index(at)] == 1:
            along, start = kernel.at, kernel.offset
        case _:
            return None
    size = core.shape[kernel.labels.index(at)]
    labels = tuple([along if label == at else label for label in kernel.labels])
    if sorted(labels) != list(range(len(axes))) or not 0 <= start <= term.shape[along] - size:
        return None
    if not core.dtype == whole.dtype != BOOL:
        return None
    return _Part(coefficient, core, tuple([axes[label] for label in labels]), axes[along], start)


def _turns(node: Einsum) -> bool:
    """Whether the product is a number times one tensor of its dtype, with axes in any order."""
    if len(node.operands) != 1 or isinstance(node.operands[0], Structural) or not isfinite(node.coefficient):
        return False
    return node.operands[0].dtype == node.dtype and sorted(node.inputs[0]) == list(range(len(node.shape)))


def _weighted(operands: tuple[Node, ...], users: Callable[[Node], int]) -> tuple[Kernel, tuple[Node, ...]]:
    coefficients: list[Number] = []
    terms: list[Node] = []
    for operand in operands:
        coefficient: Number = 1
        if isinstance(operand, Einsum) and only_scales(operand):
            free = operand.coefficient == -1 or (users(operand) == 1 and isfinite(operand.coefficient))
            if free:
                coefficient, operand = operand.coefficient, operand.operands[0]  # noqa: PLW2901 - looked through
        coefficients.append(coefficient)
        terms.append(operand)
    return Sum(tuple(coefficients)), tuple(terms)


def _divided(
    kernel: Group, node: Node, operands: tuple[Node, ...], users: Callable[[Node], int]
) -> tuple[Kernel, tuple[Node, ...]]:
    """The group with reciprocals of no other user as divisors: a * (1/b) = a / b."""
    divisors = tuple(
        [
            k
            for k, operand in enumerate(operands)
            if isinstance(operand, Elementwise)
            and operand.function == "reciprocal"
            and operand.operands[0].dtype == node.dtype
            and users(operand) == 1
        ]
    )
    if not divisors:
        return kernel, operands
    inner = tuple([o.operands[0] if k in set(divisors) else o for k, o in enumerate(operands)])
    return Group(kernel.inputs, kernel.masks, divisors), inner


def _choice(
    node: Node, operands: tuple[Node, ...], users: Callable[[Node], int]
) -> tuple[Kernel, tuple[Node, ...]] | None:
    """Two terms with complementary masks: m a + (not m) b is a where m, else b."""
    if len(operands) != 2 or any(users(operand) != 1 for operand in operands):
        return None
    first, second = (_masked(operand, node.dtype, users) for operand in operands)
    if first is None or second is None:
        return None
    for yes, no in ((first, second), (second, first)):
        negation = no.mask
        complementary = isinstance(negation, Elementwise) and negation.function == "logical_not"
        if complementary and negation.operands[0] is yes.mask and no.places == yes.places:
            kernel = Choose((yes.places, yes.labels, no.labels), (yes.coefficient, no.coefficient))
            return kernel, (yes.mask, yes.value, no.value)
    return None


class _Masked(NamedTuple):
    """A number times a value where a mask holds, and the labels of mask and value."""

    coefficient: Number
    mask: Node
    places: Labels
    value: Node
    labels: Labels


def _masked(node: Node, dtype: np.dtype, users: Callable[[Node], int]) -> _Masked | None:
    """A group of one mask and one factor, or a number times such a group."""
    coefficient: Number = 1
    if isinstance(node, Einsum) and only_scales(node) and users(node.operands[0]) == 1:
        coefficient, node = node.coefficient, node.operands[0]
    if not isinstance(node, Einsum) or node.dtype != dtype or len(node.operands) != 2 or not isfinite(coefficient):
        return None
    masks = [k for k, operand in enumerate(node.operands) if operand.dtype == BOOL]
    if len(masks) != 1 or kind_of(node) != "group":
        return None
    mask, other = masks[0], 1 - masks[0]
    return _Masked(coefficient, node.operands[mask], node.inputs[mask], node.operands[other], node.inputs[other])
