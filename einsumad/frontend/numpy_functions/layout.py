"""Axes moved, added, dropped, spread, and diagonals: nothing is computed.

Owns these functions. Imports the registry and lifting. Invariant: each is a product of the operand with ones,
units or an affine tensor; boolean operands stay boolean.
"""

# ruff: noqa: ARG001 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from einsumad.errors import ShapeError
from einsumad.frontend.axes import drop_axes, insert_axes, one_axis, permuted
from einsumad.frontend.broadcasting import contraction, spread
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import reshaped
from einsumad.frontend.numpy_functions.orders import columns_first
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node, affine, einsum, unit


@implements(np.transpose)
def _transpose(a: Any, axes: Any = None) -> Node:
    node = as_node(a)
    rank = len(node.shape)
    order = range(rank)[::-1] if axes is None else normalize_axis_tuple(axes, rank)
    if len(order) != rank:
        raise ShapeError(f"transpose of {rank} axes got {len(order)}: name each axis once")
    return permuted(node, order)


@implements(np.matrix_transpose)
def _matrix_transpose(x: Any, /) -> Node:
    node = as_node(x)
    rank = len(node.shape)
    if rank < 2:
        raise ShapeError(f"a matrix transpose needs two axes or more, got shape {node.shape}")
    return permuted(node, [*range(rank - 2), rank - 1, rank - 2])


@implements(np.swapaxes)
def _swapaxes(a: Any, axis1: int, axis2: int) -> Node:
    node = as_node(a)
    rank = len(node.shape)
    order = list(range(rank))
    first, second = one_axis(axis1, rank), one_axis(axis2, rank)
    order[first], order[second] = order[second], order[first]
    return permuted(node, order)


@implements(np.moveaxis)
def _moveaxis(a: Any, source: Any, destination: Any) -> Node:
    node = as_node(a)
    rank = len(node.shape)
    start, end = (
        normalize_axis_tuple(source, rank, "source"),
        normalize_axis_tuple(destination, rank, "destination"),
    )
    if len(start) != len(end):
        raise ShapeError(f"moveaxis got {len(start)} axes to move and {len(end)} places for them")
    order = [axis for axis in range(rank) if axis not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        order.insert(place, axis)
    return permuted(node, order)


@implements(np.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Node:
    node = as_node(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    return insert_axes(node, normalize_axis_tuple(axis, len(node.shape) + count))


@implements(np.squeeze)
def _squeeze(a: Any, axis: Any = None) -> Node:
    node = as_node(a)
    if axis is None:
        return drop_axes(node, [k for k, size in enumerate(node.shape) if size == 1])
    axes = normalize_axis_tuple(axis, len(node.shape))
    if any(node.shape[k] != 1 for k in axes):
        raise ShapeError(f"squeeze drops axes of size 1 only: axes {axes} of shape {node.shape}")
    return drop_axes(node, axes)


@implements(np.atleast_1d)
def _atleast_1d(*arys: Any) -> Any:
    nodes = [as_node(a) for a in arys]
    results = [insert_axes(node, [0]) if not node.shape else node for node in nodes]
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.reshape)
@at_known("reshape", "shape")
def _reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Node:
    given = newshape if shape is None else shape
    node = as_node(a)
    target = np.broadcast_to(np.zeros(()), node.shape).reshape(given).shape
    if columns_first("numpy.reshape", order, node):
        backwards = permuted(node, range(len(node.shape))[::-1])
        return permuted(reshaped(backwards, target[::-1]), range(len(target))[::-1])
    return reshaped(node, target)


@implements(np.broadcast_to)
@at_known("broadcast_to", "shape")
def _broadcast_to(array: Any, shape: Any, subok: bool = False) -> Node:
    target = (shape,) if isinstance(shape, (int, np.integer)) else shape
    return spread(as_node(array), tuple([int(size) for size in target]))


@implements(np.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> Node:
    return as_node(a)


@implements(np.astype)
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Node:
    refuse_options("numpy.astype", device=device)
    return in_dtype(as_node(x), dtype)


@implements(np.diagonal)
@at_known("diagonal", "offset")
def _diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Node:
    return diagonal(as_node(a), offset, axis1, axis2)


def diagonal(node: Node, offset: int, axis1: int, axis2: int) -> Node:
    """The entries ``[i, i + offset]`` of two axes, along a new last axis."""
    rank = len(node.shape)
    if rank < 2:
        raise ShapeError(f"a diagonal needs two axes or more, got shape {node.shape}")
    rows, columns = one_axis(axis1, rank), one_axis(axis2, rank)
    if rows == columns:
        raise ShapeError(f"a diagonal runs over two different axes, got {axis1} and {axis2}")
    labels = list(range(rank))
    others = [label for label in labels if label not in (rows, columns)]
    if offset == 0 and node.shape[rows] == node.shape[columns]:
        labels[columns] = rows
        return einsum([node], [labels], [*others, rows], 1, node.dtype)
    down, right = max(-offset, 0), max(offset, 0)
    length = max(min(node.shape[rows] - down, node.shape[columns] - right), 0)
    along = rank
    picks = [
        affine(node.shape[axis], [length], [1], first, node.dtype) for axis, first in ((rows, down), (columns, right))
    ]
    return contraction([node, *picks], [labels, (rows, along), (columns, along)], [*others, along], node.dtype)


@implements(np.diag)
@at_known("diag", "k")
def _diag(v: Any, k: int = 0) -> Node:
    node = as_node(v)
    if len(node.shape) == 2:
        return diagonal(node, k, 0, 1)
    if len(node.shape) != 1:
        raise ShapeError(f"diag needs one or two axes, got shape {node.shape}")
    (length,) = node.shape
    if k == 0:
        return einsum([node, unit(length, 2, node.dtype)], [(0,), (0, 1)], (0, 1), 1, node.dtype)
    size = length + abs(k)
    places = [affine(size, [length], [1], first, node.dtype) for first in (max(-k, 0), max(k, 0))]
    return contraction([node, *places], [(0,), (1, 0), (2, 0)], (1, 2), node.dtype)


@implements(np.diagflat)
@at_known("diagflat", "k")
def _diagflat(v: Any, k: int = 0) -> Node:
    node = as_node(v)
    return _diag(Tensor(reshaped(node, (prod(node.shape),))), k)
