"""Rules that open nested products and sums.

Imports the graph and the working form. Invariant: structural factors never hide inside an operand of a product, where
they could not cancel; ordinary factors of a product with one user join it, up to a bounded number of operands, so that
the work for each node does not grow with the depth of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from einsumad.graph import (
    BOOL,
    Add,
    Affine,
    Einsum,
    Labels,
    Node,
    Number,
    Ones,
    Selection,
    Structural,
    Unit,
    add,
    einsum,
)
from einsumad.rewriting.product import Product, is_moderate, open_product
from einsumad.rewriting.rules import Context, Rule, stepwise

MOST_TERMS = 64
MOST_MAPS = 8
MOST_OUTER = 4


def flatten_product(work: Product, context: Context) -> bool:
    """``A (B C) = A B C`` where the inner product has no other user, only lays out one tensor or masks, or is larger.

    An outer product, larger than its factors, is cheap to make and dear to keep.
    """
    room = context.most_operands - len(work.operands)
    number = work.coefficient
    positions: set[int] = set()
    for k, operand in enumerate(work.operands):
        if isinstance(operand, Einsum) and operand.dtype in (work.dtype, BOOL):
            grows_by = len(operand.operands) - 1
            alone = not context.is_shared(operand) and work.operands.count(operand) == 1
            own = not context.joins_user and alone and grows_by <= room
            if (own or _opens_anywhere(operand, context)) and _is_free(operand, number, work.dtype):
                positions.add(k)
                room -= grows_by
                number *= operand.coefficient
    if positions:
        work.open(positions)
    return bool(positions)


def _opens_anywhere(operand: Einsum, context: Context) -> bool:
    """Whether a product that others use too is opened: it only lays out one tensor or masks, or is larger."""
    known = context.notes.opened
    found = known.get(operand)
    if found is None:
        found = known[operand] = is_layout(operand) or operand.dtype == BOOL or _is_outer(operand)
    return found


def _is_free(operand: Einsum, number: Number, dtype: np.dtype) -> bool:
    """Whether the number in front of the operand can be collected."""
    return operand.coefficient == 1 or is_moderate(number * operand.coefficient, dtype)


def is_layout(node: Einsum) -> bool:
    """Whether the product only scales, permutes, spreads or embeds one tensor: opening it computes nothing twice."""
    rank = len(node.shape)
    cores = [k for k, operand in enumerate(node.operands) if not isinstance(operand, Structural)]
    pairs = zip(node.operands, node.inputs, strict=True)
    return len(cores) <= 1 and all(
        label < rank or size == 1 for o, labels in pairs for label, size in zip(labels, o.shape, strict=True)
    )


def _is_outer(node: Einsum) -> bool:
    """Whether the product adds nothing up, and is larger than its factors."""
    if not 1 < len(node.operands) <= MOST_OUTER or max(max(labels, default=0) for labels in node.inputs) >= len(
        node.shape
    ):
        return False
    return prod(node.shape) > sum([prod(operand.shape) for operand in node.operands])


def inline(node: Einsum, positions: Iterable[int]) -> Node:
    """The product with the products at these positions opened."""
    work = open_product(node)
    work.open(set(positions))
    return work.build()


def put_in(node: Einsum, place: int, term: Node) -> Node:
    """The product with a term in the place of one factor, opened if it is a product."""
    work = open_product(node)
    work.operands[place] = term
    work.open({place})
    return work.build()


def expose_structure(work: Product, context: Context) -> bool:
    """``A (C δ) = (A δ) C``: a shared inner product keeps its core and gives its deltas, ones and selections away.

    So it does with factors that alone have one of its indices: ``A (x[b,i] C[b,j]) = (A x[b,i]) C[b,j]``. The core gets
    the users of the inner product, and that keeps this one: nothing opens either of them as if it were its own.
    """
    for k, operand in enumerate(work.operands):
        if isinstance(operand, Einsum) and operand.dtype == work.dtype:
            known = context.notes.structure
            split = known[operand] if operand in known else known.setdefault(operand, _split(operand))
            if split is not None:
                core, free, given_away = split
                context.users[core] = max(context.users[core], context.users[operand])
                context.users[operand] += 1
                places = work.inputs[k]
                work.drop([k])
                work.append(core, [places[axis] for axis in free])
                for factor, labels in given_away:
                    work.append(factor, [places[axis] for axis in labels])
                return True
    return False


def _split(node: Einsum) -> tuple[Node, Labels, list[tuple[Node, Labels]]] | None:
    """The core of a product with its axes in it, and the structural factors with theirs; None if it has none."""
    rank = len(node.shape)
    pairs = list(zip(node.operands, node.inputs, strict=True))
    outer = _outer_factors(node)
    away = [k in outer or _is_given_away(*pair, rank) for k, pair in enumerate(pairs)]
    given_away = [pair for pair, gone in zip(pairs, away, strict=True) if gone]
    kept = [pair for pair, gone in zip(pairs, away, strict=True) if not gone]
    if not given_away or not kept:
        return None
    free: Labels = tuple(sorted({label for _, labels in kept for label in labels if label < rank}))
    core = einsum([o for o, _ in kept], [labels for _, labels in kept], free, node.coefficient, node.dtype)
    return core, free, given_away


def _is_given_away(operand: Node, labels: Labels, rank: int) -> bool:
    """Deltas, ones, and selections over axes of the product: one-hot rows beside a tensor that has no such axis."""
    return isinstance(operand, Unit | Ones | Selection) and all(label < rank for label in labels)


def _outer_factors(node: Einsum) -> set[int]:
    """The factors over axes of the product of which they alone have one, where the others are summed over an index.

    Of products that are larger than each factor: others are small enough to keep.

    Not those that a map reads or writes along one of their axes: what it leaves out is zero only inside, and times an
    infinite factor that has left it would be no longer.
    """
    rank = len(node.shape)
    if prod(node.shape) <= max([prod(operand.shape) for operand in node.operands], default=1):
        return set()
    mapped = {
        label
        for operand, labels in zip(node.operands, node.inputs, strict=True)
        if isinstance(operand, Affine | Selection)
        for label in labels
    }
    holders: dict[int, list[int]] = {}
    for k, labels in enumerate(node.inputs):
        for label in set(labels):
            holders.setdefault(label, []).append(k)
    inside = {k for label, held in holders.items() if label >= rank for k in held}
    found: set[int] = set()
    for label, held in holders.items():
        if not inside or label >= rank or node.shape[label] <= 1 or not inside.isdisjoint(held):
            continue
        if mapped.isdisjoint([other for k in held for other in node.inputs[k]]):
            found.update(held)
    return found


def distribute_maps(node: Einsum, _: Context) -> Node | None:
    """``A (S + T) = A S + A T`` where S and T are 0/1 tensors alone, along each of which A can be read or written.

    Only where they act on one tensor or on other 0/1 tensors: what more there is would be multiplied for each of them.
    """
    pairs = list(zip(node.operands, node.inputs, strict=True))
    for k, operand in enumerate(node.operands):
        if not isinstance(operand, Add) or not _is_sum_of_maps(operand) or operand.dtype != node.dtype:
            continue
        if not meets_maps([pair for j, pair in enumerate(pairs) if j != k], node.inputs[k]):
            continue
        return add([put_in(node, k, term) for term in operand.operands], node.dtype)
    return None


def _is_plain(node: Node) -> bool:
    return isinstance(node, (Unit, Ones))


def _is_sum_of_maps(node: Node) -> bool:
    """Whether all terms are products of affine tensors, selections, deltas and ones, not of the last two alone."""
    if not isinstance(node, Add) or len(node.operands) > MOST_MAPS:
        return False
    return are_maps([operand for term in node.operands for operand in _factors(term)])


def are_maps(factors: Sequence[Node]) -> bool:
    """Whether all are 0/1 tensors, and some of them no deltas or ones."""
    return all(isinstance(factor, Structural) for factor in factors) and not all(map(_is_plain, factors))


def meets_maps(others: Sequence[tuple[Node, Labels]], labels: Iterable[int]) -> bool:
    """Whether a sum of maps over these labels is opened: beside one tensor at most, and where they share an index."""
    if sum(not isinstance(other, Structural) and not _is_sum_of_maps(other) for other, _ in others) > 1:
        return False
    touched = {label for other, held in others if not _is_plain(other) for label in held}
    return not touched.isdisjoint(labels)


def _factors(term: Node) -> Sequence[Node]:
    return term.operands if isinstance(term, Einsum) else (term,)


def flatten_sum(node: Add, context: Context) -> Node | None:
    """``A + (B + C) = A + B + C`` where the inner sum has no other user."""
    room = MOST_TERMS - len(node.operands)
    terms: list[Node] = []
    changed = False
    for operand in node.operands:
        inner = isinstance(operand, Add) and operand.dtype == node.dtype and not context.is_shared(operand)
        if inner and len(operand.operands) - 1 <= room:
            room -= len(operand.operands) - 1
            terms.extend(operand.operands)
            changed = True
        else:
            terms.append(operand)
    return add(terms, node.dtype) if changed else None


_NESTED: frozenset[object] = frozenset([Einsum])

RULES_FOR_PRODUCTS = (
    stepwise("flatten-product", "A (B C) = A B C", "nested products", flatten_product, _NESTED),
    stepwise("expose-structure", "A (C δ) = (A δ) C", "structural factors inside operands", expose_structure, _NESTED),
)
RULE_FOR_MAPS = Rule(
    "distribute-maps", Einsum, "A (S + T) = A S + A T", "sums of 0/1 tensors", distribute_maps, frozenset([Add])
)
RULES_FOR_SUMS = (Rule("flatten-sum", Add, "A + (B + C) = A + B + C", "nested sums", flatten_sum, frozenset([Add])),)
