"""The algebra of affine tensors and selections inside products.

Owns composition, summation and orientation of structural factors. Imports the graph and the working form.
Invariant: every step is exact for all indices, bounds included; where that cannot be shown from sizes and
strides, nothing is done.

An affine tensor over labels ``l`` is the indicator of one integer equation ``c0 + Σ c[l] l = 0`` over the box
of its labels (``in`` has coefficient -1, each out axis its stride). Two of them that share a summed label
``s`` are two equations; if ``s`` has coefficient ±1 in one, it can be substituted into the other, which
leaves one equation. The box ``0 <= s < size`` is lost thereby, so it must follow from the equations that are
left. Everything below is this remark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, prod
from typing import Any

import numpy as np

from einsumad.graph import (
    BOOL,
    Affine,
    Einsum,
    Labels,
    Node,
    Ones,
    Selection,
    add,
    affine,
    constant,
    einsum,
    ones,
    scale,
    selection,
    zero,
)
from einsumad.records import record
from einsumad.rewriting.product import Product, open_product
from einsumad.rewriting.rules import Context, Rule

_INDEX_DTYPE = np.dtype(np.int64)
Factor = tuple[Node, Labels]


@record
class Equation:
    """``constant + Σ coefficients[label] · label = 0``; labels with coefficient 0 belong to it too."""

    coefficients: Mapping[int, int]
    constant: int

    def without(self, label: int) -> Equation:
        """The equation in which a label no longer takes part."""
        return Equation({k: c for k, c in self.coefficients.items() if k != label}, self.constant)

    def reach(self, sizes: Mapping[int, int]) -> tuple[int, int]:
        """The least and the greatest value of the left-hand side over the box."""
        ends = [c * (sizes[label] - 1) for label, c in self.coefficients.items()]
        return self.constant + sum(min(0, end) for end in ends), self.constant + sum(max(0, end) for end in ends)

    def bounds(self, label: int, sizes: Mapping[int, int]) -> tuple[int, int]:
        """The least and the greatest integer that the equation allows for a label of nonzero coefficient."""
        low, high = self.without(label).reach(sizes)
        factor = -self.coefficients[label]
        if factor < 0:
            low, high, factor = -high, -low, -factor
        return -(-low // factor), high // factor


def read_affine(operand: Affine, labels: Labels) -> Equation:
    """``[in = offset + Σ stride · out]`` as an equation; repeated labels add up, size 1 does not act."""
    coefficients = dict.fromkeys(labels, 0)
    for label, step, size in zip(labels, (-1, *operand.strides), operand.shape, strict=True):
        coefficients[label] += step if size > 1 else 0
    return Equation(coefficients, operand.offset)


def reads_fewer(node: Node, labels: Labels, at: int) -> bool:
    """Whether the node is a map to an index, of fewer places than there are indices, that stays within its bounds."""
    if labels.count(at) != 1:
        return False
    match node:
        case Affine(shape=(size, *sizes)):
            low, high = read_affine(node, tuple(range(len(labels)))).without(0).reach(dict(enumerate(node.shape)))
            return labels[0] == at and prod(sizes) < size and low >= 0 and high < size
        case Selection(shape=(*sizes, size)):
            return labels[-1] == at and prod(sizes) < size
    return False


def write_affine(equation: Equation, sizes: Mapping[int, int], dtype: Any) -> Factor | None:
    """The structural tensor of an equation, in canonical orientation.

    A label can be the ``in`` axis if its coefficient divides all others; of several the one with the smallest
    :func:`_form_key` is taken. An equation of no label is 1 or 0 everywhere; one that no integers solve is 0;
    one of a single label has no affine form.
    """
    labels = tuple(sorted(equation.coefficients))
    shape = [sizes[label] for label in labels]
    acting = {label: c for label, c in equation.coefficients.items() if c}
    divisor = gcd(*acting.values())
    if equation.constant % divisor if divisor else equation.constant:
        return zero(shape, dtype), labels
    if not acting:
        return ones(shape, dtype), labels
    forms = [_solved(equation, label, sizes) for label, c in acting.items() if abs(c) == divisor]
    if not forms or len(labels) == 1:
        return None
    _, places, (in_size, *out_sizes), strides, offset = min(forms)
    return affine(in_size, out_sizes, strides, offset, dtype), places


def _form_key(shape: Sequence[int], strides: Sequence[int], offset: int) -> tuple[Any, ...]:
    """The order among forms of one tensor: long in axis, few negative strides, small non-negative offset."""
    return (
        -shape[0],
        sum(step < 0 for step in strides),
        offset < 0,
        abs(offset),
        strides,
        [-size for size in shape],
    )


def _solved(
    equation: Equation, label: int, sizes: Mapping[int, int]
) -> tuple[tuple[Any, ...], Labels, tuple[int, ...], tuple[int, ...], int]:
    """The form key, labels, shape, strides and offset of an equation solved for one label."""
    factor = -equation.coefficients[label]
    outs = sorted((-sizes[k], c // factor, k) for k, c in equation.coefficients.items() if k != label)
    shape = (sizes[label], *[-size for size, _, _ in outs])
    strides = tuple([step for _, step, _ in outs])
    offset = equation.constant // factor
    return _form_key(shape, strides, offset), (label, *[k for _, _, k in outs]), shape, strides, offset


def compose_affine(first: Equation, second: Equation, summed: int, sizes: Mapping[int, int]) -> Equation | None:
    """``Σ_s [first] [second]`` as one equation, or None.

    Covers ``Σ_k [i = a + p k] [k = b + q j] = [i = a + p b + p q j]`` (out axis against in axis), ``Σ_k [k =
    a + p i] [k = b ± j] = [j = ±(a - b + p i)]`` (the common in axis) and ``Σ_k [i = a ± k] [j = b + q k]``
    (a common out axis), provided that no solution has ``k`` out of bounds. Where ``k`` is 0 alone, ``u = 0``
    and ``v = 0`` become ``u + n v = 0`` with n larger than any value of u.
    """
    if sizes[summed] == 1:
        low, high = first.reach(sizes)
        weight = 1 + max(abs(low), abs(high))
        first = Equation({**first.coefficients, summed: -weight}, first.constant)
        second = Equation({**second.coefficients, summed: 1}, second.constant)
        return _substitute(second, first, summed)
    ranges = [e.bounds(summed, sizes) for e in (first, second) if e.coefficients[summed]]
    if not ranges:
        return None
    low, high = max(low for low, _ in ranges), min(high for _, high in ranges)
    if low <= high and (low < 0 or high >= sizes[summed]):
        return None
    for source, target in ((first, second), (second, first)):
        if abs(source.coefficients[summed]) == 1:
            return _substitute(source, target, summed)
    return None


def sum_affine(equation: Equation, summed: int, sizes: Mapping[int, int]) -> tuple[int, Equation] | None:
    """``Σ_s [equation]`` as a count times an equation, or None.

    ``Σ_k [i = a + p j] = n [i = a + p j]`` where k does not act; ``Σ_k [k = a + p j] = 1[j]`` and
    ``Σ_k [i = a ± k + p j] = 1[i,j]`` where all solutions are in bounds.
    """
    factor = equation.coefficients[summed]
    rest = equation.without(summed)
    if factor == 0:
        return sizes[summed], rest
    low, high = equation.bounds(summed, sizes)
    if abs(factor) != 1 or low < 0 or high >= sizes[summed]:
        return None
    return 1, Equation(dict.fromkeys(rest.coefficients, 0), 0)


def _substitute(source: Equation, target: Equation, label: int) -> Equation:
    """Add the multiple of the source to the target that cancels the label."""
    factor = -target.coefficients[label] // source.coefficients[label]
    coefficients = dict(target.coefficients)
    for other, c in source.coefficients.items():
        coefficients[other] = coefficients.get(other, 0) + factor * c
    del coefficients[label]
    return Equation(coefficients, target.constant + factor * source.constant)


def select_affine(picked: Selection, labels: Labels, mapped: Affine, places: Labels) -> Factor | None:
    """``Σ_k [k = index[r]] [i = a + p k] = [i = a + p index[r]]``, or None.

    Against the in axis: ``Σ_k [k = index[r]] [k = a ± j] = [j = ±(index[r] - a)]``.

    The new indices must be in bounds for every value the old can have.
    """
    index, size = picked.operands[0], picked.shape[-1]
    if len(places) != 2 or places[0] == places[1] or index.dtype != _INDEX_DTYPE:
        return None
    (step,), offset = mapped.strides, mapped.offset
    if labels[-1] == places[1]:
        new_size, new_label = mapped.shape[0], places[0]
    elif abs(step) == 1:
        new_size, new_label, offset = mapped.shape[1], places[1], -step * offset
    else:
        return None
    ends = (offset, offset + step * (size - 1))
    if new_label in labels[:-1] or min(ends) < 0 or max(ends) >= new_size:
        return None
    moved = scale(step, index)
    if offset:
        moved = add([moved, constant(offset, index.shape, index.dtype)])
    return selection(moved, new_size, picked.dtype), (*labels[:-1], new_label)


def select_selection(picked: Selection, labels: Labels, other: Selection, places: Labels) -> Factor | None:
    """``Σ_k [k = u[r]] [m = v[k]] = [m = v[u[r]]]``, or None.

    The gather of integers ``v[u[r]]`` is a product with the first selection again, ``Σ_k [k = u[r]] v[k]``.
    """
    shared, (*axes, last) = labels[-1], places
    if axes.count(shared) != 1 or last == shared:
        return None
    output = tuple(dict.fromkeys([*labels[:-1], *[label for label in axes if label != shared]]))
    if last in output:
        return None
    inner = other.operands[0]
    gather = selection(picked.operands[0], picked.shape[-1], inner.dtype)
    composed = einsum([gather, inner], [labels, axes], output, 1, inner.dtype)
    return selection(composed, other.shape[-1], picked.dtype), (*output, last)


def contract_structural(node: Einsum) -> Node | None:
    """Replace one or two structural factors that alone hold a summed label by one without it, where exact.

    Each step removes a summed label and adds no operand.
    """
    if node.dtype == BOOL or not any(isinstance(operand, (Affine, Selection)) for operand in node.operands):
        return None
    work = open_product(node)
    holders: dict[int, list[int]] = {}
    for k, labels in enumerate(node.inputs):
        for label in dict.fromkeys(labels):
            if label >= work.rank:
                holders.setdefault(label, []).append(k)
    for label, positions in sorted(holders.items()):
        acting = [k for k in positions if not isinstance(node.operands[k], Ones)]
        if len(acting) in (1, 2) and all(isinstance(node.operands[k], (Affine, Selection)) for k in acting):
            found = _without(label, [(node.operands[k], node.inputs[k]) for k in acting], work)
            if found is not None:
                return _replaced(work, label, positions, found)
    return None


def orient_affine(node: Einsum) -> Node | None:
    """``[i = a ± j] = [j = ±(i - a)]``: an affine factor in canonical orientation; its form gets smaller."""
    if not any(isinstance(operand, Affine) for operand in node.operands):
        return None
    work = open_product(node)
    sizes = work.sizes()
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, Affine):
            continue
        found = write_affine(read_affine(operand, labels), sizes, operand.dtype)
        if found is not None and _is_smaller(found, operand, labels):
            work.operands[k], work.inputs[k] = found
            return work.build()
    return None


def _is_smaller(found: Factor, operand: Affine, labels: Labels) -> bool:
    """Whether a written factor has a smaller form than the operand; the names of labels do not count."""
    written, places = found
    if not isinstance(written, Affine) or len(places) != len(labels):
        return True
    new = _form_key(written.shape, written.strides, written.offset)
    return new < _form_key(operand.shape, operand.strides, operand.offset)


def _without(label: int, factors: Sequence[Factor], work: Product) -> tuple[int, Factor] | None:
    """A count and the factor that the given ones become when the label is summed."""
    sizes = work.sizes()
    if any(sizes[other] == 0 for _, labels in factors for other in labels):
        return None
    equations = [read_affine(operand, labels) for operand, labels in factors if isinstance(operand, Affine)]
    if len(equations) == len(factors):
        summed = _summed(equations, label, sizes)
        written = None if summed is None else write_affine(summed[1], sizes, work.dtype)
        return None if summed is None or written is None else (summed[0], written)
    holds_label_last = [
        isinstance(operand, Selection) and labels.index(label) == len(labels) - 1 for operand, labels in factors
    ]
    if sum(holds_label_last) != 1:
        return None
    (picked, labels) = factors[holds_label_last.index(True)]
    others = [factor for factor, held in zip(factors, holds_label_last, strict=True) if not held]
    if not isinstance(picked, Selection):
        return None
    if not others:
        return 1, (ones(picked.shape[:-1], work.dtype), labels[:-1])
    ((second, places),) = others
    if isinstance(second, Selection):
        moved = select_selection(picked, labels, second, places)
    else:
        moved = select_affine(picked, labels, second, places) if isinstance(second, Affine) else None
    return None if moved is None else (1, moved)


def _summed(equations: Sequence[Equation], label: int, sizes: Mapping[int, int]) -> tuple[int, Equation] | None:
    if len(equations) == 1:
        return sum_affine(equations[0], label, sizes)
    composed = compose_affine(equations[0], equations[1], label, sizes)
    return None if composed is None else (1, composed)


def _replaced(work: Product, label: int, positions: Sequence[int], found: tuple[int, Factor]) -> Node:
    count, (factor, places) = found
    spread = [labels for k, labels in enumerate(work.inputs) if k in positions and isinstance(work.operands[k], Ones)]
    sizes = work.sizes()
    work.drop(positions)
    work.coefficient *= count
    work.append(factor, places)
    for labels in spread:
        left = [other for other in labels if other != label]
        work.append(ones([sizes[other] for other in left], work.dtype), left)
    return work.build()


def _contract(node: Einsum, _: Context) -> Node | None:
    return contract_structural(node)


def _orient(node: Einsum, _: Context) -> Node | None:
    return orient_affine(node)


RULES = (
    Rule(
        "compose-affine",
        Einsum,
        "Σ_k [i = a + p k] [k = b + q j] = [i = a + p b + p q j]",
        "summed labels",
        _contract,
        frozenset([Affine, Selection]),
    ),
    Rule("orient-affine", Einsum, "[i = a + j] = [j = i - a]", "affine forms", _orient, frozenset([Affine])),
)
