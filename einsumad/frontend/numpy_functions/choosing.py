"""Functions that choose among arrays or apply the caller's functions: select, choose, piecewise, apply_along_axis.

Owns these functions. Imports the surface. Invariant: what is not chosen contributes nothing; the caller's functions are
given traced values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.frontend.axes import one_axis
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.known import known
from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.numpy_functions.indexing import places_of, within
from einsumad.frontend.promotion import common_operands, tensor
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import BOOL, Node


@implements(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Node:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    conditions = [tensor(condition) for condition in condlist]
    for k, condition in enumerate(conditions):
        if condition.dtype != BOOL:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    nodes, _ = common_operands(*choicelist, default)
    shape = broadcast_shape(*[condition.shape for condition in conditions], *[node.shape for node in nodes])
    result: Any = Tensor(spread(nodes[-1], shape))
    for condition, node in zip(conditions[::-1], nodes[-2::-1], strict=True):
        result = np.where(condition, Tensor(node), result)
    return as_node(result)


@implements(np.choose)
def _choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Node:
    refuse_options("numpy.choose", out=out)
    index = places_of(a)
    if index.dtype.kind not in "iub":
        raise TypeError(f"choose needs whole numbers, got dtype {index.dtype}")
    nodes, _ = common_operands(*[part if is_python_number(part) else tensor(part) for part in choices])
    index = within(index.astype(np.int64), len(nodes), mode)
    value = concrete(index.node) if isinstance(index, Tensor) else index
    if value is None:
        index = np.where(index < 0, len(nodes), index)  # out of bounds, and never counted from the end
    elif np.any((value < 0) | (value >= len(nodes))):
        raise ValueError("invalid entry in choice array")
    shape = broadcast_shape(index.shape, *[node.shape for node in nodes])
    every = np.stack([Tensor(spread(node, shape)) for node in nodes])
    return as_node(np.take_along_axis(every, np.broadcast_to(index, shape)[None], 0)[0])


@implements(np.piecewise)
def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Node:
    values = tensor(x)
    conditions = _conditions(values, condlist)
    if len(conditions) == len(funclist) - 1:
        conditions = [*conditions, ~np.any(np.stack(conditions), axis=0)]
    if len(conditions) != len(funclist):
        n = len(conditions)
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    result = np.zeros_like(values)
    for condition, function in zip(conditions, funclist, strict=True):
        if not isinstance(function, Callable):  # type: ignore[arg-type]
            result = np.where(condition, tensor(function, values.dtype), result)
            continue
        if not np.any(condition):
            continue
        where = np.flatnonzero(np.broadcast_to(condition, values.shape))
        flat = np.reshape(result, -1).copy()
        flat[where] = function(np.reshape(values, -1)[where], *args, **kw)
        result = np.reshape(flat, values.shape)
    return as_node(result)


def _conditions(values: Tensor, condlist: Any) -> list[np.ndarray]:
    """The conditions as arrays: which entries a function is given depends on them."""
    single = _is_number(condlist) or (values.ndim != 0 and _is_number(condlist[0]))
    parts = [condlist] if single else list(condlist)
    return [np.asarray(known(part, "piecewise"), bool) for part in parts]


def _is_number(condition: Any) -> bool:
    return not isinstance(condition, (list, tuple)) and np.ndim(condition) == 0


def _itself(array: Any) -> Any:
    """The traced array, not another one of the same value, for a function that may write into it."""
    return array if isinstance(array, Tensor) else tensor(array)


@implements(np.apply_along_axis)
def _apply_along_axis(func1d: Callable[..., Any], axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Node:
    """The function is given views, so it may write into the array. Results have the shape and dtype of the first."""
    values = _itself(arr)
    place = one_axis(axis, values.ndim)
    rows = np.moveaxis(values, place, -1)
    batch = rows.shape[:-1]
    if 0 in batch:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    parts: list[Any] = []
    for where in np.ndindex(batch):
        part = tensor(func1d(rows[where], *args, **kwargs))  # what it is now, whatever is written later
        first = parts[0] if parts else part
        parts.append(np.astype(np.broadcast_to(part, first.shape), first.dtype))
    result = np.reshape(np.stack(parts), (*batch, *parts[0].shape))
    own = range(len(batch), result.ndim)
    return as_node(np.transpose(result, [*range(place), *own, *range(place, len(batch))]))


@implements(np.apply_over_axes)
def _apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Node:
    values = _itself(a)
    rank = values.ndim
    for axis in np.atleast_1d(axes).tolist():
        place = axis + rank if axis < 0 else axis
        result = func(values, place)
        if not isinstance(result, (Tensor, np.ndarray)):
            raise refused("numpy.apply_over_axes", "of a function that gives no array")
        values = tensor(result if result.ndim == values.ndim else np.expand_dims(result, place))
        if values.ndim != rank:
            raise ValueError("function is not returning an array of the correct shape")
    return as_node(values)
