"""NumPy's broadcasting, written as products over strict sizes.

Owns the alignment of shapes. Imports the graph and the catalogue. Invariant: a stretched axis of size 1 is
summed away under a label of its own, and axes that no factor has are covered by ones; so the derivative sums
back by itself, and in products nothing is ever spread out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.looks import look
from einsumad.functions import apply
from einsumad.graph import (
    BOOL,
    Einsum,
    Elementwise,
    Labels,
    Node,
    Number,
    Ones,
    Shape,
    Structural,
    Zero,
    cast,
    constant,
    einsum,
    ones,
    zero,
)


def broadcast_shape(*shapes: Shape) -> Shape:
    """The common shape, aligned at the last axis.

    >>> broadcast_shape((3, 1), (4,))
    (3, 4)
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[axis] not in (1, size):
                given = " and ".join(str(shape) for shape in shapes)
                raise ShapeError(
                    f"shapes {given} do not broadcast: axis {axis - rank} has sizes {result[axis]} and "
                    f"{size}; "
                    "sizes must be equal, or one of them 1"
                )
            if size != 1:
                result[axis] = size
    return tuple(result)


def constant_of(node: Node) -> Number | None:
    """The number that the node is at every entry, where its kind alone says so."""
    if isinstance(node, Ones):
        return 1
    if isinstance(node, Zero):
        return 0
    if isinstance(node, Einsum) and len(node.operands) == 1 and isinstance(node.operands[0], Ones):
        return node.coefficient if set(node.inputs[0]) == set(range(len(node.shape))) else None
    return None


def filled(value: Number, shape: Shape, dtype: Any) -> Node:
    """The tensor of one number, in the simplest node that says so."""
    if value == 0:
        return zero(shape, dtype)
    return ones(shape, dtype) if value == 1 else constant(value, shape, dtype)


def product(factors: Sequence[Node], dtype: Any, coefficient: Number = 1, shape: Shape | None = None) -> Node:
    """The broadcast product of factors that have the dtype already; boolean ones among others are masks.

    Constants without axes join the coefficient, a zero stays a factor. With `shape` the result is spread
    over it.
    """
    target = shape if shape is not None else broadcast_shape(*[factor.shape for factor in factors])
    operands: list[Node] = []
    for factor in factors:
        value = constant_of(factor) if not factor.shape and factor.dtype != BOOL else None
        if value is None or value == 0:
            operands.append(factor)
        else:
            coefficient = coefficient * value
    inputs: list[Labels] = []
    fresh = len(target)
    for k, operand in enumerate(operands):
        labels, fresh = _labels(operand.shape, target, fresh)
        if operand.dtype == BOOL != dtype:
            operands[k], labels = _narrow(operand, labels, len(target))
        inputs.append(labels)
    bare = tuple([axis for axis in range(len(target)) if not any(axis in labels for labels in inputs)])
    if bare or not operands:
        operands.append(ones([target[axis] for axis in bare], dtype))
        inputs.append(bare)
    if (
        len(operands) == 1
        and coefficient == 1
        and operands[0].dtype == dtype
        and inputs[0] == tuple(range(len(target)))
    ):
        return operands[0]
    if dtype == BOOL:
        return contraction(operands, inputs, range(len(target)), dtype)
    return einsum(operands, inputs, range(len(target)), coefficient, dtype)


def _labels(shape: Shape, target: Shape, fresh: int) -> tuple[Labels, int]:
    """The labels of an operand, new ones for axes of size 1 that are stretched; and the next new label."""
    labels: list[int] = []
    for axis, size in enumerate(shape, len(target) - len(shape)):
        if axis < 0 or size not in (1, target[axis]):
            raise ShapeError(f"shape {shape} does not broadcast to {target}: sizes must be equal, or 1")
        if size == target[axis]:
            labels.append(axis)
        else:
            labels.append(fresh)
            fresh += 1
    return tuple(labels), fresh


def _narrow(mask: Node, labels: Labels, rank: int) -> tuple[Node, Labels]:
    """The mask without its stretched axes, across which it has to reach: where it is false no factor contributes."""
    kept = tuple([label for label in labels if label < rank])
    if kept == labels or isinstance(mask, Structural):
        return mask, labels
    if isinstance(mask, Elementwise) and mask.function == "logical_not":
        look()  # what is taken out of an operand may be another one, which no form tells
        return apply("logical_not", _narrow(mask.operands[0], labels, rank)[0]), kept
    return contraction([mask], [labels], kept, BOOL), kept


def contraction(operands: Sequence[Node], inputs: Sequence[Sequence[int]], output: Sequence[int], dtype: Any) -> Node:
    """The product over strict index tuples; a sum of booleans asks whether any is true."""
    summed = any(label not in output for labels in inputs for label in labels)
    several = sum(not isinstance(operand, Structural) for operand in operands) > 1
    if dtype != BOOL or not (summed or several):
        return einsum(operands, inputs, output, 1, dtype)
    count = einsum(operands, inputs, output, 1, np.int64)
    return apply("not_equal", count, zero(count.shape, count.dtype))


def spread(node: Node, shape: Shape) -> Node:
    """The node broadcast to the shape."""
    if node.shape == shape:
        return node
    value = constant_of(node)
    if value is not None:
        _labels(node.shape, shape, len(shape))
        return filled(value, shape, node.dtype)
    return product([node], node.dtype, shape=shape)


def align(nodes: Sequence[Node]) -> list[Node]:
    """The nodes broadcast to their common shape."""
    shape = broadcast_shape(*[node.shape for node in nodes])
    return [spread(node, shape) for node in nodes]


def convert(node: Node, dtype: Any) -> Node:
    """A cast that keeps constants in their simplest form."""
    value = constant_of(node)
    return cast(node, dtype) if value is None or node.dtype == dtype else filled(value, node.shape, dtype)
