"""Running sums and products.

Owns these functions. Imports maps and promotion. Invariant: no quotient and no difference of running totals is formed,
so zeros, infinities and NaN have the values and derivatives of the sums and products themselves.

A running total of n entries takes log2(n) steps: each adds to (or multiplies) every entry the one 1, 2, 4, ... places
before it (W. D. Hillis, G. L. Steele: *Data parallel algorithms*, Comm. ACM 29, 1986). A step is a shift, a map of
indices, whose derivative is the shift back.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from einsumad.frontend.axes import one_axis
from einsumad.frontend.broadcasting import product
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.joining import concatenated
from einsumad.frontend.lifting import as_node
from einsumad.frontend.maps import read_axis, reshaped
from einsumad.frontend.promotion import in_dtype, reduced_dtype
from einsumad.frontend.registry import implements, implements_method, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import BOOL, Node, add, ones, zero

Step = Callable[[Node, int, int], Node]


def _add_shifted(node: Node, axis: int, step: int) -> Node:
    return add([node, read_axis(node, axis, [node.shape[axis]], [1], -step)], node.dtype)


def _multiply_shifted(node: Node, axis: int, step: int) -> Node:
    size = node.shape[axis]
    shape = [size if k == axis else 1 for k in range(len(node.shape))]
    start = reshaped(as_node((np.arange(size) < step).astype(node.dtype)), shape)
    before = add(
        [read_axis(node, axis, [size], [1], -step), product([start], node.dtype, shape=node.shape)], node.dtype
    )
    return product([node, before], node.dtype)


def _running(reduction: Any, step: Step, a: Any, axis: Any, dtype: Any) -> Node:
    node = as_node(a)
    target = np.dtype(dtype) if dtype is not None else reduced_dtype(reduction, node.dtype)
    if target == BOOL:
        raise refused(f"numpy.cum{reduction.__name__}", "dtype")
    if axis is None:
        node, axis = reshaped(node, (prod(node.shape),)), 0
    where = one_axis(axis, len(node.shape))
    result = in_dtype(node, target)
    reach = 1
    while reach < result.shape[where]:
        result = step(result, where, reach)
        reach *= 2
    return result


@implements(np.cumsum)
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Node:
    refuse_options("numpy.cumsum", out=out)
    return _running(np.sum, _add_shifted, a, axis, dtype)


@implements(np.cumprod)
def _cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Node:
    refuse_options("numpy.cumprod", out=out)
    return _running(np.prod, _multiply_shifted, a, axis, dtype)


@implements(np.nancumsum)
def _nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Node:
    refuse_options("numpy.nancumsum", out=out)
    return _cumsum(np.where(np.isnan(a), 0, a), axis, dtype)


@implements(np.nancumprod)
def _nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Node:
    refuse_options("numpy.nancumprod", out=out)
    return _cumprod(np.where(np.isnan(a), 1, a), axis, dtype)


@implements_method(np.add, "accumulate")
def _add_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    return _cumsum(array, axis, dtype)


@implements_method(np.multiply, "accumulate")
def _multiply_accumulate(array: Any, axis: Any = 0, dtype: Any = None) -> Node:
    return _cumprod(array, axis, dtype)


@implements(np.cumulative_sum)
def _cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Node:
    refuse_options("numpy.cumulative_sum", out=out)
    return _from_the_start(_cumsum(x, _only_axis(x, axis), dtype), _only_axis(x, axis), 0, include=include_initial)


@implements(np.cumulative_prod)
def _cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Node:
    refuse_options("numpy.cumulative_prod", out=out)
    return _from_the_start(_cumprod(x, _only_axis(x, axis), dtype), _only_axis(x, axis), 1, include=include_initial)


def _only_axis(x: Tensor, axis: Any) -> Any:
    if axis is None and x.ndim != 1:
        raise ValueError(f"the axis of a running total has to be named for an array of {x.ndim} axes")
    return 0 if axis is None else axis


def _from_the_start(node: Node, axis: Any, start: int, *, include: bool) -> Node:
    """The running total with that of no entries before it."""
    if not include:
        return node
    where = one_axis(axis, len(node.shape))
    shape = (*node.shape[:where], 1, *node.shape[where + 1 :])
    return concatenated([(ones if start else zero)(shape, node.dtype), node], where)
