"""What can be asked of a structured tensor, as expressions over its slots.

Owns these expressions. Imports forms, terms and the graph. Invariant: every operation is a sum of products of the terms
with what they are applied to; no term is written out larger than the result needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from einsumad.compressed.forms import Form, position_of, slot, slot_of
from einsumad.compressed.terms import Term, total_of, write_over, write_term
from einsumad.graph import Einsum, Leaf, Node, Shape, affine, einsum, leaves, ones, substitute, unit
from einsumad.planning import Factor
from einsumad.records import replace
from einsumad.rewriting import inline


@lru_cache(maxsize=512)
def applied(form: Form, position: int, extra: Shape) -> Node:
    """The tensor times an array at the slot of this position, whose shape is that of the columns and `extra` axes."""
    columns = form.shape[form.rows :]
    vector = slot_of(position, (*columns, *extra), form.dtype)
    shape = (*form.shape[: form.rows], *extra)
    parts = [_term_applied(term, form.rows, vector) for term in form.terms]
    return total_of(parts, shape, form.dtype)


def _term_applied(term: Term, rows: int, vector: Leaf) -> Node:
    fresh = max(term.sizes, default=-1) + 1
    width = len(vector.shape) - (len(term.axes) - rows)
    extra = tuple(range(fresh, fresh + width))
    sizes = {**term.sizes, **dict(zip(extra, vector.shape[len(vector.shape) - width :], strict=True))}
    columns = term.axes[rows:]
    names: dict[int, int] = {}
    labels: list[int] = []
    ties: list[Factor] = []
    for label in columns:  # a label that comes twice among the columns reads the diagonal of the array
        name = label if label not in names else fresh + width + len(labels)
        names[label] = name
        if name != label:
            ties.append(Factor(unit(term.sizes[label], 2, term.dtype), (label, name)))
            sizes[name] = term.sizes[label]
        labels.append(name)
    moved = Term(term.coefficient, term.factors, term.maps, (*term.axes[:rows], *extra), sizes, term.dtype)
    places = [(label,) for label in moved.axes]
    return write_over(moved, places, [Factor(vector, (*labels, *extra)), *ties])


@lru_cache(maxsize=512)
def diagonal(form: Form) -> Node:
    """The entries whose row index is the column index, over the axes of the rows."""
    parts = []
    for term in form.terms:
        pairs = zip(term.axes[: form.rows], term.axes[form.rows :], strict=True)
        parts.append(write_over(term, [tuple(dict.fromkeys(pair)) for pair in pairs]))
    return total_of(parts, form.shape[: form.rows], form.dtype)


@lru_cache(maxsize=512)
def trace(form: Form) -> Node:
    """The sum of the diagonal, without writing it out."""
    parts = []
    for term in form.terms:
        pairs = zip(term.axes[: form.rows], term.axes[form.rows :], strict=True)
        over = write_over(term, [tuple(dict.fromkeys(pair)) for pair in pairs])
        parts.append(einsum([over], [range(form.rows)], (), 1, form.dtype))
    return total_of(parts, (), form.dtype)


def over_slots(form: Form, at: Mapping[int, int]) -> list[Node]:
    """The terms as products, with the slots at other positions."""
    nodes = [write_term(term) for term in form.terms]
    found: dict[Node, Node] = {held: slot(at[position_of(held)], held) for held in leaves(nodes)}
    return list(substitute(nodes, found))


def scaled(form: Form, number: int) -> list[Node]:
    """The terms times a number."""
    return [write_term(replace(term, coefficient=number * term.coefficient)) for term in form.terms]


def times(form: Form, number: Leaf) -> list[Node]:
    """The terms times a tensor without axes."""
    return [write_over(term, [(label,) for label in term.axes], [Factor(number, ())]) for term in form.terms]


def identity(shape: Shape, dtype: np.dtype) -> Node:
    """The product of a delta for each axis."""
    rank = len(shape)
    if not rank:
        return ones((), dtype)
    return einsum([unit(size, 2, dtype) for size in shape], [(k, rank + k) for k in range(rank)], range(2 * rank), 1)


def product(left: Sequence[Node], right: Sequence[Node], rows: int, inner: int) -> list[Node]:
    """``Σ left[i.., j..] right[j.., k..]`` term by term, over the last `inner` axes of the left."""
    columns = len(right[0].shape) - inner if right else 0
    first = range(rows + inner)
    second = range(rows, rows + inner + columns)
    output = [*range(rows), *range(rows + inner, rows + inner + columns)]
    return [_opened([a, b], [first, second], output) for a in left for b in right]


def restricted(form: Form, places: Sequence[int | tuple[int, int, int]]) -> Node:
    """The tensor at an index, or at ``(start, step, count)``, for each axis."""
    maps: list[Node] = []
    inputs: list[Sequence[int]] = []
    output: list[int] = []
    shape: list[int] = []
    for axis, place in enumerate(places):
        start, step, count = (place, 1, 1) if isinstance(place, int) else place
        maps.append(affine(form.shape[axis], (count,), (step,), start, form.dtype))
        inputs.append((axis, len(places) + axis))
        if not isinstance(place, int):
            output.append(len(places) + axis)
            shape.append(count)
    axes = range(len(places))
    parts = [_opened([write_term(term), *maps], [axes, *inputs], output) for term in form.terms]
    return total_of(parts, shape, form.dtype)


def _opened(operands: Sequence[Node], inputs: Sequence[Sequence[int]], output: Sequence[int]) -> Node:
    """A product whose operands that are products are opened."""
    whole = einsum(operands, inputs, output, 1)
    return inline(whole, [k for k, operand in enumerate(whole.operands) if isinstance(operand, Einsum)])
