"""Arrays joined and taken apart: concatenate, stack and their kin, the split family.

Owns these functions. Imports joining and maps. Invariant: dtypes promote as in NumPy.
"""

# ruff: noqa: ARG001 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.axes import insert_axes, one_axis, permuted
from einsumad.frontend.joining import concatenated
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import reshaped, take_slice
from einsumad.frontend.numpy_functions.indexing import node_size
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements, refuse_options
from einsumad.graph import Node


def _promoted(arrays: Any, dtype: Any) -> list[Node]:
    nodes = [as_node(a) for a in arrays]
    if not nodes:
        raise ValueError("need at least one array to join")
    target = np.result_type(*[node.dtype for node in nodes]) if dtype is None else np.dtype(dtype)
    return [in_dtype(node, target) for node in nodes]


@implements(np.concatenate)
def _concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Node:
    refuse_options("numpy.concatenate", out=out)
    nodes = _promoted(arrays, dtype)
    if axis is None:
        return concatenated([reshaped(node, (node_size(node),)) for node in nodes], 0)
    if not nodes[0].shape:
        raise ShapeError("zero-dimensional arrays cannot be concatenated: use np.stack")
    return concatenated(nodes, one_axis(axis, len(nodes[0].shape)))


@implements(np.stack)
def _stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Node:
    refuse_options("numpy.stack", out=out)
    nodes = _promoted(arrays, dtype)
    if len({node.shape for node in nodes}) > 1:
        raise ShapeError(f"all arrays of a stack have one shape, got {[node.shape for node in nodes]}")
    place = one_axis(axis, len(nodes[0].shape) + 1)
    return concatenated([insert_axes(node, [place]) for node in nodes], place)


def _at_least(node: Node, rank: int) -> Node:
    """The node with axes of size one, as ``np.atleast_1d`` and its kin add them."""
    shape = node.shape
    if rank == 1 or len(shape) >= rank:
        return insert_axes(node, [0]) if not shape else node
    if rank == 2:
        return insert_axes(node, [0, 1] if not shape else [0])
    return insert_axes(node, {0: [0, 1, 2], 1: [0, 2], 2: [2]}[len(shape)])


@implements(np.vstack)
def _vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Node:
    return concatenated([_at_least(node, 2) for node in _promoted(tup, dtype)], 0)


@implements(np.hstack)
def _hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Node:
    nodes = [_at_least(node, 1) for node in _promoted(tup, dtype)]
    return concatenated(nodes, 0 if len(nodes[0].shape) == 1 else 1)


@implements(np.dstack)
def _dstack(tup: Any) -> Node:
    return concatenated([_at_least(node, 3) for node in _promoted(tup, None)], 2)


@implements(np.column_stack)
def _column_stack(tup: Any) -> Node:
    nodes = [insert_axes(node, [1]) if len(node.shape) == 1 else _at_least(node, 2) for node in _promoted(tup, None)]
    return concatenated(nodes, 1)


@implements(np.atleast_2d)
def _atleast_2d(*arys: Any) -> Any:
    results = [_at_least(as_node(a), 2) for a in arys]
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.atleast_3d)
def _atleast_3d(*arys: Any) -> Any:
    results = [_at_least(as_node(a), 3) for a in arys]
    return results[0] if len(results) == 1 else tuple(results)


@implements(np.block)
def _block(arrays: Any) -> Node:
    """Lists of lists of arrays: the innermost are joined along the last axis."""
    depth = _depth(arrays)
    rank = max(depth, _most_axes(arrays))
    return _joined_blocks(arrays, depth, rank)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        if isinstance(arrays, tuple):
            raise TypeError("numpy.block takes lists, and no tuples")
        return 0
    depths = {_depth(part) for part in arrays}
    if not depths:
        raise ValueError("a list of blocks cannot be empty")
    if len(depths) > 1:
        raise ValueError(f"the lists of blocks are not equally deep: {sorted(depths)}")
    return 1 + depths.pop()


def _most_axes(arrays: Any) -> int:
    return max(map(_most_axes, arrays)) if isinstance(arrays, list) else len(as_node(arrays).shape)


def _joined_blocks(arrays: Any, depth: int, rank: int) -> Node:
    if not depth:
        node = as_node(arrays)
        return reshaped(node, (*[1] * (rank - len(node.shape)), *node.shape))
    parts = [_joined_blocks(part, depth - 1, rank) for part in arrays]
    dtype = np.result_type(*[part.dtype for part in parts])
    return concatenated([in_dtype(part, dtype) for part in parts], rank - depth)


def _cuts(node: Node, sections: Any, axis: int, *, equal: bool) -> list[Node]:
    """The pieces of a node between the places where it is cut."""
    size = node.shape[axis]
    if np.ndim(sections) == 0:
        count = int(sections)
        if count <= 0:
            raise ValueError("number sections must be larger than 0")
        if equal and size % count:
            raise ValueError(f"array split does not result in an equal division: {size} entries in {count} parts")
        long = size % count
        edges = np.cumsum([0, *[size // count + (k < long) for k in range(count)]]).tolist()
    else:
        edges = [0, *[slice(None, int(k)).indices(size)[1] for k in sections], size]
    return [take_slice(node, axis, a, max(b - a, 0)) for a, b in pairwise(edges)]


@implements(np.split)
@at_known("split", "indices_or_sections")
def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    node = as_node(ary)
    return _cuts(node, indices_or_sections, one_axis(axis, len(node.shape)), equal=True)


@implements(np.array_split)
@at_known("array_split", "indices_or_sections")
def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    node = as_node(ary)
    return _cuts(node, indices_or_sections, one_axis(axis, len(node.shape)), equal=False)


def _split_along(ary: Any, sections: Any, axis: int, least: int) -> list[Node]:
    node = as_node(ary)
    if len(node.shape) < least:
        raise ValueError(f"an array of {least} axes or more is needed, got shape {node.shape}")
    return _cuts(node, sections, axis, equal=True)


@implements(np.hsplit)
@at_known("hsplit", "indices_or_sections")
def _hsplit(ary: Any, indices_or_sections: Any) -> list[Node]:
    return _split_along(ary, indices_or_sections, 0 if len(as_node(ary).shape) == 1 else 1, 1)


@implements(np.vsplit)
@at_known("vsplit", "indices_or_sections")
def _vsplit(ary: Any, indices_or_sections: Any) -> list[Node]:
    return _split_along(ary, indices_or_sections, 0, 2)


@implements(np.dsplit)
@at_known("dsplit", "indices_or_sections")
def _dsplit(ary: Any, indices_or_sections: Any) -> list[Node]:
    return _split_along(ary, indices_or_sections, 2, 3)


@implements(np.unstack)
def _unstack(x: Any, /, *, axis: int = 0) -> tuple[Node, ...]:
    node = as_node(x)
    place = one_axis(axis, len(node.shape))
    pieces: Sequence[Node] = [take_slice(node, place, k, 1) for k in range(node.shape[place])]
    rest = [size for k, size in enumerate(node.shape) if k != place]
    return tuple([reshaped(piece, rest) for piece in pieces])


@implements(np.rollaxis)
def _rollaxis(a: Any, axis: int, start: int = 0) -> Node:
    node = as_node(a)
    axes = list(range(len(node.shape)))
    source = one_axis(axis, len(axes))
    begin = start + len(axes) if start < 0 else start
    if not 0 <= begin <= len(axes):
        raise np.exceptions.AxisError(f"start {start} is out of bounds for {len(axes)} axes")
    axes.remove(source)
    axes.insert(begin - 1 if source < begin else begin, source)
    return permuted(node, axes)
