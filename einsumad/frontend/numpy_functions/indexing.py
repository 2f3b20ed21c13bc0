"""Entries taken by index: indexing itself, take, take_along_axis, compress, delete, insert, append.

Owns these functions. Imports indexing and maps. Invariant: where an index is given as an array its values are checked
when the function is called, as NumPy does.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.axes import one_axis, permuted
from einsumad.frontend.broadcasting import spread
from einsumad.frontend.indexing import flattened, indexed, integer_index
from einsumad.frontend.joining import concatenated
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node, holds_tensor
from einsumad.frontend.maps import merge_axes, reshaped, take_at
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.stacking import stacked
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.writing import entries_of
from einsumad.graph import Node


@implements(operator.getitem)
def _getitem(a: Any, index: Any) -> Node:
    return indexed(as_node(a), index)


@implements(np.take)
def _take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Node:
    refuse_options("numpy.take", out=out)
    node = as_node(a)
    if axis is None:
        node, place = reshaped(node, (node_size(node),)), 0
    else:
        place = one_axis(axis, len(node.shape))
    size = node.shape[place]
    return take_at(node, place, flattened([integer_index(within(indices, size, mode), size, place)], [size]))


def places_of(indices: Any) -> Any:
    """Indices as an array, or as a traced one where some of them are traced."""
    if isinstance(indices, Tensor):
        return indices
    return Tensor(stacked(indices)) if holds_tensor(indices) else np.asarray(indices)


def within(indices: Any, size: int, mode: str) -> Any:
    """Indices brought into the bounds of an axis, as the mode of NumPy's functions says."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    if mode == "raise":
        return indices
    array = places_of(indices)
    if array.dtype.kind not in "iub" or not size:
        return array
    array = array.astype(np.int64)
    return array % size if mode == "wrap" else np.clip(array, 0, size - 1)


def node_size(node: Node) -> int:
    """The number of entries."""
    return int(np.prod(node.shape, dtype=int))


@implements(np.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Node:
    node = as_node(arr)
    if axis is None:
        node, axis = reshaped(node, (node_size(node),)), 0
    place = one_axis(axis, len(node.shape))
    index = integer_index(indices, node.shape[place], place)
    if len(index.shape) != len(node.shape):
        raise ShapeError(f"take_along_axis needs an index of {len(node.shape)} axes, got shape {index.shape}")
    parts: list[Any] = []
    for k, size in enumerate(index.shape):
        if k == place:
            parts.append(index)
            continue
        if size not in (1, node.shape[k]) and node.shape[k] != 1:
            raise ShapeError(f"take_along_axis of shape {node.shape} got an index of shape {index.shape}")
        grid = np.arange(size) if node.shape[k] != 1 else np.zeros(size, int)
        if size == 1 and node.shape[k] != 1:
            grid = np.arange(node.shape[k])
        parts.append(grid.reshape([-1 if axis_ == k else 1 for axis_ in range(len(node.shape))]))
    merged = merge_axes(node, 0, len(node.shape))
    return take_at(merged, 0, flattened(parts, node.shape))


@implements(np.compress)
@at_known("compress", "condition")
def _compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Node:
    refuse_options("numpy.compress", out=out)
    where = np.flatnonzero(np.asarray(condition))
    return _take(a, where, axis)


@implements(np.delete)
@at_known("delete", "obj")
def _delete(arr: Any, obj: Any, axis: Any = None) -> Node:
    node = as_node(arr)
    if axis is None:
        node, axis = reshaped(node, (node_size(node),)), 0
    place = one_axis(axis, len(node.shape))
    kept = np.delete(np.arange(node.shape[place]), obj)
    return take_at(node, place, as_node(kept.astype(np.int64)))


@implements(np.insert)
@at_known("insert", "obj")
def _insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Node:
    node = as_node(arr)
    if axis is None:
        node, axis = reshaped(node, (node_size(node),)), 0
    place = one_axis(axis, len(node.shape))
    size, rank = node.shape[place], len(node.shape)
    given = entries_of(values, node.dtype)
    one = not isinstance(obj, slice) and np.size(obj) == 1 and np.asarray(obj).dtype != bool
    if one:  # all values go to one place; the first of their axes is the one inserted along if that has no axis
        given = reshaped(given, (*[1] * (rank - len(given.shape)), *given.shape))
        if np.ndim(obj) == 0:
            given = permuted(given, _moved_to(place, rank))
    new = given.shape[place] if one else np.insert(np.arange(size), obj, 0).size - size
    shape = (*node.shape[:place], new, *node.shape[place + 1 :])
    joined = concatenated([node, spread(given, shape)], place)
    order = np.insert(np.arange(size), obj, np.arange(size, size + new))
    return take_at(joined, place, as_node(order.astype(np.int64)))


def _moved_to(place: int, rank: int) -> list[int]:
    """The order of axes in which the first one stands at this place."""
    rest = list(range(1, rank))
    return [*rest[:place], 0, *rest[place:]]


@implements(np.append)
def _append(arr: Any, values: Any, axis: Any = None) -> Node:
    first, second = (stacked(part) if holds_tensor(part) else as_node(part) for part in (arr, values))
    dtype = np.result_type(first.dtype, second.dtype)
    nodes = [in_dtype(first, dtype), in_dtype(second, dtype)]
    if axis is None:
        return concatenated([reshaped(node, (node_size(node),)) for node in nodes], 0)
    return concatenated(nodes, one_axis(axis, len(first.shape)))
