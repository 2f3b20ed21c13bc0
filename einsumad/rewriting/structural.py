"""Rules for structural factors of a product: zeros, deltas, ones, and products that are no product.

Imports the graph and the working form. Invariant: afterwards a product holds no zero, holds a delta only over output
labels, and at most one tensor of ones, over output labels that nothing else covers.
"""

from __future__ import annotations

from itertools import chain

from einsumad.graph import Einsum, Node, Ones, Unit, Zero, ones, unit, zero
from einsumad.rewriting.product import Product, open_product
from einsumad.rewriting.rules import Context, Rule


def annihilate(node: Einsum, _: Context) -> Node | None:
    """A structural zero wins over every other factor; so does a sum over nothing."""
    if node.coefficient == 0 or any(isinstance(operand, Zero) for operand in node.operands):
        return zero(node.shape, node.dtype)
    rank = len(node.shape)
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if 0 in operand.shape and any(
            size == 0 and label >= rank for label, size in zip(labels, operand.shape, strict=True)
        ):
            return zero(node.shape, node.dtype)
    return None


def resolve_units(node: Einsum, _: Context) -> Node | None:
    """Rename a summed index along a delta; tie output indices by one delta and write the first of them elsewhere."""
    if not any(isinstance(operand, Unit) for operand in node.operands):
        return None
    work = open_product(node)
    groups = _tied_labels(work)
    work.drop([k for k, operand in enumerate(work.operands) if isinstance(operand, Unit)])
    names: dict[int, int] = {}
    kept: list[tuple[int, ...]] = []
    sizes = open_product(node).sizes()
    for group in groups:
        free = [label for label in group if label < work.rank]
        first = free[0] if free else group[0]
        names.update(dict.fromkeys(group, first))
        if len(free) > 1 and sizes[first] > 1:
            kept.append(tuple(free))
        elif not free and not any(set(group) & set(labels) for labels in work.inputs):
            work.coefficient *= sizes[first]
    work.rename(names)
    for free_labels in kept:
        work.append(unit(sizes[free_labels[0]], len(free_labels), node.dtype), free_labels)
    result = work.build()
    return None if result is node else result


def _tied_labels(work: Product) -> list[list[int]]:
    """The classes of labels that the deltas make equal, each sorted, in order."""
    classes: list[set[int]] = []
    for operand, labels in zip(work.operands, work.inputs, strict=True):
        if isinstance(operand, Unit):
            merged = set(labels)
            for other in [known for known in classes if known & merged]:
                merged |= other
                classes.remove(other)
            classes.append(merged)
    return sorted(sorted(group) for group in classes)


def reduce_ones(node: Einsum, _: Context) -> Node | None:
    """``1[i] A[i,..] = A[i,..]``; ``sum_i 1[i] = n``; what is left is one tensor of ones over bare output labels."""
    held = [k for k, operand in enumerate(node.operands) if isinstance(operand, Ones)]
    if not held:
        return None
    work = open_product(node)
    labels_of_ones = list(chain(*(node.inputs[k] for k in held)))
    covered = set(chain(*(labels for k, labels in enumerate(node.inputs) if k not in held)))
    sizes = work.sizes()
    bare = sorted({label for label in labels_of_ones if label < work.rank and label not in covered})
    for label in {label for label in labels_of_ones if label >= work.rank and label not in covered}:
        work.coefficient *= sizes[label]
    work.drop(held)
    if bare or not work.operands:
        work.append(ones([sizes[label] for label in bare], node.dtype), bare)
    result = work.build()
    return None if result is node else result


def tie_single(node: Einsum, _: Context) -> Node | None:
    """``sum_k A[k] B[i] = A[i] B[i]`` where i and k have one entry: what adds nothing up is no sum."""
    if not any(1 in operand.shape for operand in node.operands):
        return None
    held: dict[int, set[int]] = {}
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        for label, size in zip(labels, operand.shape, strict=True):
            if size == 1:
                held.setdefault(label, set()).add(k)
    names: dict[int, int] = {}
    for label in sorted(label for label in held if label >= len(node.shape)):
        first = next((other for other in sorted(held) if other < label and not held[other] & held[label]), None)
        if first is not None:
            names[label] = first
            held[first] |= held.pop(label)
    if not names:
        return None
    work = open_product(node)
    work.rename(names)
    return work.build()


def unwrap(node: Einsum, _: Context) -> Node | None:
    """``1 * A[i,j] = A[i,j]``: a product that changes nothing is its operand; a product of nothing but one is ones."""
    if node.coefficient != 1 or len(node.operands) != 1:
        return None
    (operand,), (labels,) = node.operands, node.inputs
    if operand.dtype == node.dtype and labels == tuple(range(len(node.shape))):
        return operand
    return None


RULES = (
    Rule("annihilate", Einsum, "A[i] 0[j] = 0[i,j]", "nodes", annihilate),
    Rule("resolve-units", Einsum, "A[i] δ[i,j] = A[j]", "deltas and summed labels", resolve_units, frozenset([Unit])),
    Rule(
        "reduce-ones", Einsum, "A[i] 1[i] = A[i]; Σ_i 1[i] = n", "labels held by ones", reduce_ones, frozenset([Ones])
    ),
    Rule("tie-single", Einsum, "Σ_k A[k] B[i] = A[i] B[i] (one entry)", "summed labels", tie_single),
    Rule("unwrap", Einsum, "1 · A[i,j] = A[i,j]", "nodes", unwrap),
)
