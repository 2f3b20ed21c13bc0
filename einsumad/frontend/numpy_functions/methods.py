"""Methods of ufuncs: reduce, accumulate, reduceat, outer and at, for every ufunc of two operands that is supported.

Owns the methods that have no handler of their own. Imports the surface. Invariant: a reduction is the ufunc applied
from the first entry to the last, as NumPy's is; where the ufunc is associative a running one takes log n steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.frontend.axes import axes_last, flag, insert_axes, one_axis, some_axes
from einsumad.frontend.broadcasting import spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.joining import concatenated
from einsumad.frontend.known import known
from einsumad.frontend.lifting import as_node, number
from einsumad.frontend.maps import pick, put_at, reshaped, take_slice
from einsumad.frontend.numpy_functions.reductions import extremum
from einsumad.frontend.promotion import in_dtype, tensor, ufunc_operands
from einsumad.frontend.registry import implements_method, implements_methods, qualified_name, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.writing import put
from einsumad.functions import call
from einsumad.graph import BOOL, Node, add, scale

_LOGICAL = frozenset([np.logical_and, np.logical_or, np.logical_xor])
_ASSOCIATIVE = _LOGICAL | {np.logaddexp, np.logaddexp2, np.hypot, np.bitwise_and, np.bitwise_or, np.bitwise_xor}


@implements_methods("outer")
def _outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    refuse_options(f"{qualified_name(ufunc)}.outer", **options)
    _of_two(ufunc, "outer")
    first, second = tensor(a), tensor(b)  # NumPy takes numbers as arrays here
    return _nodes(ufunc(np.reshape(first, (*first.shape, *[1] * second.ndim)), second))


def _nodes(result: Any) -> Any:
    return tuple([as_node(part) for part in result]) if isinstance(result, tuple) else as_node(result)


def _of_two(ufunc: np.ufunc, method: str) -> None:
    if ufunc.nin != 2:
        raise ValueError(f"{method} exists for functions of two operands only, not for {qualified_name(ufunc)}")


def _operand(ufunc: np.ufunc, method: str, array: Any, dtype: Any) -> Node:
    """The array in the dtype of the loop, whose result has to have it too."""
    name = f"{qualified_name(ufunc)}.{method}"
    if ufunc.nin != 2 or ufunc.nout != 1:
        raise ValueError(f"{name} does not exist: only functions of two operands with one value have it")
    node = as_node(array)
    if ufunc in _LOGICAL:
        node = in_dtype(node, BOOL)
    if dtype is not None:
        node = in_dtype(node, dtype)
    (first, _), target = ufunc_operands(ufunc, Tensor(node), Tensor(node))
    if first.dtype != target:
        raise refused(name, "of entries that are no operands of the function")
    return first


@implements_methods("reduce")
def _reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    node = _operand(ufunc, "reduce", array, dtype)
    axes = some_axes(axis, len(node.shape))
    if ufunc.identity is None and len(axes) > 1:
        raise ValueError(f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be given")
    last = axes_last(node, axes)
    size = math.prod(node.shape[k] for k in axes)
    batch = last.shape[: len(last.shape) - len(axes)]
    flat = Tensor(reshaped(last, (*batch, size)))
    if not size and ufunc.identity is None:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    result = spread(number(ufunc.identity, node.dtype), batch) if not size else _folded(ufunc, flat)
    return insert_axes(result, axes) if flag("keepdims", keepdims) else result


def _folded(ufunc: np.ufunc, rows: Tensor) -> Node:
    """``f(f(x_0, x_1), x_2) ...`` over the last axis; halves first where that is the same."""
    if ufunc is np.logaddexp:
        return call("logsumexp", rows.node)
    parts = [rows[..., k] for k in range(rows.shape[-1])]
    while len(parts) > 1:
        if ufunc in _ASSOCIATIVE:
            pairs = [ufunc(parts[k], parts[k + 1]) for k in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(parts) - len(parts) % 2 :]
        else:
            parts = [ufunc(parts[0], parts[1]), *parts[2:]]
    return as_node(parts[0])


@implements_method(np.fmax, "reduce")
def _fmax_reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    refuse_options("numpy.fmax.reduce", dtype=dtype)
    return extremum("fmax_reduce", array, axis, keepdims)


@implements_method(np.fmin, "reduce")
def _fmin_reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    refuse_options("numpy.fmin.reduce", dtype=dtype)
    return extremum("fmin_reduce", array, axis, keepdims)


@implements_methods("accumulate")
def _accumulate(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    node = _operand(ufunc, "accumulate", array, dtype)
    if not node.shape:
        raise TypeError("cannot accumulate on a scalar")
    place = one_axis(axis, len(node.shape))
    size = node.shape[place]
    if ufunc in _ASSOCIATIVE:
        reach = 1
        while reach < size:
            left, right = take_slice(node, place, 0, size - reach), take_slice(node, place, reach, size - reach)
            combined = as_node(ufunc(Tensor(left), Tensor(right)))
            node = concatenated([take_slice(node, place, 0, reach), combined], place)
            reach *= 2
        return node
    parts = [Tensor(pick(node, place, k)) for k in range(size)]
    for k in range(1, size):
        parts[k] = ufunc(parts[k - 1], parts[k])
    return as_node(np.stack(parts, place)) if parts else node


@implements_methods("reduceat")
def _reduceat(ufunc: np.ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None) -> Node:
    node = as_node(array)
    place = one_axis(axis, len(node.shape))
    size = node.shape[place]
    starts = np.asarray(known(indices, f"{ufunc.__name__}.reduceat"))
    if starts.ndim != 1 or starts.dtype.kind not in "iu":
        raise TypeError("the indices of reduceat are a vector of integers")
    if starts.size and (starts.min() < 0 or starts.max() >= size):
        raise IndexError(f"an index of reduceat is out of bounds for an axis of {size} entries: {starts.tolist()}")
    ends = [*starts.tolist()[1:], size]
    lengths = [max(end - start, 1) for start, end in zip(starts.tolist(), ends, strict=True)]
    options = {} if dtype is None else {"dtype": dtype}
    runs = [
        ufunc.reduce(Tensor(take_slice(node, place, start, length)), axis=place, keepdims=True, **options)
        for start, length in zip(starts.tolist(), lengths, strict=True)
    ]
    if not runs:
        return take_slice(node, place, 0, 0)
    return as_node(np.concatenate(runs, place))


@implements_methods("at")
def _at(ufunc: np.ufunc, a: Any, indices: Any, *second: Any) -> Node:
    """The node that the first operand has afterwards."""
    name = f"{qualified_name(ufunc)}.at"
    node = as_node(a)
    size = math.prod(node.shape)
    places: np.ndarray = np.arange(size).reshape(node.shape)[known(indices, f"{ufunc.__name__}.at")]
    if not np.can_cast(_result_dtype(ufunc, node, second), node.dtype, "same_kind"):
        raise TypeError(f"{name} cannot put its results into an array of {node.dtype}")
    if not places.size:
        return node
    if ufunc in (np.add, np.subtract) and node.dtype != BOOL:
        values = in_dtype(as_node(second[0], node.dtype), node.dtype)
        return _added_at(node, places, values, -1 if ufunc is np.subtract else 1)
    if np.unique(places).size != places.size:
        raise refused(name, "at places that are named twice")
    chosen = Tensor(reshaped(node, (size,)))[places]
    return put(node, places, in_dtype(as_node(ufunc(chosen, *second)), node.dtype))


def _result_dtype(ufunc: np.ufunc, node: Node, second: Sequence[Any]) -> np.dtype:
    _, dtype = ufunc_operands(ufunc, Tensor(node), *second)
    return dtype


def _added_at(node: Node, places: np.ndarray, values: Node, sign: int) -> Node:
    flat = reshaped(spread(values, places.shape), (places.size,))
    size = math.prod(node.shape)
    gathered = reshaped(put_at(flat, 0, as_node(places.reshape(-1)), size), node.shape)
    return add([node, scale(sign, gathered)], node.dtype)
