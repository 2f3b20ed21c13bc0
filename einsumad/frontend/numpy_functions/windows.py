"""Neighbours along an axis: pad, diff, ediff1d, convolve, correlate.

Owns these functions. Imports maps and the registry. Invariant: a convolution is a product with an affine tensor, so its
derivatives are products with the same tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.axes import one_axis
from einsumad.frontend.broadcasting import product, spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.joining import concatenated
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node, holds_tensor
from einsumad.frontend.maps import padded, reshaped, take_at, take_slice
from einsumad.frontend.numpy_functions.indexing import node_size
from einsumad.frontend.numpy_functions.rearranging import flipped
from einsumad.frontend.promotion import common_operands, in_dtype
from einsumad.frontend.registry import implements, is_given
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, add, affine, einsum, scale

_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}
_BY_INDEX = ("edge", "reflect", "symmetric", "wrap")


@implements(np.pad)
@at_known("pad", "pad_width")
def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Node:
    node = as_node(array)
    rank = len(node.shape)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - rank, 0)) for k in range(rank)]
        pad_width = [(width, width) if np.ndim(width) == 0 else width for width in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width, dtype=int), (rank, 2)).tolist()
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        values = options.pop("constant_values", 0)
        _refuse(options)
        return _with_constants(node, widths, values)
    if mode in _STATISTICS or mode == "linear_ramp":
        return _with_values(node, widths, mode, options)
    if mode not in _BY_INDEX:
        raise refused("numpy.pad", "mode", f"mode={mode!r}")
    if options.get("reflect_type", "even") != "even":
        raise refused("numpy.pad", "reflect_type")
    for axis, width in enumerate(widths):
        if any(width):
            index = np.pad(np.arange(node.shape[axis]), width, mode)
            node = take_at(node, axis, as_node(index))
    return node


def _with_values(node: Node, widths: list[list[int]], mode: str, options: dict[str, Any]) -> Node:
    """The node with a statistic of its entries around it, or a ramp to a number, one for each side."""
    name, default = ("end_values", 0) if mode == "linear_ramp" else ("stat_length", None)
    given = options.pop(name, default)
    for option in options:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {option}")
    values = np.broadcast_to(np.asarray(given, dtype=object), (len(widths), 2))
    for axis, (pair, own) in enumerate(zip(widths, values, strict=True)):
        size = node.shape[axis]
        sides = []
        for side, (width, value) in enumerate(zip(pair, own, strict=True)):
            if mode == "linear_ramp":
                edge = Tensor(take_slice(node, axis, 0 if side == 0 else size - 1, 1))
                sides.append(_ramp(edge, axis, value, width, side))
                continue
            length = size if value is None else min(int(value), size)
            part = Tensor(take_slice(node, axis, 0 if side == 0 else size - length, length))
            middle = _STATISTICS[mode](part, axis=axis, keepdims=True)
            sides.append(spread(in_dtype(as_node(middle), node.dtype), _of_width(node, axis, width)))
        node = concatenated([sides[0], node, sides[1]], axis)
    return node


def _of_width(node: Node, axis: int, width: int) -> tuple[int, ...]:
    return (*node.shape[:axis], width, *node.shape[axis + 1 :])


def _ramp(edge: Tensor, axis: int, end: Any, width: int, side: int) -> Node:
    """Numbers from an end to the edge, which is not repeated; backwards behind it."""
    ramp = np.linspace(end, np.squeeze(edge, axis), num=width, endpoint=False, axis=axis)
    return in_dtype(as_node(np.flip(ramp, axis) if side else ramp), edge.dtype)


def _refuse(options: dict[str, Any]) -> None:
    for name in options:
        raise ValueError(f"unsupported keyword arguments for mode 'constant': {name}")


def _with_constants(node: Node, widths: list[list[int]], values: Any) -> Node:
    """The node with numbers around it, one for each side."""
    if holds_tensor(values):
        raise refused("numpy.pad", "constant_values")
    numbers = np.broadcast_to(np.asarray(values), (len(widths), 2))
    for axis, (before, after) in enumerate(widths):
        if not before and not after:
            continue
        size = node.shape[axis]
        node = padded(node, axis, before, after)
        for value, first, length in ((numbers[axis, 0], 0, before), (numbers[axis, 1], before + size, after)):
            if value != 0 and length:
                node = _filled_run(node, axis, first, length, value)
    return node


def _filled_run(node: Node, axis: int, first: int, length: int, value: Any) -> Node:
    """The node, zero along a run of an axis, with a number there."""
    run = np.zeros(node.shape[axis], bool)
    run[first : first + length] = True
    mask = as_node(run.reshape([-1 if k == axis else 1 for k in range(len(node.shape))]))
    number = in_dtype(as_node(np.asarray(value)), node.dtype)
    if node.dtype == BOOL:
        return apply("logical_or", node, product([mask, number], BOOL, shape=node.shape))
    return add([node, product([mask, number], node.dtype, shape=node.shape)], node.dtype)


@implements(np.diff)
@at_known("diff", "n")
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Node:
    node = as_node(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if not node.shape:
        raise ValueError("diff requires input that is at least one dimensional")
    place = one_axis(axis, len(node.shape))
    edges = [_edge(given, node, place) for given in (prepend, append)]
    if any(edge is not None for edge in edges):
        parts = [part for part in (edges[0], node, edges[1]) if part is not None]
        dtype = np.result_type(*[part.dtype for part in parts])
        node = concatenated([in_dtype(part, dtype) for part in parts], place)
    for _ in range(n):
        size = max(node.shape[place] - 1, 0)
        above, below = take_slice(node, place, 1, size), take_slice(node, place, 0, size)
        node = _difference(above, below)
    return node


def _difference(above: Node, below: Node) -> Node:
    if above.dtype == BOOL:
        return apply("not_equal", above, below)
    return add([above, scale(-1, below)], above.dtype)


def _edge(given: Any, node: Node, axis: int) -> Node | None:
    if not is_given(given):
        return None
    edge = as_node(given)
    if edge.shape:
        return edge
    shape = tuple([1 if k == axis else size for k, size in enumerate(node.shape)])
    return product([edge], edge.dtype, shape=shape)


@implements(np.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Node:
    node = as_node(ary)
    parts = [_diff_flat(node)]
    if to_begin is not None:
        parts.insert(0, _flat(to_begin, node.dtype))
    if to_end is not None:
        parts.append(_flat(to_end, node.dtype))
    return concatenated(parts, 0)


def _flat(x: Any, dtype: Any) -> Node:
    node = in_dtype(as_node(x), dtype)
    return reshaped(node, (node_size(node),))


def _diff_flat(node: Node) -> Node:
    flat = reshaped(node, (node_size(node),))
    size = max(flat.shape[0] - 1, 0)
    return _difference(take_slice(flat, 0, 1, size), take_slice(flat, 0, 0, size))


@implements(np.convolve)
def _convolve(a: Any, v: Any, mode: str = "full") -> Node:
    (first, second), dtype = common_operands(a, v)
    return _convolution(_vector(first), _vector(second), mode, dtype)


@implements(np.correlate)
def _correlate(a: Any, v: Any, mode: str = "valid") -> Node:
    (first, second), dtype = common_operands(a, v)
    first, second = _vector(first), _vector(second)
    result = _convolution(first, flipped(second, [0]), mode, dtype)
    shorter = first.shape[0] < second.shape[0]
    return flipped(_convolution(second, flipped(first, [0]), mode, dtype), [0]) if shorter else result


def _vector(node: Node) -> Node:
    if len(node.shape) > 1:
        raise ValueError("object too deep for desired array")
    node = reshaped(node, (node_size(node),))
    if not node.shape[0]:
        raise ValueError("a convolution needs one entry or more in both arrays")
    return node


def _convolution(a: Node, v: Node, mode: str, dtype: Any) -> Node:
    """``C[i] = Σ_jk [i + first = j + k] A[j] V[k]``."""
    long, short = max(a.shape[0], v.shape[0]), min(a.shape[0], v.shape[0])
    runs = {"full": (0, long + short - 1), "same": ((short - 1) // 2, long), "valid": (short - 1, long - short + 1)}
    if mode not in runs:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    if dtype == BOOL:
        raise ShapeError("a convolution of booleans is not supported on traced values: convert them to integers")
    first, size = runs[mode]
    meeting = affine(size, [a.shape[0], v.shape[0]], [1, 1], -first, dtype)
    if size == 1 and a.shape[0] == v.shape[0] == 1:
        return einsum([a, v], [(0,), (0,)], (0,), 1, dtype)
    return einsum([a, v, meeting], [(0,), (1,), (2, 0, 1)], (2,), 1, dtype)
