"""Indexing: NumPy's expressions of slices, numbers, new axes, an ellipsis and arrays.

Owns their reading. Imports maps and lifting. Invariant: the result has the shape that NumPy gives it, and what NumPy
refuses raises the same kind of error.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import TracingError
from einsumad.frontend.axes import insert_axes, permuted
from einsumad.frontend.broadcasting import broadcast_shape, filled, product, spread
from einsumad.frontend.evaluation import concrete, unknown_value
from einsumad.frontend.lifting import as_node, holds_tensor, index_node
from einsumad.frontend.mapped import is_read_only_map
from einsumad.frontend.maps import merge_axes, pick, take_at, take_slice
from einsumad.frontend.overlays import last_written
from einsumad.frontend.stacking import stacked
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, add, zero
from einsumad.records import record

_INTEGER = np.dtype(np.int64)
_WHOLE = "use np.where(mask, x, other) and functions of whole arrays"


@record(eq=True)
class Slice:
    """A run of an axis."""

    start: int
    length: int
    step: int


@record(eq=True)
class Number:
    """One index of an axis."""

    index: int


@record(eq=True)
class NewAxis:
    """An axis of size one."""


@record
class Places:
    """Indices of an axis: an integer array, or a traced one."""

    index: np.ndarray | Node


Part: TypeAlias = Slice | Number | NewAxis | Places


def indexed(node: Node, index: Any) -> Node:
    """``node[index]``."""
    parts = parse(index, node.shape)
    if any(isinstance(part, Places) for part in parts):
        return _gathered(node, parts)
    written = last_written(node, tuple(parts))
    if written is not None:
        return written
    axis = 0
    fresh: list[int] = []
    result = node
    for part in parts:
        match part:
            case Slice(start, length, step):
                result = take_slice(result, axis, start, length, step)
                axis += 1
            case Number(where):
                result = pick(result, axis, where)
            case NewAxis():
                fresh.append(axis + len(fresh))
    return insert_axes(result, fresh)


def parse(index: Any, shape: Sequence[int]) -> list[Part]:
    """An index as one part for each axis of the operand, and one for each new axis."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = [part for item in items for part in _as_integers(item)]
    consumed = sum(item is not None and item is not Ellipsis for item in items)
    if consumed > len(shape):
        raise IndexError(f"too many indices: {consumed} for an array of {len(shape)} axes")
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    where = next((k for k, item in enumerate(items) if item is Ellipsis), len(items))
    rest = [slice(None)] * (len(shape) - consumed)
    items = [*items[:where], *rest, *items[where + 1 :]]
    parts: list[Part] = []
    axis = 0
    for item in items:
        if item is None:
            parts.append(NewAxis())
            continue
        parts.append(_part(item, shape[axis], axis))
        axis += 1
    return parts


def _as_integers(item: Any) -> list[Any]:
    """A boolean array as an integer array for each of its axes; all else as it is."""
    if isinstance(item, (bool, np.bool_)):
        raise TracingError("True and False as an index are not supported on traced values: use np.expand_dims")
    if isinstance(item, list) and holds_tensor(item):
        item = Tensor(stacked(item))
    if isinstance(item, Tensor):
        return [item] if item.dtype != BOOL else list(np.nonzero(_known(item)))
    if is_read_only_map(item) and item.dtype != BOOL:
        return [item]  # the same array each time, so that it is one leaf
    if isinstance(item, (list, np.ndarray)):
        array = np.asarray(item)
        if array.size == 0 and isinstance(item, list):
            array = array.astype(_INTEGER)
        return list(np.nonzero(array)) if array.dtype == BOOL else [array]
    return [item]


def _known(mask: Tensor) -> np.ndarray:
    value = concrete(mask.node)
    if value is None:
        raise unknown_value("a boolean index gives as many entries as it has True", _WHOLE)
    return value


def _part(item: Any, size: int, axis: int) -> Part:
    if isinstance(item, slice):
        start, stop, step = item.indices(size)
        return Slice(start, len(range(start, stop, step)), step)
    if isinstance(item, Tensor):
        if item.dtype.kind not in "iu":
            raise IndexError(f"arrays used as indices are of integers or booleans, got dtype {item.dtype}")
        return Places(_not_negative(item.node, size))
    if isinstance(item, np.ndarray):
        if item.dtype.kind not in "iu":
            raise IndexError(f"arrays used as indices are of integers or booleans, got dtype {item.dtype}")
        return Places(_not_negative(as_node(item), size) if is_read_only_map(item) else checked(item, size, axis))
    try:
        number = operator.index(item)
    except TypeError:
        what = type(item).__name__
        raise IndexError(
            f"only integers, slices (:), ellipsis (...), numpy.newaxis (None) and integer or boolean arrays are valid "
            f"indices, got {what}"
        ) from None
    return Number(int(checked(np.asarray(number), size, axis)))


def integer_index(indices: Any, size: int, axis: int) -> np.ndarray | Node:
    """Indices of an axis that are given to a function: an array of integers, or a traced one."""
    (index,) = _as_integers(indices) if holds_tensor(indices) else [np.asarray(indices)]
    return _index_of(_part(index, size, axis))


def checked(index: np.ndarray, size: int, axis: int) -> np.ndarray:
    """Indices from 0 to size - 1, negative ones counted from the end."""
    if index.size and (index.min() < -size or index.max() >= size):
        worst = index.min() if index.min() < -size else index.max()
        raise IndexError(f"index {worst} is out of bounds for axis {axis} with size {size}")
    wide = index.astype(_INTEGER, copy=False)  # a narrow dtype may not hold the size
    return np.where(wide < 0, wide + size, wide)


def _not_negative(index: Node, size: int) -> Node:
    """Traced indices with negative ones counted from the end; those out of bounds are found when it is computed."""
    wide = index if index.dtype == _INTEGER else product([index], _INTEGER)
    negative = apply("less", wide, zero(wide.shape, _INTEGER))
    return add([wide, product([negative, filled(size, (), _INTEGER)], _INTEGER, shape=wide.shape)], _INTEGER)


def _gathered(node: Node, parts: Sequence[Part]) -> Node:
    """An index with arrays: numbers beside them are arrays too, and all broadcast against each other."""
    chosen = [k for k, part in enumerate(parts) if isinstance(part, (Places, Number))]
    together = chosen == list(range(chosen[0], chosen[-1] + 1))
    result = node
    axes: list[int] = []
    axis = 0
    for part in parts:
        if isinstance(part, Slice):
            result = take_slice(result, axis, part.start, part.length, part.step)
        elif not isinstance(part, NewAxis):
            axes.append(axis)
        axis += not isinstance(part, NewAxis)
    indices = [_index_of(parts[k]) for k in chosen]
    first = axes[0] if together else 0
    others = [k for k in range(axis) if k not in axes]
    result = permuted(result, [*others[:first], *axes, *others[first:]])
    sizes = result.shape[first : first + len(axes)]
    result = take_at(merge_axes(result, first, len(axes)), first, flattened(indices, sizes))
    return insert_axes(result, _places_of_new(parts, chosen, len(result.shape), together=together))


def _index_of(part: Part) -> np.ndarray | Node:
    if isinstance(part, Number):
        return np.asarray(part.index)
    if isinstance(part, Places):
        return part.index
    raise TracingError("a slice is no array of indices")


def flattened(indices: Sequence[np.ndarray | Node], sizes: Sequence[int]) -> Node:
    """The places in C order of entries given by one array of indices for each axis."""
    strides = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    known = [index for index in indices if isinstance(index, np.ndarray)]
    if len(known) == len(indices):
        shape = np.broadcast_shapes(*[index.shape for index in known])
        total = sum([index * stride for index, stride in zip(known, strides, strict=True)])
        return index_node(np.broadcast_to(np.asarray(total, _INTEGER), shape).copy())
    nodes = [as_node(index) if isinstance(index, np.ndarray) else index for index in indices]
    shape = broadcast_shape(*[node.shape for node in nodes])
    if len(nodes) > 1:
        nodes = [
            _bounded(node, size, prod(sizes)) if index is node else node
            for index, node, size in zip(indices, nodes, sizes, strict=True)
        ]
    terms = [product([node], _INTEGER, stride, shape=shape) for node, stride in zip(nodes, strides, strict=True)]
    return terms[0] if len(terms) == 1 else add([spread(term, shape) for term in terms], _INTEGER)


def _bounded(index: Node, size: int, total: int) -> Node:
    """Traced indices of one of several axes: what is out of bounds of it is out of bounds of all entries together."""
    places = Tensor(index)
    return as_node(np.where((places < 0) | (places >= size), total, places))


def _places_of_new(parts: Sequence[Part], chosen: Sequence[int], rank: int, *, together: bool) -> list[int]:
    """Where new axes stand in the result; the axes of the arrays are where the first array is, or come first."""
    if not any(isinstance(part, NewAxis) for part in parts):
        return []
    slices = sum(isinstance(part, Slice) for part in parts)
    own = rank - slices
    order: list[bool] = [] if together else [False] * own
    for k, part in enumerate(parts):
        if isinstance(part, NewAxis):
            order.append(True)
        elif isinstance(part, Slice):
            order.append(False)
        elif together and k == chosen[0]:
            order += [False] * own
    return [k for k, fresh in enumerate(order) if fresh]
