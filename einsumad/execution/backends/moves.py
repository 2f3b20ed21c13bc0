"""Reading and writing along maps of indices.

Owns these operations. Imports the plan and the context. Invariant: an index out of bounds raises ``IndexError`` where
that can be seen without waiting for a device; elsewhere what is read there, and all of a sum into which something is
written there, is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.context import Context, Operation, permuted
from einsumad.execution.backends.layouts import diagonals
from einsumad.graph import BOOL, Labels, Shape
from einsumad.planning.kernels import Merge, Overlap, Pad, Put, Take, Window
from einsumad.planning.pairing import paired
from einsumad.planning.primitives import numbers_in_order
from einsumad.planning.steps import Step

_INDEX = np.dtype(np.int64)


def _laid_out(home: Home, labels: Labels, ndim: int) -> Operation:
    """Takes a diagonal for each label that stands twice, and puts the axes in order."""
    diagonal, left = diagonals(home, labels)
    turn = permuted(home, [left.index(axis) for axis in range(ndim)])
    return lambda x: turn(diagonal(x))


class _Constant:
    """An array of the plan at its place, made when it is first needed."""

    def __init__(self, home: Home, array: np.ndarray) -> None:
        self._home, self._array = home, array
        self._found: Any = None

    def __call__(self) -> Array:
        if self._found is None:
            self._found = self._home.constant(self._array)
        return self._found


def window(step: Step, kernel: Window, context: Context) -> Operation:
    """An axis read at affine places, always within its bounds."""
    home, register, whole = context.home, context.register(step, 0), context.whole(step, 0)
    shape = context.shapes[register]
    axis = kernel.labels.index(kernel.at)
    sizes = tuple([step.shape[place] for place in kernel.places])
    read = (*shape[:axis], *sizes, *shape[axis + 1 :])
    finish = _laid_out(home, (*kernel.labels[:axis], *kernel.places, *kernel.labels[axis + 1 :]), len(step.shape))
    if len(sizes) == 1 and kernel.strides[0] > 0 and sizes[0]:
        stride = kernel.strides[0]
        part = slice(kernel.offset, kernel.offset + stride * (sizes[0] - 1) + 1, stride)
        chosen = (*[slice(None)] * axis, part, ...)
        return lambda x: finish(whole(x)[chosen])
    if numbers_in_order(shape[axis], sizes, kernel.strides, kernel.offset):
        return lambda x: finish(home.xp.reshape(whole(x), read))
    index = _Constant(home, _affine_places(sizes, kernel.strides, kernel.offset).reshape(-1))
    return lambda x: finish(home.xp.reshape(home.xp.take(whole(x), index(), axis=axis), read))


def _affine_places(sizes: Shape, strides: Shape, offset: int) -> np.ndarray:
    total: np.ndarray = np.full((), offset, _INDEX)
    for size, stride in zip(sizes, strides, strict=True):
        total = total[..., None] + stride * np.arange(size, dtype=_INDEX)
    return total


def pad(step: Step, kernel: Pad, context: Context) -> Operation:
    """An axis read from an offset on, zero where that is out of bounds."""
    home, register, whole = context.home, context.register(step, 0), context.whole(step, 0)
    shape = context.shapes[register]
    axis, size = kernel.labels.index(kernel.at), step.shape[kernel.place]
    first, last = max(kernel.offset, 0), min(kernel.offset + size, shape[axis])
    count = max(last - first, 0)
    before = min(max(-kernel.offset, 0), size) if count else size
    chosen = (*[slice(None)] * axis, slice(first, first + count), ...)
    finish = _laid_out(home, (*kernel.labels[:axis], kernel.place, *kernel.labels[axis + 1 :]), len(step.shape))

    def run(x: Array) -> Array:
        return finish(_between_zeros(home, whole(x)[chosen], axis, (before, size - before - count), step.dtype))

    return run


def _between_zeros(home: Home, x: Array, axis: int, numbers: tuple[int, int], dtype: np.dtype) -> Array:
    """The array with so many zeros before and behind it along an axis."""
    shape = tuple(x.shape)
    zeros = [home.full((*shape[:axis], n, *shape[axis + 1 :]), 0, dtype) if n else None for n in numbers]
    parts = [part for part in (zeros[0], x, zeros[1]) if part is not None]
    return home.xp.concat(parts, axis=axis) if len(parts) > 1 else x


def take(step: Step, kernel: Take, context: Context) -> Operation:
    """The first operand with an axis read at the values of the second."""
    home, register = context.home, context.register(step, 0)
    shape, dtype = context.shapes[register], context.dtypes[register]
    whole, whole_index = context.whole(step, 0), context.whole(step, 1)
    size, sizes = shape[kernel.labels.index(kernel.at)], context.shapes[context.register(step, 1)]
    way = _reading(home, kernel, shape, sizes)
    finish = _laid_out(home, way.labels, len(step.shape))
    behind = len(way.read) - way.axis - len(sizes)

    def run(x: Array, index: Array) -> Array:
        places = home.cast(home.xp.reshape(whole_index(index), (prod(sizes),)), _INDEX)
        outside = out_of_bounds(home, index, places, size)
        if not prod(way.read):
            return finish(home.full(way.read, 0, dtype))
        if outside is not None:
            places = home.where(outside, home.full((), 0, _INDEX), places, _INDEX)
        found = home.xp.take(way.arranged(whole(x)), way.among_rows(places), axis=way.axis)
        if outside is not None:
            mask = home.xp.reshape(outside, (prod(sizes), *[1] * behind))
            found = home.where(mask, _nothing(dtype), found, dtype)
        return finish(home.xp.reshape(found, way.read))

    return run


class _Reading(NamedTuple):
    """How an operand is arranged, at which places among its rows it is read along an axis, and what is read."""

    arranged: Operation
    among_rows: Operation
    axis: int
    read: Shape
    labels: Labels


def _reading(home: Home, kernel: Take, shape: Shape, sizes: Shape) -> _Reading:
    """The axis as it is; or, where each row has an index of its own, one axis of what is read and the rows."""
    pairs = paired(kernel)
    if pairs is None:
        axis = kernel.labels.index(kernel.at)
        labels = (*kernel.labels[:axis], *kernel.places, *kernel.labels[axis + 1 :])
        return _Reading(lambda x: x, lambda places: places, axis, (*shape[:axis], *sizes, *shape[axis + 1 :]), labels)
    first = 1 + len(pairs.own)
    held, rest = ([shape[axis] for axis in part] for part in (pairs.order[:first], pairs.order[first:]))
    rows = np.zeros(sizes, _INDEX)
    for axis, count in zip(pairs.own, held[1:], strict=True):
        rows = rows * count + np.arange(count, dtype=_INDEX).reshape(-1, *[1] * (len(sizes) - 1 - axis))
    row, turn, count = _Constant(home, rows.reshape(-1)), permuted(home, pairs.order), prod(held[1:])
    return _Reading(
        lambda x: home.xp.reshape(turn(x), (prod(held), *rest)),
        lambda places: places * count + row(),
        0,
        (*sizes, *rest),
        pairs.labels,
    )


def _nothing(dtype: np.dtype) -> float:
    return float("nan") if dtype.kind == "f" else False if dtype == BOOL else 0


def out_of_bounds(home: Home, index: Array, places: Array, size: int) -> Array | None:
    """Where an index, written out as places, is out of bounds; None if it is nowhere.

    Raises where the values are at hand. (What is computed while JAX traces is traced, whatever it is computed from.)
    """
    if 0 in index.shape:
        return None
    if not home.on_host or home.array_library.is_abstract(index):
        return home.xp.logical_or(places < 0, places >= size)
    values = home.array_library.to_numpy(index)
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= size:
        raise IndexError(f"index {low if low < 0 else high} is out of bounds for an axis of size {size}")
    return None


def merge(step: Step, kernel: Merge, context: Context) -> Operation:
    """Several axes as one, in which they are numbered in C order."""
    home, whole = context.home, context.whole(step, 0)
    rest = [label for label in kernel.labels if label not in kernel.places]
    before = [label for label in rest if label < kernel.at]
    behind = [label for label in rest if label > kernel.at]
    turn = permuted(home, [kernel.labels.index(label) for label in (*before, *kernel.places, *behind)])
    labels = (*before, kernel.at, *behind)
    shape = tuple([step.shape[label] for label in labels])
    finish = _laid_out(home, labels, len(step.shape))
    return lambda x: finish(home.xp.reshape(turn(whole(x)), shape))


def put(step: Step, kernel: Put, context: Context) -> Operation:
    """The first operand added into zeros at the values of the second."""
    home = context.home
    sizes = context.shapes[context.register(step, 1)]
    scatter = _Scatter(step, kernel, sizes, context)
    whole_index = context.whole(step, 1)
    size = step.shape[kernel.at]

    def run(x: Array, index: Array) -> Array:
        places = home.cast(home.xp.reshape(whole_index(index), (prod(sizes),)), _INDEX)
        outside = out_of_bounds(home, index, places, size)
        if outside is None:
            return scatter(x, places)
        result = scatter(x, home.where(outside, home.full((), 0, _INDEX), places, _INDEX))
        return home.where(home.xp.any(outside), _nothing(step.dtype), result, step.dtype)

    return run


def overlap(step: Step, kernel: Overlap, context: Context) -> Operation:
    """The operand added into zeros at affine places, bounds respected."""
    home = context.home
    shape = context.shapes[context.register(step, 0)]
    sizes = tuple([shape[kernel.labels.index(place)] for place in kernel.places])
    places = _affine_places(sizes, kernel.strides, kernel.offset).reshape(-1)
    size = step.shape[kernel.at]
    shift = _shifted(step, kernel, context) if kernel.strides == (1,) else None
    if shift is not None:
        return shift
    scatter = _Scatter(step, kernel, sizes, context, beyond=1)
    index = _Constant(home, np.where((places < 0) | (places >= size), size, places))
    return lambda x: scatter(x, index())


def _shifted(step: Step, kernel: Overlap, context: Context) -> Operation | None:
    """One axis moved along by an offset: zeros before and behind it."""
    if len(kernel.places) != 1 or kernel.places[0] < len(step.shape):
        return None
    home, whole = context.home, context.whole(step, 0)
    axis, size = kernel.labels.index(kernel.places[0]), step.shape[kernel.at]
    length = context.shapes[context.register(step, 0)][axis]
    first, last = max(-kernel.offset, 0), min(length, size - kernel.offset)
    count = max(last - first, 0)
    before = min(max(kernel.offset, 0), size) if count else size
    chosen = (*[slice(None)] * axis, slice(first, first + count), ...)
    finish = _laid_out(home, (*kernel.labels[:axis], kernel.at, *kernel.labels[axis + 1 :]), len(step.shape))
    return lambda x: finish(_between_zeros(home, whole(x)[chosen], axis, (before, size - before - count), step.dtype))


class _Scatter:
    """Entries added into zeros by their place along the axes `places`; the last `beyond` places are thrown away.

    Axes among the places that the result has too are numbered together with the place that is written to.
    """

    def __init__(
        self, step: Step, kernel: Put | Overlap, sizes: Sequence[int], context: Context, beyond: int = 0
    ) -> None:
        labels, places = kernel.labels, kernel.places
        self.home, self.whole, self.dtype = context.home, context.whole(step, 0), step.dtype
        rank = len(step.shape)
        shape = dict(zip(labels, context.shapes[context.register(step, 0)], strict=True))
        rest = [label for label in labels if label not in places]
        kept = [k for k, place in enumerate(places) if place < rank]
        self.turn = permuted(self.home, [labels.index(label) for label in (*places, *rest)])
        self.rows, self.columns = prod(sizes), prod([shape[label] for label in rest])
        self.size, self.beyond = step.shape[kernel.at], beyond
        self.held = tuple([sizes[k] for k in kept])
        self.tail = tuple([shape[label] for label in rest])
        numbers = np.zeros(tuple(sizes), _INDEX)
        for k in kept:
            numbers = numbers * sizes[k] + np.arange(sizes[k]).reshape(-1, *[1] * (len(sizes) - k - 1))
        self.numbers = _Constant(self.home, np.broadcast_to(numbers, tuple(sizes)).reshape(-1).copy()) if kept else None
        self.finish = _laid_out(self.home, (kernel.at, *[places[k] for k in kept], *rest), rank)

    def __call__(self, x: Array, index: Array) -> Array:
        home, xp = self.home, self.home.xp
        size = self.size + self.beyond
        rows = xp.reshape(self.turn(self.whole(x)), (self.rows, self.columns))
        if self.numbers is not None:
            index = index * prod(self.held) + self.numbers()
        work = np.dtype(np.int64) if self.dtype == BOOL else self.dtype
        if self.rows and self.columns and size:
            found = home.array_library.add_rows(home.cast(rows, work), index, size * prod(self.held))
        else:
            found = home.full((size * prod(self.held), self.columns), 0, work)
        found = xp.reshape(found, (size, *self.held, *self.tail))
        found = found[: self.size, ...] if self.beyond else found
        return self.finish(found > 0 if self.dtype == BOOL else home.cast(found, self.dtype))
