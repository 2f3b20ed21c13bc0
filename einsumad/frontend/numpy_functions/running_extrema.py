"""Running maxima and minima: the method accumulate of maximum, minimum, fmax and fmin.

Owns these. Imports the catalogue and maps. Invariant: all entries so far that are equal to a running extremum share its
derivative equally, as they do for ``np.max``; an entry that is NaN has no share where it is left out.

As running totals they take log2(n) steps of shifts. Each entry carries with it how many equal ones it stands for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.axes import one_axis
from einsumad.frontend.broadcasting import constant_of
from einsumad.frontend.joining import concatenated
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import take_slice
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements_method, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, ones


def _running(row: str, node: Node, counts: Node, axis: int) -> Node:
    size = node.shape[axis]
    reach = 1
    while reach < size:
        (left, right), (few, more) = (
            (take_slice(x, axis, 0, size - reach), take_slice(x, axis, reach, size - reach)) for x in (node, counts)
        )
        best = apply(row, left, right, few, more)
        held = [
            np.where(Tensor(apply("equal", part, best)), Tensor(count), 0)
            for part, count in ((left, few), (right, more))
        ]
        node = concatenated([take_slice(node, axis, 0, reach), best], axis)
        counts = concatenated([take_slice(counts, axis, 0, reach), as_node(held[0] + held[1])], axis)
        reach *= 2
    return node


def _accumulated(row: str, array: Any, axis: Any) -> Node:
    node = as_node(array)
    if not node.shape:
        raise TypeError("cannot accumulate on a scalar")
    place = one_axis(axis, len(node.shape))
    if constant_of(node) is not None:
        return node
    if node.dtype == BOOL:
        logical = np.logical_or if row.startswith("max") else np.logical_and
        return as_node(logical.accumulate(Tensor(node), place))
    return _running(row, node, ones(node.shape, node.dtype), place)


@implements_method(np.maximum, "accumulate")
def _maximum_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    refuse_options("numpy.maximum.accumulate", dtype=dtype)
    return _accumulated("maximum_of_counted", array, axis)


@implements_method(np.minimum, "accumulate")
def _minimum_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    refuse_options("numpy.minimum.accumulate", dtype=dtype)
    return _accumulated("minimum_of_counted", array, axis)


@implements_method(np.fmax, "accumulate")
def _fmax_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    refuse_options("numpy.fmax.accumulate", dtype=dtype)
    return _without_nan("maximum_of_counted", array, axis, -np.inf)


@implements_method(np.fmin, "accumulate")
def _fmin_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    refuse_options("numpy.fmin.accumulate", dtype=dtype)
    return _without_nan("minimum_of_counted", array, axis, np.inf)


def _without_nan(row: str, array: Any, axis: Any, worst: float) -> Node:
    """NaN counts for no entry and loses against all others; it stays where nothing else came before."""
    node = as_node(array)
    if node.dtype.kind != "f" or not node.shape:
        return _accumulated(row, array, axis)
    place = one_axis(axis, len(node.shape))
    valid = ~np.isnan(Tensor(node))
    filled = np.where(valid, Tensor(node), worst)
    best = _running(row, as_node(filled), in_dtype(as_node(valid), node.dtype), place)
    some = np.logical_or.accumulate(valid, place)
    return in_dtype(as_node(np.where(some, Tensor(best), np.nan)), node.dtype)
