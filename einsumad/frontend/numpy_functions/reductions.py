"""Sums, means, variances, products and extrema over axes.

Owns these functions. Imports the registry, promotion and the catalogue. Invariant: every sum is a product
node with fewer labels in its output; functions that the catalogue defines over the last axes are reached by a
transposition.
"""

# ruff: noqa: PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import math
from typing import Any

import numpy as np

from einsumad.frontend.axes import axes_last, flag, insert_axes, some_axes
from einsumad.frontend.broadcasting import product, spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node, number
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import common_operands, floating, in_dtype, reduced_dtype, tensor
from einsumad.frontend.registry import implements, implements_method, is_given, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply, call
from einsumad.graph import BOOL, Node, Number, add, einsum, zero


def summed(node: Node, axes: tuple[int, ...], keepdims: Any, dtype: Any, coefficient: Number = 1) -> Node:
    """A coefficient times the sum over axes; axes that are kept have size 1."""
    kept = [axis for axis in range(len(node.shape)) if axis not in axes]
    total = einsum([in_dtype(node, dtype)], [range(len(node.shape))], kept, coefficient, dtype)
    return insert_axes(total, axes) if flag("keepdims", keepdims) else total


@implements(np.sum)
def _sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = None,
    initial: Any = None,
    where: Any = None,
) -> Node:
    refuse_options("numpy.sum", out=out)
    node = _entries(a, where, 0)
    target = np.dtype(dtype) if dtype is not None else reduced_dtype(np.sum, node.dtype)
    if target == BOOL:
        raise refused("numpy.sum", "dtype")
    total = summed(node, some_axes(axis, len(node.shape)), keepdims, target)
    return in_dtype(as_node(Tensor(total) + initial), target) if is_given(initial) else total


def _entries(a: Any, where: Any, otherwise: Any) -> Node:
    """The operand, with a number in the places that are left out."""
    node = as_node(a)
    if where is None or where is True or not is_given(where):
        return node
    mask = spread(in_dtype(as_node(where), BOOL), node.shape)
    other = in_dtype(as_node(otherwise, node.dtype), node.dtype)
    return as_node(np.where(Tensor(mask), Tensor(node), Tensor(other)))


@implements_method(np.add, "reduce")
def _add_reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    return _sum(array, axis, dtype, keepdims=keepdims)


@implements(np.any)
def _any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, *, where: Any = None) -> Node:
    refuse_options("numpy.any", out=out)
    count, _ = _count(_entries(a, where, otherwise=False), axis, keepdims)
    return apply("greater", count, zero(count.shape, count.dtype))


@implements(np.all)
def _all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, *, where: Any = None) -> Node:
    refuse_options("numpy.all", out=out)
    count, size = _count(_entries(a, where, otherwise=True), axis, keepdims)
    return row("equal", count, number(size, count.dtype))


def _count(entries: Node, axis: Any, keepdims: Any) -> tuple[Node, int]:
    """How many entries are true, and of how many."""
    node = in_dtype(entries, BOOL)
    axes = some_axes(axis, len(node.shape))
    return summed(node, axes, keepdims, np.dtype(np.int64)), _number_of(node, axes)


def _number_of(node: Node, axes: tuple[int, ...]) -> int:
    return math.prod(node.shape[axis] for axis in axes)


@implements(np.mean)
def _mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None, *, where: Any = None
) -> Node:
    refuse_options("numpy.mean", out=out)
    if _is_partial(where):
        return as_node(_mean_of_some(*_some("numpy.mean", np.mean, a, dtype, where), axis, keepdims))
    node, target = _averaged("numpy.mean", np.mean, a, dtype)
    axes = some_axes(axis, len(node.shape))
    return _divided(node, axes, _number_of(node, axes), keepdims, target)


def _averaged(name: str, function: Any, a: Any, dtype: Any) -> tuple[Node, np.dtype]:
    """The operand in the floating dtype in which its average is computed."""
    node = as_node(a)
    target = np.dtype(dtype) if dtype is not None else reduced_dtype(function, node.dtype)
    (node,) = floating(name, target, [node])
    return node, target


def _divided(node: Node, axes: tuple[int, ...], divisor: float, keepdims: Any, dtype: np.dtype) -> Node:
    """The sum over axes divided by a number; division by nothing gives NaN or an infinity, as in NumPy."""
    if divisor > 0:
        return summed(node, axes, keepdims, dtype, 1 / divisor)
    return in_dtype(as_node(_by_nothing(Tensor(summed(node, axes, keepdims, dtype)))), dtype)


def _by_nothing(squares: Any) -> Any:
    """Divided by zero: no structural zero is hidden, as 0 / 0 is NaN."""
    return np.where(squares > 0, squares * np.inf, np.nan)


@implements(np.var)
def _var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = None,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Node:
    refuse_options("numpy.var", out=out)
    given = correction if is_given(correction) else ddof
    return _variance("numpy.var", np.var, a, axis, dtype, given, keepdims, where, mean)


@implements(np.std)
def _std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: Any = None,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Node:
    refuse_options("numpy.std", out=out)
    given = correction if is_given(correction) else ddof
    return apply("norm_root", _variance("numpy.std", np.std, a, axis, dtype, given, keepdims, where, mean))


def _variance(
    name: str, function: Any, a: Any, axis: Any, dtype: Any, ddof: float, keepdims: Any, where: Any, given_mean: Any
) -> Node:
    if _is_partial(where):
        return _variance_of_some(name, function, a, axis, dtype, ddof, keepdims, where, given_mean)
    node, target = _averaged(name, function, a, dtype)
    axes = some_axes(axis, len(node.shape))
    count = _number_of(node, axes)
    if is_given(given_mean):
        (node, mean), common = common_operands(Tensor(node), given_mean)
        target = target if dtype is not None else common
    else:
        mean = _divided(node, axes, count, True, target)
    deviation = add([node, product([mean], node.dtype, -1, node.shape)], node.dtype)
    return _divided(
        in_dtype(apply("power", deviation, params=(2,)), target), axes, max(count - ddof, 0), keepdims, target
    )


def _is_partial(where: Any) -> bool:
    return is_given(where) and where is not True


def _some(name: str, function: Any, a: Any, dtype: Any, where: Any) -> tuple[Any, Any]:
    """The operand in the dtype of its average, and which entries of it count."""
    node, _ = _averaged(name, function, a, dtype)
    return Tensor(node), Tensor(spread(in_dtype(as_node(where), BOOL), node.shape))


def _mean_of_some(values: Any, mask: Any, axis: Any, keepdims: Any) -> Any:
    options: dict[str, Any] = {"keepdims": flag("keepdims", keepdims)}
    count = np.sum(mask, axis, **options)
    mean = np.where(count > 0, np.sum(np.where(mask, values, 0), axis, **options) / count, np.nan)
    return tensor(mean, values.dtype)


def _variance_of_some(
    name: str, function: Any, a: Any, axis: Any, dtype: Any, ddof: float, keepdims: Any, where: Any, given_mean: Any
) -> Node:
    values, mask = _some(name, function, a, dtype, where)
    mean = given_mean if is_given(given_mean) else _mean_of_some(values, mask, axis, True)
    options: dict[str, Any] = {"keepdims": flag("keepdims", keepdims)}
    squares = np.sum(np.where(mask, values - mean, 0) ** 2, axis, **options)
    freedom = np.sum(mask, axis, **options) - ddof
    beyond = np.where(squares > 0, np.inf, np.nan)
    result = np.where(freedom > 0, squares / freedom, beyond)
    return in_dtype(as_node(result), values.dtype if dtype is not None else squares.dtype)


@implements(np.prod)
def _prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = None,
    initial: Any = None,
    where: Any = None,
) -> Node:
    refuse_options("numpy.prod", out=out)
    node = _entries(a, where, 1)
    target = np.dtype(dtype) if dtype is not None else reduced_dtype(np.prod, node.dtype)
    if target == BOOL:
        raise refused("numpy.prod", "dtype")
    axes = some_axes(axis, len(node.shape))
    result = axes_last(in_dtype(node, target), axes)
    for _ in axes:
        result = call("product", result)
    if is_given(initial):
        result = in_dtype(as_node(Tensor(result) * initial), target)
    return insert_axes(result, axes) if flag("keepdims", keepdims) else result


@implements_method(np.multiply, "reduce")
def _multiply_reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    return _prod(array, axis, dtype, keepdims=keepdims)


@implements(np.max, np.amax)
def _max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, initial: Any = None, where: Any = None
) -> Node:
    refuse_options("numpy.max", out=out)
    return _bounded("max_reduce", np.maximum, a, axis, keepdims, initial, where)


@implements(np.min, np.amin)
def _min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, initial: Any = None, where: Any = None
) -> Node:
    refuse_options("numpy.min", out=out)
    return _bounded("min_reduce", np.minimum, a, axis, keepdims, initial, where)


def _bounded(name: str, ufunc: np.ufunc, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Node:
    """The extremum of the entries that count, and of a number if one is given."""
    if not is_given(initial):
        if _is_partial(where):
            raise ValueError(f"{name[:3]} of entries that are chosen by where= needs an initial value")
        return extremum(name, a, axis, keepdims)
    node = _entries(a, where, initial)
    if not all(node.shape):
        shape = np.sum(np.broadcast_to(0, node.shape), axis, keepdims=flag("keepdims", keepdims)).shape
        return spread(in_dtype(as_node(initial, node.dtype), node.dtype), shape)
    return in_dtype(as_node(ufunc(Tensor(extremum(name, node, axis, keepdims)), initial)), node.dtype)


@implements_method(np.maximum, "reduce")
def _maximum_reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    refuse_options("numpy.maximum.reduce", dtype=dtype)
    return extremum("max_reduce", array, axis, keepdims)


@implements_method(np.minimum, "reduce")
def _minimum_reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: Any = None) -> Node:
    refuse_options("numpy.minimum.reduce", dtype=dtype)
    return extremum("min_reduce", array, axis, keepdims)


def extremum(name: str, a: Any, axis: Any, keepdims: Any) -> Node:
    """The largest or smallest entry over axes, all of which share its derivative at ties."""
    node = as_node(a) if not isinstance(a, Node) else a
    axes = some_axes(axis, len(node.shape))
    if _number_of(node, axes) == 0:
        raise ValueError(f"numpy.{name[:3]} over axes {axes} of shape {node.shape} has no entries and so no value")
    result = axes_last(node, axes)
    if axes:
        result = call(name, result, params=(len(axes),) if len(axes) > 1 else ())
    return insert_axes(result, axes) if flag("keepdims", keepdims) else result
