"""How a local Jacobian is written: a product over the axes of the value followed by those of the operand.

Owns the labels and the units of the batch axes, and how the parts of a packed result are read. Imports the graph.
Invariant: the batch axes of value and operand are joined by one unit tensor each, never multiplied out.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.errors import ShapeError
from einsumad.graph import General, Labels, Node, Number, Shape, Zero, affine, einsum, sum_axes, unit, zero
from einsumad.records import record


@record
class Axes:
    """Labels of a local Jacobian: batch axes and own axes of the value, and of the operand."""

    batch: Labels
    out: Labels
    into_batch: Labels
    into: Labels


def axes_of(node: General, position: int, batch: int) -> Axes:
    """The labels of the Jacobian in one operand, when the first `batch` axes of both are batch axes."""
    rank = len(node.shape)
    out = tuple(range(rank))
    into = tuple(range(rank, rank + len(node.operands[position].shape)))
    return Axes(out[:batch], out[batch:], into[:batch], into[batch:])


def term(node: General, axes: Axes, factors: Sequence[tuple[Node, Sequence[int]]], coefficient: Number = 1) -> Node:
    """``coefficient * prod of the factors * delta(batch of the value, batch of the operand)``."""
    joined = [
        (unit(node.shape[own], 2, node.dtype), (own, other))
        for own, other in zip(axes.batch, axes.into_batch, strict=True)
    ]
    parts = [*factors, *joined]
    output = (*axes.batch, *axes.out, *axes.into_batch, *axes.into)
    return einsum([part for part, _ in parts], [labels for _, labels in parts], output, coefficient, node.dtype)


def square_matrices(name: str, operand: Node) -> tuple[Shape, int]:
    """The batch shape and the size of the operand, which has to hold square matrices in its last two axes."""
    shape = operand.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(
            f"{name} needs square matrices in the last two axes, got shape {shape}: "
            "bring the two axes of equal size to the end"
        )
    return shape[:-2], shape[-1]


def last_axis(name: str, operand: Node) -> tuple[Shape, int]:
    """The batch shape and the size of the last axis of the operand."""
    if not operand.shape:
        raise ShapeError(f"{name} runs over the last axis, but its operand has no axis: reshape it to (1,)")
    return operand.shape[:-1], operand.shape[-1]


def fresh(axes: Axes, count: int) -> range:
    """So many labels that no axis of value and operand has."""
    first = len(axes.batch) + len(axes.out) + len(axes.into_batch) + len(axes.into)
    return range(first, first + count)


def block(packed: Node, rows: tuple[int, int], columns: int) -> Node:
    """Rows from a first one on, so many, and the first columns of the matrices of a packed result."""
    *batch, height, width = range(len(packed.shape))
    row, column = len(packed.shape), len(packed.shape) + 1
    maps = [
        (affine(packed.shape[-2], (rows[1],), (1,), rows[0], packed.dtype), (height, row)),
        (affine(packed.shape[-1], (columns,), (1,), 0, packed.dtype), (width, column)),
    ]
    shape = (*packed.shape[:-2], rows[1], columns)
    if any(isinstance(node, Zero) for node, _ in maps):
        return zero(shape, packed.dtype)
    factors = [(packed, (*batch, height, width)), *maps]
    return einsum([node for node, _ in factors], [labels for _, labels in factors], (*batch, row, column))


def row_of(packed: Node, row: int, columns: int) -> Node:
    """The first columns of one row of the matrices of a packed result."""
    found = block(packed, (row, 1), columns)
    return sum_axes(found, [len(found.shape) - 2])


def volume(shape: Shape) -> int:
    """The number of entries."""
    count = 1
    for size in shape:
        count *= size
    return count
