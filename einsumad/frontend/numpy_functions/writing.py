"""Functions that write into their first argument: item assignment, put, copyto, fill_diagonal and their kin.

Owns these functions. Imports the expression of a write. Invariant: a handler returns the node that the first argument
has afterwards; the tensor takes it over.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.broadcasting import spread
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.writing import assigned, entries_of, put
from einsumad.graph import BOOL, Node


@implements(operator.setitem)
def _setitem(a: Any, index: Any, value: Any) -> Node:
    return assigned(as_node(a), index, value)


@implements(np.put)
@at_known("put", "ind")
def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> Node:
    """The values are repeated over the places, and those too many are left out."""
    node = as_node(a)
    places = np.take(np.arange(prod(node.shape)), np.asarray(ind).astype(np.intp), mode=mode)
    return _put_repeated(node, places, entries_of(v, node.dtype))


def _put_repeated(node: Node, places: np.ndarray, new: Node) -> Node:
    """The node with new entries, from the first again after the last; it stays as it is where there are none."""
    count = prod(new.shape)
    if not count:
        return node
    return put(node, places, new if count == places.size else as_node(np.resize(Tensor(new), places.size)))


@implements(np.copyto)
def _copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Node:
    node, new = as_node(dst), as_node(src, as_node(dst).dtype)
    if not np.can_cast(new.dtype, node.dtype, casting):
        raise TypeError(f"copyto cannot put {new.dtype} into an array of {node.dtype}")
    entries = Tensor(spread(in_dtype(new, node.dtype), node.shape))
    return assigned(node, ..., entries if where is True else np.where(where, entries, Tensor(node)))


@implements(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> Node:
    node = as_node(a)
    positions = np.zeros(node.shape, bool)
    np.fill_diagonal(positions, val=True, wrap=wrap)
    places = np.flatnonzero(positions)
    return _put_repeated(node, places, entries_of(val, node.dtype))


@implements(np.put_along_axis)
@at_known("put_along_axis", "indices")
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Node:
    node = as_node(arr)
    every = np.arange(prod(node.shape)).reshape(node.shape)
    positions = np.take_along_axis(every, np.asarray(indices), axis)
    new = entries_of(values, node.dtype)
    return put(node, positions, spread(new, positions.shape))


@implements(np.putmask)
def _putmask(a: Any, mask: Any, values: Any) -> Node:
    """The values are repeated over all entries; an entry of the mask takes the one at its own place."""
    node = as_node(a)
    _check_safe("putmask", values, node)
    new, chosen = entries_of(values, node.dtype), in_dtype(as_node(mask), BOOL)
    if prod(chosen.shape) != prod(node.shape):
        raise ShapeError(f"putmask of shape {node.shape} needs a mask of as many entries, got shape {chosen.shape}")
    if not prod(new.shape):
        return node
    entries: Any = np.resize(Tensor(new), node.shape)
    return as_node(np.where(np.reshape(Tensor(chosen), node.shape), entries, Tensor(node)))


def _check_safe(name: str, values: Any, node: Node) -> None:
    """An array of values has to fit the dtype; numbers and lists are converted."""
    if not isinstance(values, np.ndarray) and not (isinstance(values, Tensor) and values.ndim):
        return
    if not np.can_cast(values.dtype, node.dtype, "safe"):
        raise TypeError(f"{name} cannot put {values.dtype} into an array of {node.dtype}: convert the values")


@implements(np.place)
@at_known("place", "mask")
def _place(arr: Any, mask: Any, vals: Any) -> Node:
    node = as_node(arr)
    _check_safe("place", vals, node)
    chosen = np.asarray(mask, bool)
    if chosen.size != prod(node.shape):
        raise ShapeError(f"place of shape {node.shape} needs a mask of as many entries, got shape {chosen.shape}")
    places = np.flatnonzero(chosen)
    new = entries_of(vals, node.dtype)
    if places.size and not prod(new.shape):
        raise ValueError("place cannot take entries from an empty array")
    return _put_repeated(node, places, new)
