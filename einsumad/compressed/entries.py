"""The entries of a term that are not zero by its structure: how many there are, where they are, and their values.

Owns this enumeration. Imports terms, the graph and the values of expressions. Invariant: every entry that can be
different from zero is met; one that several terms, or several indices of one term, meet is the sum.

The labels of the axes and of the maps are run through, but for those that a map gives from others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from einsumad.compressed.forms import Form, position_of
from einsumad.compressed.places import places, targets
from einsumad.compressed.terms import Term, write_over
from einsumad.compressed.values import compute
from einsumad.errors import InternalError
from einsumad.graph import Affine, Labels, Leaf, Selection
from einsumad.planning import Factor
from einsumad.records import replace


class Entries(NamedTuple):
    """Flat row and column indices, and values."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def entries_by_term(form: Form, arrays: Sequence[Any]) -> Iterator[Entries]:
    """The entries of one term after the other."""
    for term in form.terms:
        yield _term_entries(term, form.rows, form.shape, arrays)


def entries(form: Form, arrays: Sequence[Any]) -> Entries:
    """The entries of all terms together."""
    found = list(entries_by_term(form, arrays))
    empty = np.zeros(0, np.int64)
    return Entries(
        np.concatenate([empty, *[part.rows for part in found]]),
        np.concatenate([empty, *[part.columns for part in found]]),
        np.concatenate([np.zeros(0, form.dtype), *[part.values for part in found]]),
    )


def _term_entries(term: Term, rows: int, shape: Sequence[int], arrays: Sequence[Any]) -> Entries:
    found = places(term)
    grid = [term.sizes[label] for label in found.free]
    index = dict(zip(found.free, np.ogrid[tuple([slice(0, size) for size in grid])], strict=True)) if grid else {}
    valid = np.ones([1] * len(grid), bool)
    for label, item in found.given:
        found_at, inside = _followed(label, item, index, arrays)
        index[label] = found_at if inside.all() else np.where(inside, found_at, 0)  # other maps may read there
        valid = valid & inside
    for item in found.tests:
        target = targets(item)[0] if isinstance(item.node, Affine) else item.labels[-1]
        expected, inside = _followed(target, item, index, arrays)
        valid = valid & inside & (expected == index[target])
    labels = tuple([label for label in index if any(label in held for _, held in term.factors)])
    bare = replace(term, maps=(), axes=labels)
    (stored,) = compute([write_over(bare, [(label,) for label in labels])], arrays)
    everywhere = bool(valid.all())
    values = stored[tuple([index[label] for label in labels])] if labels else stored
    flat = [_flat(axes, sizes, index) for axes, sizes in _sides(term, rows, shape)]
    whole = [np.broadcast_to(array, grid) for array in (*flat, values)]
    if everywhere:
        return Entries(*[array.reshape(-1) for array in whole])
    kept = np.broadcast_to(valid, grid)
    return Entries(*[array[kept] for array in whole])


def _sides(term: Term, rows: int, shape: Sequence[int]) -> list[tuple[Labels, Sequence[int]]]:
    return [(term.axes[:rows], shape[:rows]), (term.axes[rows:], shape[rows:])]


def _flat(labels: Labels, sizes: Sequence[int], index: dict[int, Any]) -> Any:
    """The place in C order."""
    place: Any = np.int64(0)
    for label, size in zip(labels, sizes, strict=True):
        place = place * size + index[label]
    return place


def _followed(label: int, item: Factor, index: dict[int, Any], arrays: Sequence[Any]) -> tuple[Any, Any]:
    """The values of a label that a map gives, and where they are within its bounds."""
    node, labels = item
    if isinstance(node, Selection):
        held = node.operands[0]
        if not isinstance(held, Leaf):
            raise InternalError("the index of a selection in a form is a slot")
        array = np.asarray(arrays[position_of(held)])
        value = array[tuple([index[k] for k in labels[:-1]])] if labels[:-1] else array
        return value, (value >= 0) & (value < node.shape[-1])
    if not isinstance(node, Affine):
        raise InternalError(f"a {type(node).__name__} is no map")
    if label == labels[0]:
        value = node.offset + sum([step * index[k] for k, step in zip(labels[1:], node.strides, strict=True)])
        return value, (value >= 0) & (value < node.shape[0])
    value = node.strides[0] * (index[labels[0]] - node.offset)
    return value, (value >= 0) & (value < node.shape[1])
