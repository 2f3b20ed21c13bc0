"""Entries moved about: ravel, flip, roll, rot90, repeat, tile, triangles, meshgrid, windows.

Owns these functions. Imports maps and the registry. Invariant: every entry of a result is an entry of the operand, or
zero.
"""

# ruff: noqa: ARG001 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view

from einsumad.errors import ShapeError
from einsumad.frontend.axes import axes_last, insert_axes, one_axis, permuted
from einsumad.frontend.broadcasting import align, product, spread
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import read_axis, reshaped, take_at, take_slice
from einsumad.frontend.numpy_functions.indexing import node_size
from einsumad.frontend.numpy_functions.orders import columns_first
from einsumad.frontend.registry import implements
from einsumad.graph import Node, zero


@implements(np.ravel)
def _ravel(a: Any, order: str = "C") -> Node:
    node = as_node(a)
    if columns_first("numpy.ravel", order, node):
        node = permuted(node, range(len(node.shape))[::-1])
    return reshaped(node, (node_size(node),))


def flipped(node: Node, axes: Sequence[int]) -> Node:
    """The node with some axes backwards."""
    for axis in axes:
        size = node.shape[axis]
        node = take_slice(node, axis, size - 1, size, -1)
    return node


@implements(np.flip)
def _flip(m: Any, axis: Any = None) -> Node:
    node = as_node(m)
    rank = len(node.shape)
    return flipped(node, range(rank) if axis is None else normalize_axis_tuple(axis, rank))


@implements(np.fliplr)
def _fliplr(m: Any) -> Node:
    return _flip_one(as_node(m), 1)


@implements(np.flipud)
def _flipud(m: Any) -> Node:
    return _flip_one(as_node(m), 0)


def _flip_one(node: Node, axis: int) -> Node:
    if len(node.shape) <= axis:
        raise ValueError(f"an array of {axis + 1} axes or more is needed, got shape {node.shape}")
    return flipped(node, [axis])


@implements(np.rot90)
@at_known("rot90", "k")
def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Node:
    node = as_node(m)
    first, second = normalize_axis_tuple(axes, len(node.shape))
    order = list(range(len(node.shape)))
    order[first], order[second] = second, first
    match k % 4:
        case 1:
            return permuted(flipped(node, [second]), order)
        case 2:
            return flipped(node, [first, second])
        case 3:
            return flipped(permuted(node, order), [second])
    return node


@implements(np.roll)
@at_known("roll", "shift", "axis")
def _roll(a: Any, shift: Any, axis: Any = None) -> Node:
    node = as_node(a)
    if axis is None:
        return reshaped(_roll_axis(reshaped(node, (node_size(node),)), int(np.sum(shift)), 0), node.shape)
    axes, shifts = np.broadcast_arrays(np.atleast_1d(axis), np.atleast_1d(shift))
    for place, by in zip(axes.tolist(), shifts.tolist(), strict=True):
        node = _roll_axis(node, by, one_axis(place, len(node.shape)))
    return node


def _roll_axis(node: Node, shift: int, axis: int) -> Node:
    size = node.shape[axis]
    if not size or not shift % size:
        return node
    by = shift % size
    return take_at(node, axis, as_node((np.arange(size) - by) % size))


@implements(np.repeat)
@at_known("repeat", "repeats")
def _repeat(a: Any, repeats: Any, axis: Any = None) -> Node:
    node = as_node(a)
    if axis is None:
        node, axis = reshaped(node, (node_size(node),)), 0
    place = one_axis(axis, len(node.shape))
    size = node.shape[place]
    if np.ndim(repeats) == 0 or np.size(repeats) == 1:
        count = int(np.asarray(repeats).reshape(()))
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
        wide = spread(insert_axes(node, [place + 1]), (*node.shape[: place + 1], count, *node.shape[place + 1 :]))
        return reshaped(wide, (*node.shape[:place], size * count, *node.shape[place + 1 :]))
    return take_at(node, place, as_node(np.repeat(np.arange(size), repeats)))


@implements(np.tile)
@at_known("tile", "reps")
def _tile(A: Any, reps: Any) -> Node:
    node = as_node(A)
    counts = [int(count) for count in np.atleast_1d(reps)]
    rank = max(len(counts), len(node.shape))
    node = reshaped(node, (*[1] * (rank - len(node.shape)), *node.shape))
    counts = [*[1] * (rank - len(counts)), *counts]
    wide = insert_axes(node, [2 * k for k in range(rank)])
    shape = [size for pair in zip(counts, node.shape, strict=True) for size in pair]
    return reshaped(spread(wide, tuple(shape)), [c * s for c, s in zip(counts, node.shape, strict=True)])


@implements(np.resize)
@at_known("resize", "new_shape")
def _resize(a: Any, new_shape: Any) -> Node:
    shape = (int(new_shape),) if np.ndim(new_shape) == 0 else tuple([int(n) for n in new_shape])
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    node = as_node(a)
    size, wanted = node_size(node), prod(shape)
    if not size or not wanted:
        return zero(shape, node.dtype)
    flat = reshaped(node, (size,))
    repeated = flat if size == wanted else take_at(flat, 0, as_node(np.arange(wanted) % size))
    return reshaped(repeated, shape)


@implements(np.tril)
@at_known("tril", "k")
def _tril(m: Any, k: int = 0) -> Node:
    return _triangle(as_node(m), lambda rows, columns: np.tri(rows, columns, k, dtype=bool))


@implements(np.triu)
@at_known("triu", "k")
def _triu(m: Any, k: int = 0) -> Node:
    return _triangle(as_node(m), lambda rows, columns: ~np.tri(rows, columns, k - 1, dtype=bool))


def _triangle(node: Node, mask: Callable[[int, int], np.ndarray]) -> Node:
    """The entries of matrices in a triangle, zero elsewhere whatever is there; a vector is broadcast to a matrix."""
    if not node.shape:
        raise ShapeError("a triangle needs one axis or more, got a scalar")
    if len(node.shape) == 1:
        node = spread(insert_axes(node, [0]), (node.shape[0], node.shape[0]))
    return product([as_node(mask(*node.shape[-2:])), node], node.dtype, shape=node.shape)


@implements(np.meshgrid)
def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Node]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    nodes = []
    for k, x in enumerate(xi):
        node = as_node(x)
        place = {0: 1, 1: 0}.get(k, k) if indexing == "xy" and rank > 1 else k
        nodes.append(reshaped(node, [node_size(node) if axis == place else 1 for axis in range(rank)]))
    return nodes if sparse else align(nodes)


@implements(sliding_window_view)
@at_known("lib.stride_tricks.sliding_window_view", "window_shape")
def _sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Node:
    node = as_node(x)
    rank = len(node.shape)
    lengths = [int(n) for n in np.atleast_1d(window_shape)]
    axes = list(range(rank)) if axis is None else list(normalize_axis_tuple(axis, rank, allow_duplicate=True))
    if len(axes) != len(lengths):
        raise ValueError(f"a window of {len(lengths)} axes was given for the axes {axes}")
    for place, length in zip(axes, lengths, strict=True):
        left = node.shape[place] - length + 1
        if length < 0 or left < 1:
            raise ValueError(f"a window of {length} does not fit an axis of {node.shape[place]} entries")
        node = axes_last(read_axis(node, place, [left, length], [1, 1], 0), [place + 1])
    return node
