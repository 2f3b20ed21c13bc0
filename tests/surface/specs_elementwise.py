"""Ufuncs of NumPy: one and two operands with broadcasting, each where it has values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec

UNARY: dict[str, tuple[float, float]] = {
    "negative": (-2, 2),
    "positive": (-2, 2),
    "absolute": (0.3, 2),
    "fabs": (0.3, 2),
    "exp": (-2, 2),
    "exp2": (-2, 2),
    "expm1": (-2, 2),
    "log": (0.5, 3),
    "log2": (0.5, 3),
    "log10": (0.5, 3),
    "log1p": (-0.5, 2),
    "sqrt": (0.5, 3),
    "cbrt": (0.5, 3),
    "square": (-2, 2),
    "reciprocal": (0.5, 3),
    "sin": (-3, 3),
    "cos": (-3, 3),
    "tan": (-1, 1),
    "arcsin": (-0.7, 0.7),
    "arccos": (-0.7, 0.7),
    "arctan": (-3, 3),
    "sinh": (-2, 2),
    "cosh": (-2, 2),
    "tanh": (-2, 2),
    "arcsinh": (-2, 2),
    "arccosh": (1.5, 3),
    "arctanh": (-0.6, 0.6),
    "deg2rad": (-90, 90),
    "rad2deg": (-2, 2),
    "degrees": (-2, 2),
    "radians": (-90, 90),
    "conjugate": (-2, 2),
    "sign": (0.3, 2),
    "floor": (0.2, 0.8),
    "ceil": (0.2, 0.8),
    "trunc": (0.2, 0.8),
    "rint": (0.6, 1.4),
}
BINARY: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "add": ((-2, 2), (-2, 2)),
    "subtract": ((-2, 2), (-2, 2)),
    "multiply": ((-2, 2), (-2, 2)),
    "divide": ((-2, 2), (0.5, 2)),
    "power": ((0.5, 2), (-2, 2)),
    "float_power": ((0.5, 2), (-2, 2)),
    "arctan2": ((0.5, 2), (-2, 2)),
    "hypot": ((0.5, 2), (-2, 2)),
    "logaddexp": ((-2, 2), (-2, 2)),
    "logaddexp2": ((-2, 2), (-2, 2)),
    "maximum": ((-2, 0), (0.3, 2)),
    "minimum": ((-2, 0), (0.3, 2)),
    "fmax": ((-2, 0), (0.3, 2)),
    "fmin": ((-2, 0), (0.3, 2)),
    "copysign": ((0.3, 2), (0.3, 2)),
    "heaviside": ((0.3, 2), (-2, 2)),
    "floor_divide": ((2.3, 2.6), (1.05, 1.1)),
    "remainder": ((2.3, 2.6), (1.05, 1.1)),
    "fmod": ((2.3, 2.6), (1.05, 1.1)),
    "divmod": ((2.3, 2.6), (1.05, 1.1)),
}
TRUTH_OF_ONE = ("isfinite", "isinf", "isnan", "logical_not")
TRUTH_OF_TWO = (
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
)
NO_TRUTH = ("negative", "positive", "subtract", "sign")
FLOATS = ("heaviside", "power", "floor_divide", "remainder", "fmod", "divmod")


def _of_one(function: Any, d: Drawer) -> Call:
    return function, (d.operand(d.shape(), *UNARY.get(function.__name__, (-2, 2))),)


def _of_two(function: Any, d: Drawer) -> Call:
    first, second = BINARY.get(function.__name__, ((-2, 2), (-2, 2)))
    shape = d.shape()
    shapes = [shape, d.broadcast(shape)]
    if d.integer(0, 1):
        shapes.reverse()
    return function, (d.operand(shapes[0], *first), d.operand(shapes[1], *second))


each(np, [name for name in UNARY if name not in (*NO_TRUTH, "reciprocal")])(_of_one)
each(np, ("reciprocal",), "f")(_of_one)
each(np, [name for name in BINARY if name not in (*NO_TRUTH, *FLOATS)])(_of_two)
each(np, [name for name in UNARY if name in NO_TRUTH], "fi")(_of_one)
each(np, [name for name in BINARY if name in NO_TRUTH], "fi")(_of_two)
each(np, FLOATS, "f")(_of_two)
each(np, TRUTH_OF_ONE, order=0)(_of_one)
each(np, TRUTH_OF_TWO, order=0)(_of_two)
each(np, ("bitwise_and", "bitwise_or", "bitwise_xor"), "b", order=0)(_of_two)
each(np, ("invert",), "b", order=0)(_of_one)


@spec("numpy.modf", "f")
def _modf(d: Drawer) -> Call:
    return np.modf, (d.operand(d.shape(), 0.2, 0.8),)


@spec("numpy.power, a constant exponent")
def _constant_power(d: Drawer) -> Call:
    exponent = d.choice(0, 1, 2, 3, 0.5, 2.5)
    return lambda a: a**exponent, (d.operand(d.shape(), 0.5, 2),)


@spec("numpy.where")
def _where(d: Drawer) -> Call:
    shape = d.shape()
    mask = d.rng.random(d.broadcast(shape)) < 0.5
    return lambda a, b: np.where(mask, a, b), (d.operand(d.broadcast(shape)), d.operand(shape))


@spec("numpy.where, by its values")
def _where_by_values(d: Drawer) -> Call:
    return lambda a: np.where(a > 0.1, a**2, np.sin(a)), (d.operand(d.shape()),)


@spec("numpy.clip")
def _clip(d: Drawer) -> Call:
    low, high = d.choice((-1, 1), (None, 1), (-1, None))
    return lambda a: np.clip(a, low, high), (d.operand(d.shape()),)


@spec("numpy.nan_to_num")
def _nan_to_num(d: Drawer) -> Call:
    return np.nan_to_num, (d.operand(d.shape()),)


@spec("numpy.round", "fi")
def _round(d: Drawer) -> Call:
    decimals = d.choice(0, 1)
    return lambda a: np.round(a, decimals), (d.operand(d.shape(), 0.26, 0.34),)


@spec("numpy.around", "fi")
def _around(d: Drawer) -> Call:
    return np.around, (d.operand(d.shape(), 0.6, 1.4),)


@spec("numpy.real")
def _real(d: Drawer) -> Call:
    return np.real, (d.operand(d.shape()),)


@spec("numpy.astype", "fib")
def _astype(d: Drawer) -> Call:
    return lambda a: np.astype(a, np.float64), (d.operand(d.shape()),)
