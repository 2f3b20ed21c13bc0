"""Functions that leave NaN out: the NaN are written into their arguments by a mask."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec
from tests.surface.specs_reductions import METHODS
from tests.surface.specs_statistics import some


def with_nan(a: Any, valid: np.ndarray) -> Any:
    return np.where(valid, a, np.nan)


def _reduced(function: Any, d: Drawer, least: int = 1, smallest: int = 1, kind: Any = "distinct", **fixed: Any) -> Call:
    shape = d.shape(least and 1, smallest=smallest)
    axis, keep = d.axes(shape), bool(d.integer(0, 1))
    operand = d.operand(shape, kind=kind)
    if not d.integer(0, 3):
        return lambda a: function(a, axis=axis, keepdims=keep, **fixed), (operand,)
    valid = some(d, shape, axis, least)
    return lambda a: function(with_nan(a, valid), axis=axis, keepdims=keep, **fixed), (operand,)


each(np, ("nansum", "nanprod"))(partial(_reduced, least=0, smallest=0, kind="real"))
each(np, ("nanmean", "nanmax", "nanmin", "nanmedian"))(_reduced)


@each(np, ("nanvar", "nanstd"))
def _spread(function: Any, d: Drawer) -> Call:
    return _reduced(function, d, 2, 2, **d.choice({"ddof": 0}, {"ddof": 1}, {"correction": 1}))


@each(np, ("nanquantile", "nanpercentile"))
def _quantile(function: Any, d: Drawer) -> Call:
    share = np.multiply(d.choice(0.0, 0.3, 1.0, [0.2, 0.9]), 100 if function is np.nanpercentile else 1)
    return _reduced(lambda a, **given: function(a, share, **given), d, method=d.choice(*METHODS))


@each(np, ("nanargmax", "nanargmin"), order=0)
def _place(function: Any, d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis, keep = d.choice(None, d.axis(shape)), bool(d.integer(0, 1))
    valid = some(d, shape, axis, 1)
    return lambda a: function(with_nan(a, valid), axis=axis, keepdims=keep), (d.operand(shape),)


def _nothing(function: Any, d: Drawer, least: int = 0) -> Call:
    shape = d.shape(least)
    axis = d.axis(shape) if least else d.axes(shape)
    valid = d.rng.random(shape) < 0.2
    return lambda a: function(with_nan(a, valid), axis=axis), (d.operand(shape),)


for _name in ("nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanmedian", "nanvar", "nanstd"):
    spec(f"numpy.{_name}, NaN only", order=0)(partial(_nothing, getattr(np, _name)))
for _name in ("max", "min", "argmax", "argmin", "median", "mean", "sort", "std"):
    spec(f"numpy.{_name}, of NaN", order=0)(partial(_nothing, getattr(np, _name), least=1))


def _running(function: Any, d: Drawer) -> Call:
    shape = d.shape(1)
    axis, valid = d.choice(None, d.axis(shape)), d.rng.random(shape) < 0.6
    return lambda a: function(with_nan(a, valid), axis=axis), (d.operand(shape),)


for _name in ("nancumsum", "nancumprod"):
    spec(f"numpy.{_name}, of NaN")(partial(_running, getattr(np, _name)))


@spec("numpy.nan_to_num, numbers for them")
def _nan_to_num(d: Drawer) -> Call:
    shape = d.shape()
    valid, hole, number = d.rng.random(shape) < 0.6, d.choice(np.nan, np.inf, -np.inf), d.choice(0.0, 2.5, 3)
    return (
        lambda a: np.nan_to_num(np.where(valid, a, hole), nan=number, posinf=number, neginf=-number),
        (d.operand(shape),),
    )


@spec("numpy.nan_to_num, the largest numbers", order=0)
def _largest_numbers(d: Drawer) -> Call:
    shape = d.shape()
    valid, hole = d.rng.random(shape) < 0.6, d.choice(np.nan, np.inf, -np.inf)
    return lambda a: np.nan_to_num(np.where(valid, a, hole)), (d.operand(shape),)
