"""Functions that leave NaN out: sums, products, means, variances, extrema, quantiles.

Owns these functions, but for running totals. Imports the surface. Invariant: an entry that is NaN has derivative 0, and
where nothing else is left the result is what NumPy makes of no entries.
"""

# ruff: noqa: ARG001, PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from einsumad.frontend.axes import flag, insert_axes, some_axes
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import take_at
from einsumad.frontend.numpy_functions.reductions import extremum
from einsumad.frontend.numpy_functions.sorting import (
    Chances,
    chances,
    joined_axes,
    middle_places,
)
from einsumad.frontend.promotion import floating, in_dtype, reduced_dtype, tensor
from einsumad.frontend.registry import implements, is_given, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply, call
from einsumad.graph import Node

Places = Callable[[int], tuple[np.ndarray, np.ndarray, np.ndarray]]


def _kept(keepdims: Any) -> dict[str, Any]:
    return {"keepdims": bool(keepdims)} if is_given(keepdims) else {}


@implements(np.nansum)
def _nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = None,
    initial: Any = None,
    where: Any = None,
) -> Node:
    refuse_options("numpy.nansum", out=out, initial=initial, where=where)
    return as_node(np.sum(np.where(np.isnan(a), 0, a), axis, dtype, **_kept(keepdims)))


@implements(np.nanprod)
def _nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = None,
    initial: Any = None,
    where: Any = None,
) -> Node:
    refuse_options("numpy.nanprod", out=out, initial=initial, where=where)
    return as_node(np.prod(np.where(np.isnan(a), 1, a), axis, dtype, **_kept(keepdims)))


def _floats(name: str, function: Any, a: Any, dtype: Any) -> tuple[Any, np.dtype]:
    """The entries, and the dtype in which they are averaged."""
    node = as_node(a)
    target = np.dtype(dtype) if dtype is not None else reduced_dtype(function, node.dtype)
    (node,) = floating(name, target, [node])
    return _cut_off(Tensor(node)), target


def _cut_off(values: Any) -> Any:
    """The same values, of which those that are NaN are constants: selected zeros, whatever made them NaN."""
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values) if values.dtype.kind == "f" else values


def _mean(values: Any, axis: Any, options: dict[str, Any]) -> Any:
    number = np.sum(~np.isnan(values), axis, **options)
    total = np.sum(np.where(np.isnan(values), 0, values), axis, **options)
    return tensor(np.where(number > 0, total / number, np.nan), values.dtype)


@implements(np.nanmean)
def _nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None, *, where: Any = None
) -> Node:
    refuse_options("numpy.nanmean", out=out, where=where)
    values, _ = _floats("numpy.nanmean", np.mean, a, dtype)
    return as_node(_mean(values, axis, _kept(keepdims)))


def _variance(name: str, a: Any, axis: Any, dtype: Any, ddof: float, keepdims: Any) -> Node:
    values, target = _floats(name, np.var, a, dtype)
    deviation = np.where(np.isnan(values), 0, values - _mean(values, axis, {"keepdims": True}))
    squares = np.sum(deviation**2, axis, **_kept(keepdims))
    freedom = np.sum(~np.isnan(values), axis, **_kept(keepdims)) - ddof
    return in_dtype(as_node(np.where(freedom > 0, squares / freedom, np.nan)), target)


@implements(np.nanvar)
def _nanvar(
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
    refuse_options("numpy.nanvar", out=out, where=where, mean=mean)
    return _variance("numpy.nanvar", a, axis, dtype, correction if is_given(correction) else ddof, keepdims)


@implements(np.nanstd)
def _nanstd(
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
    refuse_options("numpy.nanstd", out=out, where=where, mean=mean)
    variance = _variance("numpy.nanstd", a, axis, dtype, correction if is_given(correction) else ddof, keepdims)
    return apply("norm_root", variance)


@implements(np.nanmax)
def _nanmax(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, initial: Any = None, where: Any = None
) -> Node:
    refuse_options("numpy.nanmax", out=out, initial=initial, where=where)
    return extremum("fmax_reduce", a, axis, keepdims)


@implements(np.nanmin)
def _nanmin(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = None, initial: Any = None, where: Any = None
) -> Node:
    refuse_options("numpy.nanmin", out=out, initial=initial, where=where)
    return extremum("fmin_reduce", a, axis, keepdims)


@implements(np.nanargmax)
def _nanargmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = None) -> Node:
    refuse_options("numpy.nanargmax", out=out)
    return as_node(np.argmax(_without_nan(a, axis, -np.inf), axis, **_kept(keepdims)))


@implements(np.nanargmin)
def _nanargmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = None) -> Node:
    refuse_options("numpy.nanargmin", out=out)
    return as_node(np.argmin(_without_nan(a, axis, np.inf), axis, **_kept(keepdims)))


def _without_nan(a: Any, axis: Any, worst: float) -> Any:
    values = tensor(a)
    if values.dtype.kind != "f":
        return values
    nothing = concrete(as_node(np.all(np.isnan(values), axis)))
    if nothing is not None and nothing.any() and values.size:
        raise ValueError("All-NaN slice encountered")
    filled: Any = np.where(np.isnan(values), worst, values)
    return filled


@implements(np.nanmedian)
def _nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = None) -> Node:
    refuse_options("numpy.nanmedian", out=out)
    return _ordered(a, axis, keepdims, middle_places, None, reduced_dtype(np.mean, as_node(a).dtype))


@implements(np.nanquantile)
def _nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = None,
    *,
    weights: Any = None,
) -> Node:
    refuse_options("numpy.nanquantile", out=out, weights=weights)
    return _quantiles(a, chances("numpy.nanquantile", q, a, method), axis, keepdims)


@implements(np.nanpercentile)
def _nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = None,
    *,
    weights: Any = None,
) -> Node:
    refuse_options("numpy.nanpercentile", out=out, weights=weights)
    return _quantiles(a, chances("numpy.nanpercentile", q, a, method, 100), axis, keepdims)


def _quantiles(a: Any, chance: Chances, axis: Any, keepdims: Any) -> Node:
    return _ordered(a, axis, keepdims, chance.places, chance.values.shape, None if chance.are_exact else chance.dtype)


def _ordered(
    a: Any, axis: Any, keepdims: Any, places: Places, shape: tuple[int, ...] | None, dtype: np.dtype | None
) -> Node:
    """A value between two places in the order of the numbers; which places is looked up by how many there are.

    The values are those of quantiles of some shape, or the middle of both where the shape is None; entries themselves
    where there is no dtype for what is between them. Of no entries at all NumPy takes the mean.
    """
    node = as_node(a) if dtype is None else in_dtype(as_node(a), dtype)
    axes = some_axes(axis, len(node.shape))
    if not prod(node.shape):
        return as_node(np.nanmean(Tensor(node), axes, **_kept(keepdims)))
    rows: Any = Tensor(call("sort", joined_axes(as_node(_cut_off(Tensor(node))), axes)))  # NaN last
    number = np.sum(~np.isnan(rows), -1)
    tables = [np.stack(table).reshape(rows.shape[-1] + 1, -1) for table in zip(*_every(places, rows), strict=True)]
    looked_up: list[Any] = [Tensor(take_at(as_node(table), 0, as_node(number))) for table in tables]
    low, high, share = looked_up
    below, above = _entries_at(rows, low), _entries_at(rows, high)
    if shape is None:
        value, shape = (below + above) / 2, ()
    elif dtype is None:
        value = below
    else:
        value = np.where(share >= 0.5, above - (above - below) * (1 - share), below + (above - below) * share)
    if node.dtype.kind == "f":
        value = np.where(number[..., None] == 0, np.nan, value)
    value = np.moveaxis(value, -1, 0)
    result = as_node(np.reshape(value, (*shape, *value.shape[1:])))
    if flag("keepdims", keepdims):
        result = insert_axes(result, [len(shape) + k for k in axes])
    return in_dtype(result, node.dtype)


def _entries_at(rows: Any, places: Any) -> Any:
    """One entry of each row for each place of it, chosen by masks: a gather would meet those that sorting has."""
    chosen = places[..., None, :] == np.arange(rows.shape[-1])[:, None]
    return tensor(np.sum(np.where(chosen, rows[..., None], 0), -2), rows.dtype)


def _every(places: Places, rows: Any) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The places for each number of entries, from none to all."""
    return [places(max(size, 1)) for size in range(rows.shape[-1] + 1)]
