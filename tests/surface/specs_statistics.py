"""Averages with weights, covariances, ranges of values, counts in bins; reductions of some of the entries."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer, Shape
from tests.surface.specs import Call, spec


def some(d: Drawer, shape: Shape, axes: Any, least: int) -> np.ndarray:
    """A mask with so many entries or more over the axes, if they have as many."""
    mask = d.rng.random(shape) < 0.6
    first = 0 if axes is None else axes[0] if isinstance(axes, tuple) else axes
    if shape:
        np.moveaxis(mask, first, 0)[:least] = True
        return mask
    return np.array(True)


@spec("numpy.average")
def _average(d: Drawer) -> Call:
    shape = d.shape(smallest=1)
    axis, keep = d.axes(shape), bool(d.integer(0, 1))
    return lambda a: np.average(a, axis, keepdims=keep, returned=True), (d.operand(shape),)


@spec("numpy.average, weights")
def _average_with_weights(d: Drawer) -> Call:
    shape = d.shape(1, 3, smallest=1)
    axis = d.axes(shape)
    axes = (axis,) if isinstance(axis, int) else axis
    like = shape if axes is None or d.integer(0, 1) else [shape[k] for k in axes]
    both, keep = bool(d.integer(0, 1)), bool(d.integer(0, 1))
    operands = (d.operand(shape), d.operand(like, 0.5, 3))
    return lambda a, w: np.average(a, axis, w, both, keepdims=keep), operands


def _covariance(function: Any, d: Drawer, **given: Any) -> Call:
    variables, samples = d.integer(1, 3), d.integer(3, 4)
    by_rows = bool(d.integer(0, 1))
    shape = d.choice((variables, samples) if by_rows else (samples, variables), (samples,))
    first = d.operand(shape, kind="distinct")
    if d.integer(0, 1):
        return lambda m: function(m, rowvar=by_rows, **given), (first,)
    second = d.operand(d.choice((samples,), shape) if len(shape) == 1 or by_rows else shape, kind="distinct")
    return lambda m, y: function(m, y, by_rows, **given), (first, second)


@spec("numpy.cov")
def _cov(d: Drawer) -> Call:
    return _covariance(np.cov, d, bias=bool(d.integer(0, 1)), ddof=d.choice(None, 0, 1))


@spec("numpy.cov, weights")
def _cov_with_weights(d: Drawer) -> Call:
    samples = d.integer(3, 4)
    times = d.choice(None, d.rng.integers(1, 3, samples))
    ddof = d.choice(None, 0, 1)
    operands = (d.operand((2, samples)), d.operand((samples,), 1.1, 3))
    return lambda m, w: np.cov(m, ddof=ddof, fweights=times, aweights=w), operands


@spec("numpy.cov, counts")
def _cov_with_counts(d: Drawer) -> Call:
    samples = d.integer(2, 4)
    times = d.rng.integers(1, 3, samples)
    return lambda m: np.cov(m, fweights=times), (d.operand((d.size(), samples)),)


@spec("numpy.cov, few samples", order=0)
def _cov_of_few(d: Drawer) -> Call:
    return lambda m: np.cov(m, rowvar=True), (d.operand((d.size(), d.integer(0, 2))),)


spec("numpy.corrcoef")(partial(_covariance, np.corrcoef))


@spec("numpy.ptp", "fi")
def _ptp(d: Drawer) -> Call:
    shape = d.shape(smallest=1)
    axis, keep = d.axes(shape), bool(d.integer(0, 1))
    return lambda a: np.ptp(a, axis=axis, keepdims=keep), (d.operand(shape, kind="distinct"),)


@spec("numpy.bincount")
def _bincount(d: Drawer) -> Call:
    size = d.size()
    places, least = d.rng.integers(0, 4, size), d.choice(0, 6)
    return lambda w: np.bincount(places, w, least), (d.operand((size,)),)


@spec("numpy.bincount, counts", "ib", order=0)
def _bincount_of_numbers(d: Drawer) -> Call:
    least = d.choice(0, 6)
    return lambda x: np.bincount(x, minlength=least), (d.operand((d.size(),), 0, 5),)


@spec("numpy.histogram")
def _histogram(d: Drawer) -> Call:
    shape = d.shape()
    numbers = np.asarray(d.rng.uniform(-2, 2, shape))
    numbers.flat[:1] = 0.1
    bins = d.choice(1, 3, [-2.0, 0.3, 1.0], np.linspace(-1, 2, 4))
    limits, density = d.choice(None, (-1.5, 1)), bool(d.integer(0, 1)) and numbers.size > 0
    low = 0.5 if density else -2
    return lambda w: np.histogram(numbers, bins, limits, density, w), (d.operand(shape, low, 2),)


@spec("numpy.histogram, of numbers", "f")
def _histogram_of_numbers(d: Drawer) -> Call:
    bins, density = d.integer(1, 3), bool(d.integer(0, 1))
    operand = d.operand(d.shape(1, 2, smallest=2), kind="distinct")
    return lambda a: np.histogram(np.exp(0.3 * a), bins, density=density), (operand,)  # at no edge by their distances


@spec("numpy.histogram, edges", "f")
def _histogram_edges(d: Drawer) -> Call:
    numbers = d.rng.uniform(-1, 1, d.size(1))
    numbers[0] = 0.1
    edges = d.operand((d.integer(2, 3),), kind="increasing")
    weights = d.operand(numbers.shape, 0.5, 2)
    density = bool(d.integer(0, 1))
    return lambda e, w: np.histogram(numbers, e, density=density, weights=w), (edges, weights)


@spec("numpy.histogram_bin_edges", "f")
def _bin_edges(d: Drawer) -> Call:
    bins = d.integer(1, 4)
    if d.integer(0, 1):
        limits = (d.operand((), -2, -1), d.operand((), 1, 2))
        return lambda a, b: np.histogram_bin_edges([0.5], bins, (a, b)), limits
    return lambda a: np.histogram_bin_edges(a, bins), (d.operand(d.shape(), kind="distinct"),)


def _of_some(function: Any, d: Drawer, least: int = 0, kind: Any = "real", **given: Any) -> Call:
    shape = d.shape(least and 1, smallest=max(least, 1))
    axis, keep = d.axes(shape), bool(d.integer(0, 1))
    mask = some(d, shape, axis, least)
    return lambda a: function(a, axis=axis, keepdims=keep, where=mask, **given), (d.operand(shape, kind=kind),)


for _name in ("sum", "prod"):
    _function = getattr(np, _name)
    spec(f"numpy.{_name}, where")(lambda d, f=_function: _of_some(f, d, initial=d.choice(0, 1, 2)))
    spec(f"numpy.{_name}, dtype", "ib", order=0)(
        lambda d, f=_function: (lambda a: f(a, dtype=np.float32), (d.operand(d.shape()),))
    )
for _name in ("any", "all"):
    spec(f"numpy.{_name}, where", order=0)(partial(_of_some, getattr(np, _name)))
for _name, _start in (("max", -3), ("min", 3), ("amax", -3), ("amin", 3)):
    _function = getattr(np, _name)
    spec(f"numpy.{_name}, where", "fi")(
        lambda d, f=_function, start=_start: _of_some(f, d, kind="distinct", initial=d.choice(start, 0))
    )
spec("numpy.mean, where")(partial(_of_some, np.mean, least=1))
for _name in ("var", "std"):
    _function = getattr(np, _name)
    spec(f"numpy.{_name}, where")(
        lambda d, f=_function: _of_some(f, d, 2, "distinct", **d.choice({"ddof": 0}, {"correction": 1}))
    )


def _about(function: Any, d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=2)
    axis = d.axis(shape)
    middle = d.operand([1 if k == axis % len(shape) else n for k, n in enumerate(shape)], -9, -8)
    return lambda a, m: function(a, axis=axis, mean=m), (d.operand(shape), middle)


for _name in ("var", "std"):
    spec(f"numpy.{_name}, about a mean", "f")(partial(_about, getattr(np, _name)))


@spec("numpy.count_nonzero", order=0)
def _count_nonzero(d: Drawer) -> Call:
    shape = d.shape()
    axis = d.axes(shape)
    keep = axis is not None and bool(d.integer(0, 1))
    return lambda a: np.negative(np.count_nonzero(a, axis=axis, keepdims=keep)), (d.operand(shape),)
