"""Calculus on samples, sequences between two ends, polynomials."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import einsumad.numpy as enp
from tests.surface.drawing import Drawer, Operand
from tests.surface.specs import Call, each, spec


@spec("numpy.gradient")
def _gradient(d: Drawer) -> Call:
    shape = tuple([d.integer(3, 4) for _ in range(d.integer(1, 2))])
    axis, order = d.axes(shape), d.integer(1, 2)
    spacing = d.choice((), (0.5,))
    return lambda f: np.gradient(f, *spacing, axis=axis, edge_order=order), (d.operand(shape),)


@spec("numpy.gradient, spacing", "f")
def _gradient_with_spacing(d: Drawer) -> Call:
    shape = tuple([d.integer(3, 4) for _ in range(d.integer(1, 2))])
    axis, order = d.axes(shape), d.integer(1, 2)
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    steps = [d.choice(d.operand((), 0.5, 2), d.operand((shape[k],), kind="increasing")) for k in axes]
    if not d.integer(0, 2):
        steps = [d.operand((), 0.5, 2)]
    return lambda f, *h: np.gradient(f, *h, axis=axis, edge_order=order), (d.operand(shape), *steps)


@spec("numpy.trapezoid")
def _trapezoid(d: Drawer) -> Call:
    shape = d.shape(1)
    axis, width = d.axis(shape), d.choice(1.0, 0.5)
    if not d.integer(0, 2):
        return lambda y: np.trapezoid(y, dx=width, axis=axis), (d.operand(shape),)
    at = d.operand(d.choice(shape, (shape[axis],)))
    return lambda y, x: np.trapezoid(y, x, axis=axis), (d.operand(shape), at)


@spec("numpy.interp", "f")
def _interp(d: Drawer) -> Call:
    size = d.integer(2, 4)
    half = 2 / size
    at = d.operand((*d.shape(0, 1), size), -2 - half, 2 - half, "increasing")
    sides = d.choice({}, {"left": -1.0}, {"right": 3})
    operands = (at, d.operand((size,), kind="increasing"), d.operand((size,)))
    return lambda x, xp, fp: np.interp(x, xp, fp, **sides), operands


@spec("numpy.interp, places")
def _interp_places(d: Drawer) -> Call:
    knots = np.cumsum(d.rng.uniform(0.3, 1, d.size(1))) - 1.5
    values, sides = d.rng.uniform(-1, 1, knots.shape), d.choice({}, {"left": -1.0, "right": 2.0})
    return lambda x: np.interp(x, knots, values, **sides), (d.operand(d.shape()),)


@spec("numpy.interp, values outside", "f")
def _interp_outside(d: Drawer) -> Call:
    return (
        lambda fp, left, right: np.interp([-3.0, 0.3, 0.7, 4.0], [0.0, 0.5, 1.0], fp, left, right),
        (d.operand((3,)), d.operand(()), d.operand(())),
    )


@spec("numpy.interp, period", "f")
def _interp_period(d: Drawer) -> Call:
    knots = d.operand((3,), d.choice(0.1, 6.1), d.choice(4, 4.4), kind="distinct")
    operands = (d.operand(d.shape(0, 1), -6, 6), knots, d.operand((3,)), d.operand((), 4.5, 5))
    return lambda x, xp, fp, p: np.interp(x, xp, fp, period=p), operands


@spec("numpy.unwrap", "fi")
def _unwrap(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    given = d.choice({}, {"discont": 4}, {"period": 5}, {"period": 4}, {"period": 3.5})
    return lambda p: np.unwrap(p, axis=axis, **given), (d.operand(shape, -6, 6),)


@spec("numpy.unwrap, traced period", "f")
def _unwrap_period(d: Drawer) -> Call:
    return lambda p, period: np.unwrap(p, period=period), (d.operand((d.integer(2, 5),), -6, 6), d.operand((), 4, 5))


def _ends(d: Drawer, low: float, high: float) -> tuple[Operand, Operand]:
    shape = d.shape()
    return d.operand(d.broadcast(shape), low, high), d.operand(shape, low, high)


@spec("numpy.linspace")
def _linspace(d: Drawer) -> Call:
    ends = _ends(d, -2, 2)
    count, endpoint, axis = d.integer(0, 4), bool(d.integer(0, 1)), d.choice(0, -1)
    return lambda a, b: np.linspace(a, b, count, endpoint, axis=axis), ends


@spec("numpy.linspace, with its step")
def _linspace_with_step(d: Drawer) -> Call:
    count, endpoint = d.integer(2, 4), bool(d.integer(0, 1))
    if d.integer(0, 1):
        return lambda b: np.linspace(1, b, count, endpoint, True), (d.operand(d.shape()),)
    return lambda a: np.linspace(a, 2.5, count, endpoint, True), (d.operand(d.shape()),)


@spec("numpy.linspace, dtype", "ib", order=0)
def _linspace_dtype(d: Drawer) -> Call:
    count, dtype = d.integer(0, 3), d.choice(np.float32, np.float64)
    return lambda a, b: np.linspace(a, b, count, dtype=dtype, retstep=True), _ends(d, -2, 2)


@spec("numpy.logspace", "fi")
def _logspace(d: Drawer) -> Call:
    ends = _ends(d, -1, 1.5)
    count, endpoint, axis = d.integer(0, 4), bool(d.integer(0, 1)), d.choice(0, -1)
    base = d.choice(10.0, 2)
    return lambda a, b: np.logspace(a, b, count, endpoint, base, axis=axis), ends


@spec("numpy.logspace, traced base", "f")
def _logspace_base(d: Drawer) -> Call:
    base = d.operand(d.choice((), (2,)), 0.5, 3)
    return lambda a, b, c: np.logspace(a, b, 3, base=c, axis=-1), (d.operand(()), d.operand(()), base)


@spec("numpy.geomspace", "fi")
def _geomspace(d: Drawer) -> Call:
    sign = d.choice(1, -1)
    low, high = sorted((1.2 * sign, 6 * sign))
    count, endpoint, axis = d.integer(0, 4), bool(d.integer(0, 1)), d.choice(0, -1)
    return lambda a, b: np.geomspace(a, b, count, endpoint, axis=axis), _ends(d, low, high)


@spec("numpy.polyval")
def _polyval(d: Drawer) -> Call:
    return np.polyval, (d.operand((d.size(),)), d.operand(d.shape()))


@each(np, ("polyadd", "polysub"), "fi")
def _polynomials(function: Any, d: Drawer) -> Call:
    return function, (d.operand((d.size(1),)), d.operand(d.choice((d.size(1),), ())))


def _no_zero(function: Any, d: Drawer) -> Call:
    return function, (d.operand((d.size(1),), 1.1, 4), d.operand((d.size(1),), 1.1, 4))


each(np, ("polymul",), "fi")(_no_zero)


@spec("numpy.polydiv", "f")
def _polydiv(d: Drawer) -> Call:
    """The remainder by its value, as rounding decides on how many zeros NumPy leaves before it in single precision."""

    def f(u: Any, v: Any) -> Any:
        quotient, remainder = np.polydiv(u, v)
        return quotient, np.polyval(remainder, 0.7)

    return f, _no_zero(f, d)[1]


@spec("numpy.polyder", "fi")
def _polyder(d: Drawer) -> Call:
    times = d.integer(0, 3)
    return lambda p: np.polyder(p, times), (d.operand((d.size(1),)),)


@spec("numpy.polyint", "fi")
def _polyint(d: Drawer) -> Call:
    times = d.integer(0, 3)
    if times and d.integer(0, 1):
        return lambda p, k: np.polyint(p, times, k), (d.operand((d.size(),)), d.operand(d.choice((times,), ())))
    return lambda p: np.polyint(p, times), (d.operand((d.size(),)),)


@spec("numpy.poly", "fi")
def _poly(d: Drawer) -> Call:
    return np.poly, (d.operand((d.size(1),)),)


@spec("numpy.vander")
def _vander(d: Drawer) -> Call:
    count, increasing = d.choice(None, 0, 1, 4), bool(d.integer(0, 1))
    return lambda x: np.vander(x, count, increasing), (d.operand((d.size(),)),)


def _at(low: float, high: float, function: Any, d: Drawer) -> Call:
    return function, (d.operand(d.shape(), low, high),)


each(np, ("sinc", "i0"))(partial(_at, -3, 3))
each(np, ("fix",), "f")(partial(_at, 0.2, 0.8))
each(np, ("imag", "real_if_close"))(partial(_at, -2, 2))
each(np, ("signbit",), "f", order=0)(partial(_at, -2, 2))


@spec("numpy.angle")
def _angle(d: Drawer) -> Call:
    degrees = bool(d.integer(0, 1))
    low, high = d.choice((0.3, 2), (-2, -0.3))
    return lambda z: np.angle(z, degrees), (d.operand(d.shape(), low, high),)


@spec("numpy.ldexp", "f")
def _ldexp(d: Drawer) -> Call:
    shape = d.shape()
    exponents = d.choice(2, d.rng.integers(-2, 3, d.broadcast(shape)))
    return lambda x: np.ldexp(x, exponents), (d.operand(shape),)


def _points(d: Drawer, order: int) -> Operand:
    return d.operand((order + d.integer(2, 3),), -1.5, 1.5, kind="increasing")


@spec("numpy.polyfit", "fi")
def _polyfit(d: Drawer) -> Call:
    order = d.integer(1, 2)
    points = _points(d, order)
    samples = d.operand(d.choice(points.shape, (*points.shape, 2)))
    if not d.integer(0, 1):
        return lambda x, y: np.polyfit(x, y, order - 1), (points, samples)
    return lambda x, y, w: np.polyfit(x, y, order - 1, w=w), (points, samples, d.operand(points.shape, 0.5, 1.5))


@spec("numpy.polyfit, covariance", "f")
def _polyfit_covariance(d: Drawer) -> Call:
    order, cov = d.integer(1, 2), d.choice(True, "unscaled")
    points = _points(d, order)
    samples = d.operand(d.choice(points.shape, (*points.shape, 2)))
    return lambda x, y: np.polyfit(x, y, order - 1, cov=cov), (points, samples)


@spec("numpy.polyfit, full", "f")
def _polyfit_full(d: Drawer) -> Call:
    points = _points(d, 2)
    return lambda x, y: np.polyfit(x, y, 1, full=True)[:2], (points, d.operand(points.shape))


@spec("einsumad.numpy.kaiser", "fi")
def _kaiser(d: Drawer) -> Call:
    points = d.integer(0, 4)
    return lambda beta: enp.kaiser(points, beta), (d.operand((), -3, 3),)
