"""Axes read and written at affine or given places: what slicing, reshaping, padding and gathering are made of.

Owns the spelling of these as products with an affine tensor or a selection. Imports the graph. Invariant: no entry is
computed with, so infinities and NaN stay where they are, and booleans stay booleans.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from einsumad.frontend.axes import drop_axes, insert_axes, permuted
from einsumad.frontend.broadcasting import contraction
from einsumad.graph import Node, Unit, Zero, affine, einsum, selection, zero


def read_axis(node: Node, axis: int, sizes: Sequence[int], strides: Sequence[int], offset: int) -> Node:
    """The node with an axis replaced by others: ``R[.., p, q, ..] = A[.., offset + strides · (p, q), ..]``.

    Zero (False) where that is out of bounds.
    """
    rank, count = len(node.shape), len(sizes)
    shape = (*node.shape[:axis], *sizes, *node.shape[axis + 1 :])
    structural = affine(node.shape[axis], sizes, strides, offset, node.dtype)
    if isinstance(structural, Zero):
        return zero(shape, node.dtype)
    if isinstance(structural, Unit):
        return node
    places = range(rank, rank + count)
    output = [*range(axis), *places, *range(axis + 1, rank)]
    return einsum([node, structural], [range(rank), (axis, *places)], output, 1, node.dtype)


def take_slice(node: Node, axis: int, start: int, length: int, step: int = 1) -> Node:
    """The entries of an axis at ``start, start + step, ..``."""
    return read_axis(node, axis, [length], [step], start)


def pick(node: Node, axis: int, index: int) -> Node:
    """The entries at one index of an axis, without the axis."""
    return drop_axes(read_axis(node, axis, [1], [0], index), [axis])


def take_at(node: Node, axis: int, index: Node) -> Node:
    """The node with an axis read at an integer tensor, whose axes come in its place."""
    rank, count = len(node.shape), len(index.shape)
    structural = selection(index, node.shape[axis], node.dtype)
    places = range(rank, rank + count)
    output = [*range(axis), *places, *range(axis + 1, rank)]
    return einsum([node, structural], [range(rank), (*places, axis)], output, 1, node.dtype)


def write_axis(node: Node, axis: int, size: int, stride: int, offset: int) -> Node:
    """The node with its axis in one of another size: its entries at ``offset + stride * place``, zeros elsewhere."""
    rank = len(node.shape)
    structural = affine(size, [node.shape[axis]], [stride], offset, node.dtype)
    output = [*range(axis), rank, *range(axis + 1, rank)]
    return einsum([node, structural], [range(rank), (rank, axis)], output, 1, node.dtype)


def put_at(node: Node, axis: int, index: Node, size: int) -> Node:
    """The node with its axis in one of another size: its entries added at the values of an integer vector."""
    rank = len(node.shape)
    output = [*range(axis), rank, *range(axis + 1, rank)]
    return contraction([node, selection(index, size, node.dtype)], [range(rank), (axis, rank)], output, node.dtype)


def padded(node: Node, axis: int, before: int, after: int) -> Node:
    """The node with zeros before and after it along an axis; fewer than none cut it."""
    return read_axis(node, axis, [before + node.shape[axis] + after], [1], -before)


def split_axis(node: Node, axis: int, sizes: Sequence[int]) -> Node:
    """The node with an axis as several, in C order."""
    strides = [prod(sizes[k + 1 :]) for k in range(len(sizes))]
    return read_axis(node, axis, sizes, strides, 0)


def merge_axes(node: Node, first: int, count: int) -> Node:
    """The node with neighbouring axes as one, in C order."""
    if count == 1:
        return node
    rank = len(node.shape)
    sizes = node.shape[first : first + count]
    total = prod(sizes)
    shape = (*node.shape[:first], total, *node.shape[first + count :])
    if total == 0:
        return zero(shape, node.dtype)
    strides = [prod(sizes[k + 1 :]) for k in range(count)]
    structural = affine(total, sizes, strides, 0, node.dtype)
    output = [*range(first), rank, *range(first + count, rank)]
    return einsum([node, structural], [range(rank), (rank, *range(first, first + count))], output, 1, node.dtype)


def reshaped(node: Node, shape: Sequence[int]) -> Node:
    """The node in another shape of as many entries, in C order."""
    if 0 in shape:
        return zero(shape, node.dtype)
    plain = drop_axes(node, [k for k, size in enumerate(node.shape) if size == 1])
    target = [size for size in shape if size != 1]
    axis = 0
    for old, new in _groups(plain.shape, target):
        if old != new:
            plain = merge_axes(plain, axis, len(old))
            plain = split_axis(plain, axis, new) if len(new) > 1 else plain
        axis += len(new)
    return insert_axes(plain, [k for k, size in enumerate(shape) if size == 1])


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of axes of equal size on both sides."""
    groups: list[tuple[list[int], list[int]]] = []
    left, right = list(old), list(new)
    while left or right:
        first, second = [left.pop(0)], [right.pop(0)]
        while prod(first) != prod(second):
            if prod(first) < prod(second):
                first.append(left.pop(0))
            else:
                second.append(right.pop(0))
        groups.append((first, second))
    return groups


def axis_to(node: Node, source: int, destination: int) -> Node:
    """The node with one axis moved."""
    order = [axis for axis in range(len(node.shape)) if axis != source]
    order.insert(destination, source)
    return permuted(node, order)


def flat_index(indices: Sequence[np.ndarray], sizes: Sequence[int]) -> np.ndarray:
    """The places in C order of entries given by one index for each axis."""
    if len(indices) == 1:
        return indices[0]
    return np.asarray(np.ravel_multi_index(tuple(indices), tuple(sizes)))
