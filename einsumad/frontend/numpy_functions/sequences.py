"""Numbers at equal distances or ratios between traced ends: linspace, logspace, geomspace.

Owns these functions. Imports the surface. Invariant: both ends (and the base) are differentiated; the number of entries
is a plain number.
"""

# ruff: noqa: PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import operator
from typing import Any

import numpy as np

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.promotion import tensor
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node


def _floating(name: str, ends: tuple[Any, ...], dtype: Any) -> tuple[list[Any], np.dtype]:
    """The ends, and the floating dtype that they have together."""
    lifted = [x if is_python_number(x) else tensor(x) for x in ends]
    common = np.result_type(*[x.dtype if isinstance(x, Tensor) else x for x in lifted], 1.0)
    target = common if dtype is None else np.dtype(dtype)
    if target.kind != "f":
        raise refused(f"numpy.{name}", "dtype", f"dtype={dtype!r}")
    return [tensor(x, common) for x in lifted], target


@implements(np.linspace)
@at_known("linspace", "num")
def _linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Node | tuple[Node, Node]:
    refuse_options("numpy.linspace", device=device)
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    (first, last), target = _floating("linspace", (start, stop), dtype)
    parts = count - 1 if endpoint else count
    length = last - first
    step = length / parts if parts > 0 else tensor(np.nan)
    places = np.arange(count, dtype=first.dtype).reshape(-1, *[1] * length.ndim)
    if endpoint and count > 1:
        shape = (1, *length.shape)
        ends = np.reshape(np.broadcast_to(last, length.shape), shape)
        values = np.concatenate([places[:-1] * step + first, ends])
    else:
        values = np.broadcast_to(first, (count, *length.shape)) + (places * step if parts > 0 else places * length)
    result = as_node(tensor(np.moveaxis(values, 0, axis), target))
    return (result, as_node(step)) if retstep else result


@implements(np.logspace)
@at_known("logspace", "num")
def _logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Node:
    if np.ndim(base):
        rank = max(np.ndim(x) for x in (start, stop, base))
        start, stop, base = (np.reshape(x, (*[1] * (rank - np.ndim(x)), *np.shape(x))) for x in (start, stop, base))
        base = np.expand_dims(base, axis)
    exponents = np.linspace(tensor(start), stop, num, endpoint, axis=axis)
    result = np.power(base, exponents)
    return as_node(result if dtype is None else tensor(result, dtype))


@implements(np.geomspace)
@at_known("geomspace", "num")
def _geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Node:
    (first, last, _), target = _floating("geomspace", (start, stop, np.zeros((), dtype)), dtype)
    for end in (first, last):
        value = concrete(end.node)
        if value is not None and np.any(value == 0):
            raise ValueError("Geometric sequence cannot include zero")
    sign = np.sign(first)
    low, high = first / sign, last / sign
    result = np.logspace(np.log10(low), np.log10(high), num, endpoint)
    count = operator.index(num)
    shape = (1, *result.shape[1:])
    ends = [np.reshape(np.broadcast_to(end, shape[1:]), shape) for end in (low, high)]
    if endpoint and count > 1:
        result = np.concatenate([ends[0], result[1:-1], ends[1]])
    elif count:
        result = np.concatenate([ends[0], result[1:]])
    return as_node(tensor(np.moveaxis(result * sign, 0, axis), target))
