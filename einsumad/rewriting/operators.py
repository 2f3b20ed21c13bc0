"""The rule that contracts an operator row with a direction by computing it in that direction.

Imports the graph, the catalogue and the working form. Invariant: what is left open of an operator row in a product is
what the product itself has open, so that a derivative times a direction, or a cotangent times a derivative, forms no
tensor of order four. See :mod:`einsumad.functions.general.operators` for the laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import prod

import numpy as np

from einsumad.functions.general.operators import (
    adjoint,
    adjoint_labels,
    is_open_operator,
    pairs_of,
    with_direction,
    with_last_pair,
)
from einsumad.graph import BOOL, Einsum, General, Labels, Node, Structural, einsum, ones, unit
from einsumad.records import record
from einsumad.rewriting.product import Product, open_product
from einsumad.rewriting.rules import Context, Rule


@record
class Direction:
    """What a pair of axes of an operator row in a product is contracted with.

    `position` is that of the row and `pair` the number of the pair, 0 for the axes of its matrix; `labels` are those of
    the pair, made distinct from all others by `ties`. `absorbed` are the operands that make up the direction, `lead`
    the labels that it has besides those of the batch.
    """

    position: int
    pair: int
    labels: tuple[int, int]
    ties: tuple[tuple[Node, Labels], ...]
    absorbed: tuple[int, ...]
    lead: Labels
    share: float
    """How many directions there are, for each that an open pair stands for."""


def apply_operator(node: Einsum, context: Context) -> Node | None:
    """``Σ_kl T(A; E..)[i,j,k,l] V[k,l] = T(A; E.., V)[i,j]``, ``Σ_ij C[i,j] T(A; E..)[i,j,k,l] = T(Aᵀ; Eᵀ.., C)[k,l]``.

    V is what else in the product has k or l; its other indices become leading axes. Where that would be more directions
    than there are entries (k, l), T is formed.
    """
    if not any(is_open_operator(operand) for operand in node.operands):
        return None
    work = open_product(node)
    found = [
        direction
        for position, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True))
        if isinstance(operand, General) and is_open_operator(operand)
        for pair in range(len(pairs_of(labels, _batch(operand))))
        if (direction := _direction(work, position, pair)) is not None
    ]
    best = min(found, key=lambda direction: direction.share, default=None)
    if best is None or (context.joins_user and best.lead):
        return None
    return _applied(work, best)


def _batch(node: Node) -> int:
    return len(node.operands[0].shape) - 2


def _direction(work: Product, position: int, pair: int) -> Direction | None:
    """What the pair is contracted with, or None where it is better left open."""
    row, own = work.operands[position], work.inputs[position]
    assert isinstance(row, General)
    batch = own[: _batch(row)]
    places = pairs_of(own, len(batch))[pair]
    if len(set(batch)) < len(batch):
        return None
    closed = [label for label in places if label >= work.rank and own.count(label) == places.count(label)]
    sizes = work.sizes()
    fresh = work.fresh_label()
    names = [label if label in closed and places[0] != places[1] else fresh + k for k, label in enumerate(places)]
    ties = tuple(
        [
            (unit(sizes[label], 2, work.dtype), (name, label))
            for name, label in zip(names, places, strict=True)
            if name != label
        ]
    )
    tied = {label for _, (_, label) in ties}
    absorbed, lead = _absorbed(work, position, closed, tied, sizes)
    whole = prod([sizes[label] for label in places])
    count = prod([sizes[label] for label in lead])
    plain = not ties and not any(isinstance(work.operands[k], Structural) for k in absorbed)
    if count > whole or (count == whole and not plain):
        return None
    return Direction(position, pair, (names[0], names[1]), ties, absorbed, lead, count / max(whole, 1))


def _absorbed(
    work: Product, position: int, closed: Sequence[int], tied: Iterable[int], sizes: dict[int, int]
) -> tuple[tuple[int, ...], Labels]:
    """The operands that make up the direction, and its further labels; of what hangs together as much as is best.

    Operands are taken in one by one, each time the one that leaves fewest entries open, and then the last ones are
    given back unless they made them fewer.
    """
    row, labels = work.operands[position], work.inputs[position]
    batch = set(labels[: _batch(row)])
    own = set(labels) - batch
    taken = [k for k, labels in enumerate(work.inputs) if k != position and not set(closed).isdisjoint(labels)]

    def lead(chosen: Sequence[int]) -> Labels:
        held = set(chain(*[work.inputs[k] for k in chosen], tied)) - set(closed) - batch
        rest = set(chain(range(work.rank), *[labels for k, labels in enumerate(work.inputs) if k not in chosen]))
        return tuple(sorted(held & rest))

    best = lead(taken)
    kept = len(taken)
    while True:
        reach = {label for label in lead(taken) if label >= work.rank} - own
        near = [k for k, labels in enumerate(work.inputs) if k not in taken and not reach.isdisjoint(labels)]
        near = [k for k in near if k != position and own.isdisjoint(work.inputs[k])]
        if not near:
            break
        taken.append(min(near, key=lambda k: (_count(lead([*taken, k]), sizes), k)))
        if _count(lead(taken), sizes) < _count(best, sizes):
            best, kept = lead(taken), len(taken)
    return tuple(taken[:kept]), best


def _count(labels: Labels, sizes: dict[int, int]) -> int:
    return prod([sizes[label] for label in labels])


def _applied(work: Product, chosen: Direction) -> Node:
    """The product with the row of the direction in the place of the row and of what the direction is made of."""
    row, own = work.operands[chosen.position], work.inputs[chosen.position]
    assert isinstance(row, General)
    batch = _batch(row)
    if chosen.pair == 0:
        row, own = adjoint(row), adjoint_labels(own, batch)
    own = with_last_pair(own, batch, max(chosen.pair, 1))
    labels = (*chosen.lead, *own[:batch], *chosen.labels)
    direction = _made_of(work, chosen, row, labels)
    filled = with_direction(row, direction)
    work.drop([chosen.position, *chosen.absorbed])
    work.append(filled, (*chosen.lead, *own[:-2]))
    return work.build()


def _made_of(work: Product, chosen: Direction, row: General, labels: Labels) -> Node:
    """The direction: the product of what it absorbs, constant along the labels that none of it has."""
    sizes = {**work.sizes(), **{name: node.shape[0] for node, (name, _) in chosen.ties}}
    operands = [*[work.operands[k] for k in chosen.absorbed], *[node for node, _ in chosen.ties]]
    inputs = [*[work.inputs[k] for k in chosen.absorbed], *[held for _, held in chosen.ties]]
    dtype = np.result_type(row.dtype, *[operand.dtype for operand in operands if operand.dtype != BOOL])
    bare = [label for label in labels if not any(label in held for held in inputs)]
    spread = ones([sizes[label] for label in bare], dtype)
    return einsum([*operands, spread], [*inputs, bare], labels, 1, dtype)


RULES_FOR_PRODUCTS = (
    Rule(
        "apply-operator",
        Einsum,
        "Σ_kl T(A; E)[i,j,k,l] V[k,l] = T(A; E, V)[i,j]",
        "open directions",
        apply_operator,
        frozenset([General]),
    ),
)
