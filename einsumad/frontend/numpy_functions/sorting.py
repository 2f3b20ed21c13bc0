"""Sorting and order statistics: sort, partition, argsort, argmax, median, quantile.

Owns these functions. Imports the catalogue and the surface. Invariant: indices have no derivative; equal entries share
that of the places they take.
"""

# ruff: noqa: ARG001, PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from einsumad.frontend.axes import axes_last, flag, insert_axes, one_axis, permuted, some_axes
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.known import at_known, known
from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.maps import merge_axes, reshaped
from einsumad.frontend.promotion import array_operands, in_dtype, reduced_dtype
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.graph import BOOL, Node
from einsumad.records import record

EXACT_QUANTILES = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
"""Methods that give one of the entries, in its dtype; all others give values between two."""


def _along(name: str, a: Any, axis: Any, params: tuple[int, ...] = ()) -> Node:
    """A function over the last axis, which keeps the shape, over another one; over all entries for None."""
    node = as_node(a)
    if axis is None:
        return call(name, reshaped(node, (prod(node.shape),)), params=params)
    where = one_axis(axis, len(node.shape))
    order = [*[k for k in range(len(node.shape)) if k != where], where]
    result = call(name, permuted(node, order), params=params)
    return permuted(result, [order.index(k) for k in range(len(order))])


@implements(np.sort)
def _sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Node:
    refuse_options("numpy.sort", order=order)
    return _along("sort", a, axis)


@implements(np.argsort)
def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Node:
    refuse_options("numpy.argsort", order=order)
    return _along("argsort", a, axis, (1,) if stable or kind in ("stable", "mergesort") else ())


@implements(np.partition)
@at_known("partition", "kth")
def _partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Node:
    refuse_options("numpy.partition", order=order)
    return _along("partition", a, axis, _places(a, kth, axis)) if np.size(a) else _sort(a, axis)


def _places(a: Any, kth: Any, axis: Any) -> tuple[int, ...]:
    """The places at which an axis is partitioned, in ascending order."""
    size = prod(np.shape(a)) if axis is None else np.shape(a)[one_axis(axis, np.ndim(a))]
    places = [int(k) for k in np.atleast_1d(kth)]
    if any(not -size <= k < size for k in places):
        raise ValueError(f"kth {kth} is out of bounds for an axis of size {size}")
    return tuple(sorted({k % size for k in places}))


@implements(np.argpartition)
@at_known("argpartition", "kth")
def _argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Node:
    refuse_options("numpy.argpartition", order=order)
    return _along("argpartition", a, axis, _places(a, kth, axis)) if np.size(a) else _argsort(a, axis)


@implements(np.searchsorted)
def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Node:
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right' (got {side!r})")
    (rows, values), _ = array_operands(a, v)
    if len(rows.shape) != 1:
        raise ValueError("object of too small depth for desired array")
    if sorter is not None:
        rows = as_node(np.take(Tensor(rows), sorter))
    flat = reshaped(values, (prod(values.shape),))
    return reshaped(call("searchsorted", rows, flat, params=(1,) if side == "right" else ()), values.shape)


@implements(np.digitize)
def _digitize(x: Any, bins: Any, right: bool = False) -> Node:
    edges = np.asarray(known(bins, "digitize"))
    steps = np.diff(edges)
    rising = bool(np.all(steps >= 0))
    if not rising and not np.all(steps <= 0):
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if rising:
        return _searchsorted(edges, x, side)
    return as_node(edges.size - Tensor(_searchsorted(edges[::-1].copy(), x, side)))


@implements(np.argmax)
def _argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = None) -> Node:
    refuse_options("numpy.argmax", out=out)
    return _place("argmax", a, axis, keepdims)


@implements(np.argmin)
def _argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = None) -> Node:
    refuse_options("numpy.argmin", out=out)
    return _place("argmin", a, axis, keepdims)


def _place(name: str, a: Any, axis: Any, keepdims: Any) -> Node:
    node = as_node(a)
    axes = some_axes(None if axis is None else one_axis(axis, len(node.shape)), len(node.shape))
    if prod(node.shape[k] for k in axes) == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    result = call(name, joined_axes(node, axes))
    return insert_axes(result, axes) if flag("keepdims", keepdims) else result


def joined_axes(node: Node, axes: tuple[int, ...]) -> Node:
    """The node with these axes as its last one."""
    if not axes:
        return insert_axes(node, [len(node.shape)])
    last = axes_last(node, axes)
    return merge_axes(last, len(last.shape) - len(axes), len(axes))


@implements(np.median)
def _median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Node:
    refuse_options("numpy.median", out=out)
    node = as_node(a)
    axes = some_axes(axis, len(node.shape))
    if not prod(node.shape[k] for k in axes):
        return as_node(np.mean(Tensor(node), axes, keepdims=keepdims))
    rows = _ascending(node, axes, reduced_dtype(np.mean, node.dtype))
    size = rows.shape[-1]
    low, high = rows[..., (size - 1) // 2], rows[..., size // 2]
    middle = low if size % 2 else (low + high) / 2
    return _finished(rows, middle, axes, keepdims)


@implements(np.quantile)
def _quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Node:
    refuse_options("numpy.quantile", out=out, weights=weights)
    return _quantiles("numpy.quantile", a, chances("numpy.quantile", q, a, method), axis, keepdims)


@implements(np.percentile)
def _percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Node:
    refuse_options("numpy.percentile", out=out, weights=weights)
    return _quantiles("numpy.percentile", a, chances("numpy.percentile", q, a, method, 100), axis, keepdims)


@record
class Chances:
    """Probabilities, and the dtype that a value between two entries has for them."""

    values: np.ndarray
    dtype: np.dtype
    method: Any

    @property
    def are_exact(self) -> bool:
        """Whether the values are entries: by the method, or because whole numbers name the ends."""
        return self.method in EXACT_QUANTILES or (self.method == "linear" and self.values.dtype.kind in "iub")

    def places(self, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Between which places in the order of so many entries they lie, and how far from the first to the second.

        NumPy itself is asked: the quantile of the numbers 0, 1, 2, ... is the place.
        """
        if self.method == "linear":
            place = self.values * (size - 1)
        else:
            place = np.asarray(np.quantile(np.arange(size, dtype=float), self.values, method=self.method))
        low = np.floor(place)
        return low.astype(int), np.ceil(place).astype(int), (place - low).astype(self.dtype)


def chances(name: str, q: Any, a: Any, method: Any, whole: int = 1) -> Chances:
    """The probabilities as parts of a whole; Python's numbers are as weak as in NumPy."""
    if isinstance(q, Tensor):
        raise refused(name, "in q")
    values = np.asarray(q) if whole == 1 else np.asarray(np.true_divide(q, whole))
    if np.any((values < 0) | (values > 1) | np.isnan(values)):
        raise ValueError(f"quantiles must be in the range [0, {whole}]")
    weak = is_python_number(q) and not isinstance(q, bool)
    dtype = as_node(a).dtype
    kind: Any = 1.0 if weak else values.dtype if values.dtype.kind == "f" else np.float64
    found = Chances(values, np.result_type(dtype, kind), method)
    if dtype == BOOL and not found.are_exact:
        raise TypeError(f"{name} of truth values has nothing between them: convert them, or name another method")
    return found


def _quantiles(name: str, a: Any, chance: Chances, axis: Any, keepdims: Any) -> Node:
    node = as_node(a)
    axes = some_axes(axis, len(node.shape))
    if not prod(node.shape[k] for k in axes):
        raise refused(name, "of no entries")
    rows = _ascending(node, axes, None if chance.are_exact else chance.dtype)
    low, high, share = chance.places(rows.shape[-1])
    below, above = rows[..., low], rows[..., high]
    if chance.are_exact:
        value = below
    else:
        value = np.where(share >= 0.5, above - (above - below) * (1 - share), below + (above - below) * share)
    rank = chance.values.ndim
    return _finished(rows, np.moveaxis(value, range(value.ndim - rank, value.ndim), range(rank)), axes, keepdims)


def middle_places(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of the one or two entries in the middle of so many, and half the way between them."""
    return np.asarray((size - 1) // 2), np.asarray(size // 2), np.asarray(0.5)


def _ascending(node: Node, axes: tuple[int, ...], dtype: np.dtype | None) -> Tensor:
    """The entries over axes in ascending order along the last axis, in a dtype if one is given."""
    return Tensor(call("sort", joined_axes(node if dtype is None else in_dtype(node, dtype), axes)))


def _finished(rows: Tensor, value: Any, axes: tuple[int, ...], keepdims: Any) -> Node:
    """The value, or NaN where one of the entries is; with the axes kept if asked for."""
    last = rows[..., -1]
    result = as_node(value)
    if last.dtype.kind == "f":
        result = in_dtype(as_node(np.where(np.isnan(last), last, value)), value.dtype)
    extra = len(result.shape) - (rows.ndim - 1)
    return insert_axes(result, [extra + k for k in axes]) if flag("keepdims", keepdims) else result
