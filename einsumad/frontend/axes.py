"""Axis arguments.

Owns their reading. Imports the graph. Invariant: an axis leaves here as a number from 0 to rank - 1, or
NumPy's own ``AxisError`` is raised.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from einsumad.errors import TracingError
from einsumad.frontend.broadcasting import contraction
from einsumad.frontend.registry import is_given
from einsumad.graph import Node, einsum, ones, transpose


def one_axis(axis: Any, rank: int) -> int:
    """The axis as a number from 0 to rank - 1."""
    return int(normalize_axis_index(operator.index(axis), rank))


def some_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes of an ``axis`` argument in ascending order: all of them for None. A scalar has an axis 0 for NumPy."""
    if hasattr(axis, "__index__"):
        axis = operator.index(axis)
    if rank == 0 and axis in (0, -1, (0,), (-1,)):
        return ()
    return tuple(range(rank)) if axis is None else tuple(sorted(normalize_axis_tuple(axis, rank)))


def permuted(node: Node, order: Sequence[int]) -> Node:
    """The node with axis ``order[k]`` as axis k, itself where nothing moves."""
    return node if list(order) == list(range(len(node.shape))) else transpose(node, order)


def axes_last(node: Node, axes: Sequence[int]) -> Node:
    """The node with the given axes moved to the end, in their order."""
    return permuted(node, [*[axis for axis in range(len(node.shape)) if axis not in axes], *axes])


def insert_axes(node: Node, axes: Sequence[int]) -> Node:
    """The node with axes of size 1 at the given places of the result."""
    if not axes:
        return node
    rank = len(node.shape) + len(axes)
    kept = [axis for axis in range(rank) if axis not in set(axes)]
    return einsum([node, ones([1] * len(axes), node.dtype)], [kept, list(axes)], range(rank), 1, node.dtype)


def drop_axes(node: Node, axes: Sequence[int]) -> Node:
    """The node without the given axes, all of size 1."""
    if not axes:
        return node
    kept = [axis for axis in range(len(node.shape)) if axis not in set(axes)]
    return contraction([node], [range(len(node.shape))], kept, node.dtype)


def flag(name: str, value: Any) -> bool:
    """A keyword such as ``keepdims``, which NumPy may mark as not given."""
    if not is_given(value):
        return False
    if not isinstance(value, (bool, int, np.bool_)):
        raise TracingError(f"{name}={value!r} is neither True nor False")
    return bool(value)
