"""Products that sum over shared indices: einsum, matmul, dot, inner, outer, tensordot, trace.

Owns these functions. Imports the notation, the registry and promotion. Invariant: each of them is one product
node over index tuples, whatever the ranks; sizes are checked here, before any backend sees them.
"""

# ruff: noqa: PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from einsumad.errors import ShapeError
from einsumad.frontend.broadcasting import broadcast_shape, contraction, product
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import reshaped
from einsumad.frontend.numpy_functions.layout import diagonal
from einsumad.frontend.promotion import array_operands, in_dtype, reduced_dtype, ufunc_operands
from einsumad.frontend.registry import arrays_are_nodes, implements, implements_method, implements_ufunc, refuse_options
from einsumad.functions import apply
from einsumad.graph import BOOL, Labels, Node, sum_axes
from einsumad.notation import check_sizes, parse, parse_interleaved


@implements(np.einsum)
@arrays_are_nodes(np.einsum, after_text=True)
def _einsum(*operands: Any, out: Any = None, dtype: Any = None, casting: Any = None, **options: Any) -> Node:
    refuse_options("numpy.einsum", out=out, casting=None if casting == "safe" else casting)
    for option in options.keys() - {"optimize", "order"}:
        raise TypeError(f"numpy.einsum got an unexpected keyword argument {option!r}")
    if isinstance(operands[0], str):
        text: str | None = operands[0]
        given = operands[1:]
        subscripts = parse(operands[0], [np.ndim(operand) for operand in given])
    else:
        text = None
        given, subscripts = parse_interleaved(operands)
    nodes, common = array_operands(*given)
    if dtype is not None:
        common = np.dtype(dtype)
        nodes = [in_dtype(node, common) for node in nodes]
    sizes = check_sizes(subscripts, [node.shape for node in nodes], text)
    inputs, fresh = [], len(sizes)
    for node, labels in zip(nodes, subscripts.inputs, strict=True):
        own, fresh = _stretched(labels, node.shape, sizes, fresh)
        inputs.append(own)
    return contraction(nodes, inputs, subscripts.output, common)


def _stretched(labels: Labels, shape: Sequence[int], sizes: dict[int, int], fresh: int) -> tuple[Labels, int]:
    """The labels, new ones for axes of size 1 whose index is longer elsewhere; and the next new label."""
    own: list[int] = []
    for label, size in zip(labels, shape, strict=True):
        if size == sizes[label]:
            own.append(label)
        else:
            own.append(fresh)
            fresh += 1
    return tuple(own), fresh


@implements_ufunc(np.matmul)
@arrays_are_nodes(np.matmul)
def _matmul(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    (a, b), dtype = ufunc_operands(ufunc, x, y)
    if not a.shape or not b.shape:
        raise ShapeError("matmul needs operands with axes, got a scalar: use * to scale")
    rows = [0] if len(a.shape) > 1 else []
    columns = [2] if len(b.shape) > 1 else []
    left, right = a.shape[:-2], b.shape[:-2]
    _same_size("matmul", a, len(a.shape) - 1, b, max(len(b.shape) - 2, 0))
    batch = broadcast_shape(left, right)
    first = 3
    axes = list(range(first, first + len(batch)))
    fresh = first + len(batch)
    sizes = dict(zip(axes, batch, strict=True))
    left_labels, fresh = _stretched(tuple(axes[len(axes) - len(left) :]), left, sizes, fresh)
    right_labels, fresh = _stretched(tuple(axes[len(axes) - len(right) :]), right, sizes, fresh)
    inputs = [[*left_labels, *rows, 1], [*right_labels, 1, *columns]]
    return contraction([a, b], inputs, [*axes, *rows, *columns], dtype)


def _same_size(name: str, a: Node, axis_a: int, b: Node, axis_b: int) -> None:
    if a.shape[axis_a] != b.shape[axis_b]:
        raise ShapeError(
            f"{name} of shapes {a.shape} and {b.shape}: axis {axis_a} of the first has size "
            f"{a.shape[axis_a]} and axis "
            f"{axis_b} of the second {b.shape[axis_b]}; both are summed over together and must be equal"
        )


@implements(np.dot)
@arrays_are_nodes(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> Node:
    refuse_options("numpy.dot", out=out)
    (x, y), dtype = array_operands(a, b)
    if not x.shape or not y.shape:
        return _scaled(x, y, dtype)
    return _joined("dot", x, [len(x.shape) - 1], y, [max(len(y.shape) - 2, 0)], dtype)


@implements(np.inner)
@arrays_are_nodes(np.inner)
def _inner(a: Any, b: Any) -> Node:
    (x, y), dtype = array_operands(a, b)
    if not x.shape or not y.shape:
        return _scaled(x, y, dtype)
    return _joined("inner", x, [len(x.shape) - 1], y, [len(y.shape) - 1], dtype)


def _scaled(x: Node, y: Node, dtype: Any) -> Node:
    return apply("logical_and", x, y) if dtype == BOOL and x.shape == y.shape else product([x, y], dtype)


@implements(np.vdot)
@arrays_are_nodes(np.vdot)
def _vdot(a: Any, b: Any) -> Node:
    (x, y), dtype = array_operands(a, b)
    if prod(x.shape) != prod(y.shape):
        raise ShapeError(f"numpy.vdot of {prod(x.shape)} and {prod(y.shape)} entries: it needs equally many")
    if x.shape != y.shape:
        x, y = _flat(x), _flat(y)
    axes = range(len(x.shape))
    return contraction([x, y], [axes, axes], [], dtype)


@implements(np.outer)
@arrays_are_nodes(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> Node:
    refuse_options("numpy.outer", out=out)
    (x, y), dtype = array_operands(a, b)
    return contraction([_flat(x), _flat(y)], [[0], [1]], [0, 1], dtype)


def _flat(node: Node) -> Node:
    return reshaped(node, (prod(node.shape),))


@implements_method(np.multiply, "outer")
def _multiply_outer(a: Any, b: Any) -> Node:
    (x, y), dtype = ufunc_operands(np.multiply, a, b)
    rank = len(x.shape) + len(y.shape)
    return contraction([x, y], [range(len(x.shape)), range(len(x.shape), rank)], range(rank), dtype)


@implements(np.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Node:
    (x, y), dtype = array_operands(a, b)
    first, second = _tensordot_axes(axes, len(x.shape), len(y.shape))
    return _joined("tensordot", x, first, y, second, dtype)


def _tensordot_axes(axes: Any, rank_a: int, rank_b: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, (int, np.integer)):
        count = int(axes)
        if count < 0 or count > min(rank_a, rank_b):
            raise ShapeError(
                f"tensordot over {count} axes needs as many in both operands, which have {rank_a} and {rank_b}"
            )
        return list(range(rank_a - count, rank_a)), list(range(count))
    given_a, given_b = axes
    first = normalize_axis_tuple(given_a, rank_a, allow_duplicate=False)
    second = normalize_axis_tuple(given_b, rank_b, allow_duplicate=False)
    if len(first) != len(second):
        raise ShapeError(f"tensordot pairs {len(first)} axes of the first operand with {len(second)} of the second")
    return list(first), list(second)


def _joined(name: str, a: Node, axes_a: Sequence[int], b: Node, axes_b: Sequence[int], dtype: Any) -> Node:
    """The sum over paired axes; the others follow, those of the first operand before those of the second."""
    for axis_a, axis_b in zip(axes_a, axes_b, strict=True):
        _same_size(name, a, axis_a, b, axis_b)
    left = list(range(len(a.shape)))
    right = list(range(len(a.shape), len(a.shape) + len(b.shape)))
    for axis_a, axis_b in zip(axes_a, axes_b, strict=True):
        right[axis_b] = left[axis_a]
    shared = {left[axis] for axis in axes_a}
    output = [label for label in left if label not in shared] + [label for label in right if label not in shared]
    return contraction([a, b], [left, right], output, dtype)


@implements(np.trace)
def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Node:
    refuse_options("numpy.trace", out=out)
    node = as_node(a)
    target = np.dtype(dtype) if dtype is not None else reduced_dtype(np.sum, node.dtype)
    along = in_dtype(diagonal(node, offset, axis1, axis2), target)
    return sum_axes(along, [len(along.shape) - 1])
