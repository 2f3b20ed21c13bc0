"""The cells of a coarse grid in which a term has entries that are not zero by its structure.

Owns this reduction. Imports forms and the way in which the labels of a term are run through. Invariant: a cell is
marked if and only if such an entry lies in it; a term with more than `_MOST_POINTS` places to look at is run through
in blocks of indices, and then a cell may be marked that has none, but never the other way round.

Rows and columns are independent once the labels are known that both depend on. So for each value of these the cells of
the rows are found, and those of the columns, and all their pairs are marked: as many places as there are rows and
columns, not entries. A label is skipped whose steps are no longer than a cell is high: from its first place to its last
every cell is met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.forms import position_of
from einsumad.compressed.places import Places, places
from einsumad.compressed.terms import Term
from einsumad.errors import InternalError
from einsumad.graph import Affine, Labels, Leaf, Selection
from einsumad.planning import Factor
from einsumad.records import record

_MOST_POINTS = 1 << 24
_MOST_AT_ONCE = 1 << 18
_MOST_SHARED_AT_ONCE = 1 << 12

Array: TypeAlias = np.ndarray[Any, Any]
Range: TypeAlias = tuple[Any, Any]
"""The least and the greatest value of an index, arrays; the same object twice where the index is known exactly."""


@record(eq=True, repr=True)
class Side:
    """Rows, or columns: labels of the axes with their steps in the flattened index, its size and number of cells.

    `own` are the labels to run through for this side alone; `given` and `tests` are the maps that need no others.
    """

    steps: tuple[tuple[int, int], ...]
    size: int
    cells: int
    own: Labels = ()
    given: tuple[tuple[int, Factor], ...] = ()
    tests: tuple[Factor, ...] = ()


def term_cells(
    term: Term, rows: int, arrays: Sequence[Any], cells: tuple[int, int], most_points: int = _MOST_POINTS
) -> Array:
    """Which cells of the matrix of flattened rows and columns have entries, a boolean array of shape `cells`.

    The row r of R lies in cell ``r * cells[0] // R``, the columns likewise. Masks are numbers: where they are false is
    not looked at.
    """
    marked = np.zeros(cells, bool)
    if any(term.sizes[label] == 0 for label in {*term.axes, *term.held}):
        return marked
    shared, sides = _separated(term, rows, cells)
    widths = _widths(term, shared, sides, most_points)
    total = _count(shared, term.sizes, widths)
    points = sum([_count(side.own, term.sizes, widths) for side in sides])
    step = max(1, min(_MOST_SHARED_AT_ONCE, _MOST_AT_ONCE // points))
    own = [_own_ranges(side, term.sizes, widths) for side in sides]
    for start in range(0, total, step):
        known = _ranges(shared, term.sizes, widths, np.arange(start, min(start + step, total))[:, None])
        ends = [
            part
            for side, ranges in zip(sides, own, strict=True)
            for part in _cell_ranges(side, {**known, **ranges}, arrays)
        ]
        first_rows, last_rows, first_columns, last_columns = _distinct(ends)
        in_rows = _covered(first_rows, last_rows, cells[0]).astype(np.float32)
        in_columns = _covered(first_columns, last_columns, cells[1]).astype(np.float32)
        marked |= in_rows.T @ in_columns > 0
    return marked


def _separated(term: Term, rows: int, cells: tuple[int, int]) -> tuple[Labels, tuple[Side, Side]]:
    """The labels to run through that both sides depend on, and the sides with those of their own."""
    found = places(term)
    needs = {label: frozenset([label]) for label in found.free}
    for label, (_, labels) in found.given:
        needs[label] = frozenset().union(*[needs[other] for other in labels if other != label])
    left, right = (frozenset().union(*[needs[k] for k in axes]) for axes in (term.axes[:rows], term.axes[rows:]))
    conditions = [needs[label] for label, _ in found.given]
    conditions += [frozenset().union(*[needs[label] for label in labels]) for _, labels in found.tests]
    shared = left & right
    for condition in conditions:  # what ties rows to columns is run through for both
        if condition & (right - shared) and condition - right - shared:
            shared |= condition
    return tuple(sorted(shared)), (
        _side(_steps(term, term.axes[:rows]), cells[0], found, needs, (shared, frozenset(found.free) - right - shared)),
        _side(_steps(term, term.axes[rows:]), cells[1], found, needs, (shared, right - shared)),
    )


def _steps(term: Term, axes: Labels) -> tuple[dict[int, int], int]:
    """The step of each label in the flattened index of these axes, and their size."""
    steps: dict[int, int] = {}
    size = 1
    for label in reversed(axes):
        steps[label] = steps.get(label, 0) + size
        size *= term.sizes[label]
    return steps, size


def _side(
    flattened: tuple[dict[int, int], int],
    cells: int,
    found: Places,
    needs: Mapping[int, frozenset[int]],
    labels: tuple[frozenset[int], frozenset[int]],
) -> Side:
    """The side with the shared labels and those of its own."""
    steps, size = flattened
    known = labels[0] | labels[1]
    given = tuple([(label, item) for label, item in found.given if needs[label] <= known])
    tests = tuple([item for item in found.tests if all(needs[label] <= known for label in item.labels)])
    return Side(tuple(steps.items()), size, cells, tuple(sorted(labels[1])), given, tests)


def _widths(term: Term, shared: Labels, sides: Sequence[Side], most_points: int) -> dict[int, int]:
    """How many values of each label are taken together."""
    widths = dict.fromkeys([*shared, *[label for side in sides for label in side.own]], 1)
    mapped = {label for _, labels in term.maps for label in labels}
    for side in sides:
        reach = 0
        for label, step in sorted(side.steps, key=lambda pair: pair[1]):
            if label in side.own and label not in mapped and step - reach <= side.size // side.cells:
                widths[label] = term.sizes[label]
                reach += step * (term.sizes[label] - 1)
    selecting = {label for node, labels in term.maps if isinstance(node, Selection) for label in labels}

    def blocks(label: int) -> int:
        return _count([label], term.sizes, widths)

    def too_many() -> bool:
        own = sum([_count(side.own, term.sizes, widths) for side in sides])
        return own > _MOST_AT_ONCE or own * _count(shared, term.sizes, widths) > most_points

    while too_many() and (split := [label for label in widths if blocks(label) > 1]):
        widths[max(split, key=lambda label: (label not in selecting, blocks(label)))] *= 2
    return widths


def _count(labels: Sequence[int], sizes: Mapping[int, int], widths: Mapping[int, int]) -> int:
    """The number of blocks of values of these labels together."""
    result = 1
    for label in labels:
        result *= -(-sizes[label] // widths[label])
    return result


def _own_ranges(side: Side, sizes: Mapping[int, int], widths: Mapping[int, int]) -> dict[int, Range]:
    return _ranges(side.own, sizes, widths, np.arange(_count(side.own, sizes, widths))[None])


def _ranges(labels: Labels, sizes: Mapping[int, int], widths: Mapping[int, int], flat: Array) -> dict[int, Range]:
    """The values of the labels in the blocks with these numbers."""
    if not labels:
        return {}
    numbers = np.unravel_index(flat, [_count([label], sizes, widths) for label in labels])
    found: dict[int, Range] = {}
    for label, number in zip(labels, numbers, strict=True):
        width, size = widths[label], sizes[label]
        found[label] = (
            (number, number) if width == 1 else (number * width, np.minimum(number * width + width, size) - 1)
        )
    return found


def _cell_ranges(side: Side, known: dict[int, Range], arrays: Sequence[Any]) -> Iterator[Array]:
    """The first cell of each place and the one behind the last, both behind all cells where the place is outside."""
    shape = np.broadcast_shapes(*[low.shape for low, _ in known.values()], (1, 1))
    valid = np.ones((1, 1), bool)
    for label, item in side.given:
        known[label], inside = _followed(label, item, known, arrays)
        valid = valid & inside
    for item in side.tests:
        target = item.labels[0] if isinstance(item.node, Affine) else item.labels[-1]
        (low, high), inside = _followed(target, item, known, arrays)
        valid = valid & inside & (low <= known[target][1]) & (known[target][0] <= high)
    low, high = _linear(0, [(step, known[label]) for label, step in side.steps])
    for place, behind in ((low, 0), (high, 1)):
        cell = np.where(valid, place * side.cells // side.size + behind, side.cells)
        yield np.broadcast_to(cell, shape).astype(np.uint16)


def _linear(constant: int, parts: Sequence[tuple[int, Range]]) -> Range:
    """The range of ``constant + Σ step · index``."""
    low = np.int64(constant) + sum([step * (found[0] if step >= 0 else found[1]) for step, found in parts])
    if all(found[0] is found[1] for _, found in parts):
        return low, low
    return low, np.int64(constant) + sum([step * (found[1] if step >= 0 else found[0]) for step, found in parts])


def _followed(label: int, item: Factor, known: Mapping[int, Range], arrays: Sequence[Any]) -> tuple[Range, Any]:
    """The range of a label that a map gives, cut to its bounds, and where some of it is within them."""
    node, labels = item
    if isinstance(node, Selection):
        size = node.shape[-1]
        low, high = _selected(node, [known[k] for k in labels[:-1]], arrays)
    elif not isinstance(node, Affine):
        raise InternalError(f"a {type(node).__name__} is no map")
    elif label == labels[0]:
        size = node.shape[0]
        low, high = _linear(node.offset, [(step, known[k]) for step, k in zip(node.strides, labels[1:], strict=True)])
    else:
        size, sign = node.shape[1], node.strides[0]
        low, high = _linear(-sign * node.offset, [(sign, known[labels[0]])])
    exact = low is high
    inside = (high >= 0) & (low < size)
    low = np.clip(low, 0, size - 1)
    return (low, low if exact else np.clip(high, 0, size - 1)), inside


def _selected(node: Selection, known: Sequence[Range], arrays: Sequence[Any]) -> Range:
    held = node.operands[0]
    if not isinstance(held, Leaf):
        raise InternalError("the index of a selection in a form is a slot")
    array = np.asarray(arrays[position_of(held)]).astype(np.int64, copy=False)
    if all(low is high for low, high in known):
        value = array[tuple([low for low, _ in known])]
        return value, value
    return array.min(), array.max()


def _distinct(ends: Sequence[Array]) -> list[Array]:
    """The parts with each line of all of them once."""
    lines = np.ascontiguousarray(np.concatenate(ends, axis=1))
    changes = np.flatnonzero((lines[1:] != lines[:-1]).any(axis=1)) + 1
    lines = lines[np.concatenate([[0], changes])]
    bytes_of_line = lines.shape[1] * lines.itemsize
    kind = np.dtype(np.uint64) if bytes_of_line == 8 else np.dtype((np.void, bytes_of_line))
    lines = np.unique(lines.view(kind).ravel()).view(lines.dtype).reshape(-1, lines.shape[1])
    return np.split(lines, np.cumsum([part.shape[1] for part in ends])[:-1], axis=1)


def _covered(first: Array, behind: Array, cells: int) -> Array:
    """For each line the cells that one of its ranges has."""
    width = cells + 1
    begin = np.arange(len(first))[:, None] * width
    starts = np.bincount((begin + first).ravel(), minlength=len(first) * width)
    ends = np.bincount((begin + behind).ravel(), minlength=len(first) * width)
    return (starts - ends).reshape(-1, width).cumsum(axis=1)[:, :-1] > 0
