"""Reductions, running ones, order statistics, places of entries."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec


def _reduced(function: Any, d: Drawer, low: float = -2, high: float = 2, smallest: int = 0, **fixed: Any) -> Call:
    shape = d.shape(smallest=smallest)
    axis, keep = d.axes(shape), bool(d.integer(0, 1))
    kind = "distinct" if fixed.pop("distinct", False) else "real"
    return lambda a: function(a, axis=axis, keepdims=keep, **fixed), (d.operand(shape, low, high, kind),)


each(np, ("sum", "prod"))(_reduced)
each(np, ("all", "any"), order=0)(_reduced)


@each(np, ("max", "min", "amax", "amin"))
def _extreme(function: Any, d: Drawer) -> Call:
    return _reduced(function, d, distinct=True, smallest=1)


@spec("numpy.mean")
def _mean(d: Drawer) -> Call:
    return _reduced(np.mean, d, smallest=1)


@each(np, ("var", "std"))
def _spread(function: Any, d: Drawer) -> Call:
    return _reduced(function, d, smallest=2, ddof=d.choice(0, 1), distinct=True)


@each(np, ("cumsum", "cumprod", "nancumsum", "nancumprod"))
def _running(function: Any, d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.choice(None, d.axis(shape))
    return lambda a: function(a, axis=axis), (d.operand(shape),)


@each(np, ("cumulative_sum", "cumulative_prod"), "f")
def _cumulative(function: Any, d: Drawer) -> Call:
    shape = d.shape(1)
    axis, initial = d.axis(shape), bool(d.integer(0, 1))
    return lambda a: function(a, axis=axis, include_initial=initial), (d.operand(shape),)


@spec("numpy.sort")
def _sort(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.choice(None, d.axis(shape))
    return lambda a: np.sort(a, axis=axis), (d.operand(shape, kind="distinct"),)


@spec("numpy.partition", "f")
def _partition(d: Drawer) -> Call:
    size = d.size(1)
    place = d.integer(-size, size - 1)
    return lambda a: np.partition(a, place)[..., place], (d.operand((*d.shape(0, 1), size), kind="distinct"),)


@spec("numpy.argsort", order=0)
def _argsort(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.choice(None, d.axis(shape))
    return lambda a: np.argsort(a, axis=axis, kind="stable"), (d.operand(shape),)


@each(np, ("argmax", "argmin"), order=0)
def _place(function: Any, d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis, keep = d.choice(None, d.axis(shape)), bool(d.integer(0, 1))
    return lambda a: function(a, axis=axis, keepdims=keep), (d.operand(shape),)


METHODS = (
    "linear",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "median_unbiased",
    "hazen",
    "weibull",
    "averaged_inverted_cdf",
)


@spec("numpy.median", "f")
def _median(d: Drawer) -> Call:
    return _reduced(np.median, d, smallest=1, distinct=True)


@each(np, ("quantile", "percentile"), "f")
def _quantile(function: Any, d: Drawer) -> Call:
    share = np.multiply(d.choice(0.0, 0.3, 1.0, [0.2, 0.9]), 100 if function is np.percentile else 1)
    return _reduced(
        lambda a, **given: function(a, share, **given), d, smallest=1, method=d.choice(*METHODS), distinct=True
    )


@spec("numpy.trace")
def _trace(d: Drawer) -> Call:
    shape = d.shape(2, 3)
    offset = d.integer(-2, 2)
    return lambda a: np.trace(a, offset), (d.operand(shape),)


@spec("numpy.add.reduce", "f")
def _add_reduce(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a: np.add.reduce(a, axis=axis), (d.operand(shape),)


@spec("numpy.multiply.reduce", "f")
def _multiply_reduce(d: Drawer) -> Call:
    return np.multiply.reduce, (d.operand(d.shape(1)),)


@spec("numpy.add.accumulate", "f")
def _add_accumulate(d: Drawer) -> Call:
    return np.add.accumulate, (d.operand(d.shape(1)),)


@spec("numpy.multiply.accumulate", "f")
def _multiply_accumulate(d: Drawer) -> Call:
    return np.multiply.accumulate, (d.operand(d.shape(1)),)


def _extremum(ufunc: Any, d: Drawer) -> Call:
    return ufunc.reduce, (d.operand(d.shape(1, smallest=1), kind="distinct"),)


for _ufunc in (np.maximum, np.minimum):
    spec(f"numpy.{_ufunc.__name__}.reduce", "f")(partial(_extremum, _ufunc))
