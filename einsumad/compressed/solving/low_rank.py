"""A matrix that is easy to solve with, and terms of low rank.

Owns this strategy. Imports the factorisation of an update. Invariant: a term of low rank is ``U S Vᵀ`` with U over the
rows and V over the columns, which meet in summed labels alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from einsumad.compressed.factorisations import Factorisation, LowRankUpdate
from einsumad.compressed.forms import Form
from einsumad.compressed.solving.strategy import Arrays, Effort, Strategy
from einsumad.compressed.terms import Term
from einsumad.compressed.values import compute
from einsumad.graph import BOOL, Labels, Node, einsum, ones, order_key, unit
from einsumad.planning import Factor
from einsumad.records import record


@record
class Outer:
    """A term as ``left[rows, z] middle[z, z'] right[columns, z']``, each as an expression."""

    left: Node
    middle: Node
    right: Node
    ranks: tuple[int, int]


def outer_of(term: Term, rows: int) -> Outer | None:
    """The term as a product of a tensor over the rows and one over the columns; None where they meet otherwise."""
    sides = [set(term.axes[:rows]), set(term.axes[rows:])]
    if not sides[0].isdisjoint(sides[1]) or any(node.dtype == BOOL for node, _ in term.factors):
        return None
    items: list[list[Factor]] = [[], []]
    middle: list[Factor] = []
    for item in term.items:
        meeting = [k for k in (0, 1) if not sides[k].isdisjoint(item.labels)]
        if len(meeting) == 2:
            return None
        (items[meeting[0]] if meeting else middle).append(item)
    outside = [_labels(items[1 - k]) | _labels(middle) for k in (0, 1)]
    ranks = [_in_order(items[k], (_labels(items[k]) & outside[k]) - sides[k]) for k in (0, 1)]
    left, right = (_side(term, items[k], term.axes[k * rows : k * rows + rows], ranks[k]) for k in (0, 1))
    sizes = [term.volume(labels) for labels in ranks]
    return Outer(left, _middle(term, middle, ranks[0], ranks[1]), right, (sizes[0], sizes[1]))


def _labels(items: Sequence[Factor]) -> set[int]:
    return {label for _, labels in items for label in labels}


def _in_order(items: Sequence[Factor], chosen: set[int]) -> Labels:
    """The labels as they come in the factors in canonical order, whatever they are called."""
    ordered = sorted(items, key=lambda item: order_key(item.node))
    return tuple(dict.fromkeys([label for _, labels in ordered for label in labels if label in chosen]))


def _side(term: Term, items: Sequence[Factor], axes: Labels, rank: Labels) -> Node:
    held = _labels(items)
    distinct = tuple(dict.fromkeys(axes))
    operands, inputs = [node for node, _ in items], [labels for _, labels in items]
    bare = [label for label in distinct if label not in held]
    if bare or not operands:
        operands, inputs = [*operands, ones([term.sizes[k] for k in bare], term.dtype)], [*inputs, tuple(bare)]
    fresh = max(term.sizes, default=0) + 1
    output = [*range(fresh, fresh + len(axes)), *rank]
    for axis, label in zip(output, axes, strict=False):
        operands, inputs = [*operands, unit(term.sizes[label], 2, term.dtype)], [*inputs, (axis, label)]
    return einsum(operands, inputs, output, 1, term.dtype)


def _middle(term: Term, items: Sequence[Factor], left: Labels, right: Labels) -> Node:
    """``middle[z, z']``: what holds summed labels alone, and a delta for each that both sides have."""
    fresh = max(term.sizes, default=0) + 1
    names = {label: fresh + k for k, label in enumerate(right)}
    operands = [node for node, _ in items]
    inputs: list[Labels] = [labels for _, labels in items]
    for label in right:
        operands.append(unit(term.sizes[label], 2, term.dtype))
        inputs.append((label, names[label]))
    held = {label for labels in inputs for label in labels}
    bare = [label for label in left if label not in held]
    if bare or not operands:
        operands.append(ones([term.sizes[label] for label in bare], term.dtype))
        inputs.append(tuple(bare))
    output = [*left, *[names[label] for label in right]]
    return einsum(operands, inputs, output, term.coefficient, term.dtype)


class LowRankStrategy(Strategy):
    """A base, and the terms of low rank over the distinct tensors of their sides; `symmetric` if their sum is."""

    rough = True

    def __init__(self, form: Form, base: Strategy, terms: Sequence[Outer], symmetric: bool) -> None:
        self.base = base
        self.terms = tuple(terms)
        pairs = {(term.left, term.right) for term in terms}
        self.symmetric = symmetric and all((right, left) in pairs for left, right in pairs)
        self.sides = tuple(dict.fromkeys([side for term in terms for side in (term.left, term.right)]))
        size = prod([form.shape[p] for p in range(form.rows)])
        self.rank = sum([prod(side.shape[form.rows :]) for side in self.sides])
        base_work = base.effort.flops / max(1, size)  # of one solution, at most
        work = 4 * size * self.rank**2 + self.rank**3 + self.rank * min(base_work, 4.0 * size * size)
        kept = 3 * size * self.rank + 3 * self.rank**2
        super().__init__(form, base.effort + Effort(work, 20, kept * form.dtype.itemsize))

    def factorise(self, arrays: Arrays) -> Factorisation:
        """The base, updated."""
        rows = self.form.rows
        nodes = [*self.sides, *[term.middle for term in self.terms]]
        values = compute(nodes, arrays)
        sides = [np.asarray(v).reshape(-1, prod(s.shape[rows:])) for s, v in zip(self.sides, values, strict=False)]
        starts = np.cumsum([0, *[side.shape[1] for side in sides]])
        middle = np.zeros((starts[-1], starts[-1]), self.form.dtype)
        for term, value in zip(self.terms, values[len(sides) :], strict=True):
            first, second = (starts[self.sides.index(side)] for side in (term.left, term.right))
            part: Any = np.asarray(value).reshape(term.ranks)
            middle[first : first + term.ranks[0], second : second + term.ranks[1]] += part
        whole = np.concatenate(sides, axis=1)
        base = self.base.factorise(arrays)
        symmetric = self.symmetric and base.symmetric
        if symmetric:
            middle = (middle + middle.T) / 2
        return LowRankUpdate(base, whole, _diagonal_or(middle), whole, symmetric)


def _diagonal_or(middle: np.ndarray) -> np.ndarray:
    """The diagonal where there is nothing else."""
    diagonal = np.diagonal(middle)
    return diagonal.copy() if np.count_nonzero(middle) == np.count_nonzero(diagonal) else middle
