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
    node = as_node(a)
    positions = np.asarray(ind)
    size = prod(node.shape)
    flat = np.take(np.arange(size), positions, mode=mode)
    new = entries_of(v, node.dtype)
    if prod(new.shape) != 1 and prod(new.shape) != positions.size:
        raise ShapeError(f"put needs one value for all {positions.size} places or one for each, got shape {new.shape}")
    return put(node, flat, new if prod(new.shape) == positions.size else spread(_number(new), (positions.size,)))


def _number(node: Node) -> Node:
    return as_node(np.reshape(Tensor(node), ()))


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
    new = entries_of(val, node.dtype)
    which = np.arange(places.size) % max(prod(new.shape), 1)
    return put(node, places, as_node(np.take(np.reshape(Tensor(new), -1), which)))


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
    places = np.flatnonzero(np.asarray(mask))
    new = entries_of(vals, node.dtype)
    if places.size and not prod(new.shape):
        raise ValueError("place cannot take entries from an empty array")
    which = np.arange(places.size) % max(prod(new.shape), 1)
    return put(node, places, as_node(np.take(np.reshape(Tensor(new), -1), which)))
