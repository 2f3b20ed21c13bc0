"""Constants of a given shape or shaped like a traced value, and plain facts about traced values.

Owns these functions. Imports the registry and lifting. Invariant: facts (shape, dtype) are plain Python and
NumPy objects; no fact depends on a value, but where the value is asked for. NumPy calls ``np.zeros`` and its kin here
where they are given a traced value by ``like``.
"""

# ruff: noqa: ARG001, PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import math
from typing import Any

import numpy as np

from einsumad.frontend.axes import some_axes
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.known import known
from einsumad.frontend.lifting import as_node, check_dtype, is_python_number, number
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node, Shape, ones, zero


def _like(prototype: Any, dtype: Any, shape: Any) -> tuple[Shape, np.dtype]:
    node = as_node(prototype)
    if shape is None:
        sizes: Shape = node.shape
    else:
        sizes = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple([int(size) for size in shape])
    return sizes, node.dtype if dtype is None else check_dtype(dtype)


@implements(np.ones)
def of_ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Node:
    """The node of ``numpy.ones``."""
    refuse_options("numpy.ones", device=device)
    return ones(shape_of(shape), _dtype(dtype))


@implements(np.zeros)
def of_zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Node:
    """The node of ``numpy.zeros``."""
    refuse_options("numpy.zeros", device=device)
    return zero(shape_of(shape), _dtype(dtype))


@implements(np.empty)
def of_anything(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Node:
    """Zeros: what NumPy has there is arbitrary, and is to be written over."""
    refuse_options("numpy.empty", device=device)
    return zero(shape_of(shape), _dtype(dtype))


def of_number(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None) -> Node:
    """The node of ``numpy.full``, filled with a number or an array."""
    refuse_options("numpy.full", device=device)
    target = np.asarray(fill_value).dtype if dtype is None else np.dtype(dtype)
    return _filled(np.asarray(fill_value).astype(target), shape_of(shape), check_dtype(target))


def shape_of(shape: Any) -> Shape:
    """A shape that is given as a number or as a sequence of numbers, which may be traced where they are known."""
    return np.broadcast_to(np.zeros(()), shape).shape


def _dtype(dtype: Any) -> np.dtype:
    return check_dtype(float if dtype is None else dtype)


def _filled(fill_value: np.ndarray, shape: Shape, dtype: np.dtype) -> Node:
    if not fill_value.ndim:
        return spread(number(fill_value.item(), dtype), shape)
    return spread(in_dtype(as_node(fill_value), dtype), shape)


@implements(np.ones_like)
def _ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Node:
    refuse_options("numpy.ones_like", device=device)
    return ones(*_like(a, dtype, shape))


@implements(np.zeros_like)
def _zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Node:
    refuse_options("numpy.zeros_like", device=device)
    return zero(*_like(a, dtype, shape))


@implements(np.full_like)
def _full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Node:
    refuse_options("numpy.full_like", device=device)
    sizes, target = _like(a, dtype, shape)
    if is_python_number(fill_value):
        return _filled(np.asarray(fill_value).astype(target), sizes, target)
    return spread(in_dtype(as_node(fill_value), target), sizes)


@implements(np.empty_like)
def _empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Node:
    """Zeros: what NumPy has there is arbitrary, and is to be written over."""
    refuse_options("numpy.empty_like", device=device)
    return zero(*_like(prototype, dtype, shape))


@implements(np.shape)
def _shape(a: Any) -> Shape:
    return as_node(a).shape


@implements(np.ndim)
def _ndim(a: Any) -> int:
    return len(as_node(a).shape)


@implements(np.size)
def _size(a: Any, axis: Any = None) -> int:
    shape = as_node(a).shape
    return math.prod(shape[k] for k in some_axes(axis, len(shape)))


@implements(np.result_type)
def _result_type(*arrays_and_dtypes: Any) -> np.dtype:
    return np.result_type(*[x.dtype if isinstance(x, Tensor) else x for x in arrays_and_dtypes])


@implements(np.can_cast)
def _can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(from_.dtype if isinstance(from_, Tensor) else from_, to, casting)


@implements(np.iscomplexobj)
def _iscomplexobj(x: Any) -> bool:
    return False


@implements(np.isrealobj)
def _isrealobj(x: Any) -> bool:
    return True


@implements(np.broadcast_arrays)
def _broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Node, ...]:
    nodes = [as_node(a) for a in args]
    shape = broadcast_shape(*[node.shape for node in nodes])
    return tuple([spread(node, shape) for node in nodes])


@implements(np.array_equal)
def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    return bool(np.array_equal(known(a1, "array_equal"), known(a2, "array_equal"), equal_nan))


@implements(np.allclose)
def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    return bool(np.allclose(known(a, "allclose"), known(b, "allclose"), rtol, atol, equal_nan))
