"""Rules for structural factors of a product: zeros, deltas, ones, and products that are no product.

Imports the graph and the working form. Invariant: afterwards a product holds no zero, holds a delta only over output
labels, and at most one tensor of ones, over output labels that nothing else covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

from einsumad.graph import Einsum, Node, Ones, Unit, Zero, ones, unit, zero
from einsumad.rewriting.product import Product
from einsumad.rewriting.rules import SINGLE, Context, Rule, stepwise


def annihilate(node: Einsum, _: Context) -> Node | None:
    """A structural zero wins over every other factor; so does a sum over nothing."""
    nothing = node.coefficient == 0
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if isinstance(operand, Zero):
            nothing = True
        elif 0 in operand.shape:
            sizes, rank = zip(labels, operand.shape, strict=True), len(node.shape)
            nothing = nothing or any(size == 0 and label >= rank for label, size in sizes)
    return zero(node.shape, node.dtype) if nothing else None


def resolve_units(work: Product, _: Context) -> bool:
    """Rename a summed index along a delta; tie output indices by one delta and write the first of them elsewhere."""
    units = [k for k, operand in enumerate(work.operands) if isinstance(operand, Unit)]
    if _is_resolved(work, units):
        return False
    groups = _tied_labels(work, units)
    sizes = {label: work.operands[k].shape[0] for k in units for label in work.inputs[k]}
    work.drop(units)
    names: dict[int, int] = {}
    kept: list[tuple[int, ...]] = []
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
        work.append(unit(sizes[free_labels[0]], len(free_labels), work.dtype), free_labels)
    work.cover()
    return True


def _tied_labels(work: Product, units: Sequence[int]) -> list[list[int]]:
    """The classes of labels that the deltas make equal, each sorted, in order."""
    classes: list[set[int]] = []
    for k in units:
        merged = set(work.inputs[k])
        for other in [known for known in classes if known & merged]:
            merged |= other
            classes.remove(other)
        classes.append(merged)
    return sorted(sorted(group) for group in classes)


def _is_resolved(work: Product, units: Sequence[int]) -> bool:
    """Whether each class is one delta over output labels, of which nothing else has any but the first."""
    tied: set[int] = set()
    for k in units:
        labels = work.inputs[k]
        rises = all(first < second for first, second in pairwise(labels))
        if not rises or labels[-1] >= work.rank or work.shape[labels[0]] <= 1 or not tied.isdisjoint(labels):
            return False
        if work.operands[k].dtype != work.dtype:
            return False
        tied.update(labels)
    later = tied.difference([work.inputs[k][0] for k in units])
    return all(later.isdisjoint(labels) for k, labels in enumerate(work.inputs) if k not in units)


def reduce_ones(work: Product, _: Context) -> bool:
    """``1[i] A[i,..] = A[i,..]``; ``sum_i 1[i] = n``; what is left is one tensor of ones over bare output labels."""
    held = [k for k, operand in enumerate(work.operands) if isinstance(operand, Ones)]
    labels_of_ones = list(chain(*[work.inputs[k] for k in held]))
    covered = set(chain(*[labels for k, labels in enumerate(work.inputs) if k not in held]))
    bare = sorted({label for label in labels_of_ones if label < work.rank and label not in covered})
    needed = bool(bare) or len(held) == len(work.operands)
    if not held or (len(held) == needed and bare == labels_of_ones and work.operands[held[0]].dtype == work.dtype):
        return False
    sizes = work.sizes()
    for label in {label for label in labels_of_ones if label >= work.rank and label not in covered}:
        work.coefficient *= sizes[label]
    work.drop(held)
    if needed:
        work.append(ones([sizes[label] for label in bare], work.dtype), bare)
    return True


def tie_single(work: Product, _: Context) -> bool:
    """``sum_k A[k] B[i] = A[i] B[i]`` where i and k have one entry: what adds nothing up is no sum."""
    held: dict[int, set[int]] = {}
    for k, (operand, labels) in enumerate(zip(work.operands, work.inputs, strict=True)):
        for label, size in zip(labels, operand.shape, strict=True):
            if size == 1:
                held.setdefault(label, set()).add(k)
    names: dict[int, int] = {}
    for label in sorted(label for label in held if label >= work.rank):
        first = next((other for other in sorted(held) if other < label and not held[other] & held[label]), None)
        if first is not None:
            names[label] = first
            held[first] |= held.pop(label)
    if names:
        work.rename(names)
    return bool(names)


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
    stepwise("resolve-units", "A[i] δ[i,j] = A[j]", "deltas and summed labels", resolve_units, frozenset([Unit])),
    stepwise("reduce-ones", "A[i] 1[i] = A[i]; Σ_i 1[i] = n", "labels held by ones", reduce_ones, frozenset([Ones])),
    stepwise("tie-single", "Σ_k A[k] B[i] = A[i] B[i] (one entry)", "summed labels", tie_single, frozenset([SINGLE])),
    Rule("unwrap", Einsum, "1 · A[i,j] = A[i,j]", "nodes", unwrap),
)
