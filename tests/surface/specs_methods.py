"""Methods of ufuncs, drawn for any of them; functions that write into their first argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, spec
from tests.surface.specs_elementwise import BINARY

DIFFERENTIABLE = ("add", "subtract", "multiply", "divide", "logaddexp", "logaddexp2", "hypot")
NOT_REDUCED = ("arctan2", "power")  # NumPy's own reductions of these are wrong on some processors
EXTREMA = ("maximum", "minimum", "fmax", "fmin")
TRUTHS = ("logical_and", "logical_or", "logical_xor")


def _of(method: str, d: Drawer, names: tuple[str, ...] = (*DIFFERENTIABLE, *EXTREMA)) -> tuple[Any, str, float, float]:
    """A method of a ufunc with an interval of good entries, and the kind of operand that keeps away from ties."""
    name = d.choice(*names)
    low = 0.5 if name in ("divide", "hypot", "arctan2", "power") else -2.0
    kind = "distinct" if name in EXTREMA else "real"
    return getattr(getattr(np, name), method), kind, low, 2.0


@spec("numpy.ufunc.outer", "f")
def _outer(d: Drawer) -> Call:
    name = d.choice(*BINARY)
    first, second = BINARY[name]
    return getattr(np, name).outer, (d.operand(d.shape(0, 1), *first), d.operand(d.shape(), *second))


@spec("numpy.ufunc.reduce", "f")
def _reduce(d: Drawer) -> Call:
    method, kind, low, high = _of("reduce", d)
    shape = d.shape(1, smallest=1)
    axis, keep = d.axis(shape), bool(d.integer(0, 1))
    return lambda a: method(a, axis, keepdims=keep), (d.operand(shape, low, high, kind),)


@spec("numpy.ufunc.reduce, several axes", "f")
def _reduce_several(d: Drawer) -> Call:
    method, kind, low, high = _of("reduce", d, ("add", "multiply", *EXTREMA, "logaddexp", "hypot"))
    shape = d.shape(1, 3, smallest=1)
    axes = d.axes(shape)
    return lambda a: method(a, axis=axes), (d.operand(shape, low, high, kind),)


@spec("numpy.ufunc.reduce, integers", "ib", order=0)
def _reduce_integers(d: Drawer) -> Call:
    method, *_ = _of("reduce", d, ("add", "multiply", *EXTREMA, *TRUTHS))
    shape = d.shape(1, smallest=1)
    axis = d.axis(shape)
    return lambda a: method(a, axis=axis), (d.operand(shape),)


@spec("numpy.ufunc.reduce, truth values", order=0)
def _reduce_truth(d: Drawer) -> Call:
    method, *_ = _of("reduce", d, TRUTHS)
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a: method(a, axis=axis), (d.operand(shape),)


@spec("numpy.ufunc.accumulate", "f")
def _accumulate(d: Drawer) -> Call:
    method, kind, low, high = _of("accumulate", d, (*DIFFERENTIABLE, *EXTREMA, *NOT_REDUCED))
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a: method(a, axis=axis), (d.operand(shape, low, high, kind),)


@spec("numpy.ufunc.accumulate, integers", "ib", order=0)
def _accumulate_integers(d: Drawer) -> Call:
    method, *_ = _of("accumulate", d, ("add", "multiply", *EXTREMA, *TRUTHS))
    return method, (d.operand(d.shape(1)),)


@spec("numpy.ufunc.reduceat", "f")
def _reduceat(d: Drawer) -> Call:
    method, kind, low, high = _of("reduceat", d)
    shape = d.shape(1, smallest=1)
    axis = d.axis(shape)
    starts = d.rng.integers(0, shape[axis], d.size(1))
    return lambda a: method(a, starts, axis), (d.operand(shape, low, high, kind),)


def _extremum(method: str, name: str, d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis, valid = d.axis(shape), d.rng.random(shape) < 0.7
    np.moveaxis(valid, axis, 0)[0] = True
    whole = getattr(getattr(np, name), method)
    return lambda a: whole(np.where(valid, a, np.nan), axis=axis), (d.operand(shape, kind="distinct"),)


for _name in ("fmax", "fmin"):
    for _method in ("reduce", "accumulate"):
        spec(f"numpy.{_name}.{_method}")(partial(_extremum, _method, _name))


def _largest_so_far(ufunc: Any, d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a: ufunc.accumulate(a, axis=axis), (d.operand(shape, kind="distinct"),)


for _ufunc in (np.maximum, np.minimum):
    spec(f"numpy.{_ufunc.__name__}.accumulate")(partial(_largest_so_far, _ufunc))


def written(write: Callable[..., Any]) -> Callable[..., Any]:
    """What the first argument is after a function has written into a copy of it."""

    def f(x: Any, *others: Any) -> Any:
        z = np.copy(x)
        write(z, *others)
        return z

    return f


@spec("numpy.ufunc.at", "f")
def _at(d: Drawer) -> Call:
    size = d.size(1)
    name = d.choice("add", "subtract", "multiply", "divide", "negative", "exp", "square")
    method = getattr(np, name).at
    if name in ("add", "subtract"):
        places = d.rng.integers(-size, size, d.integer(0, 4))
    else:
        places = d.rng.permutation(size)[: d.size()]
    first = d.operand((size,))
    if name in ("negative", "exp", "square"):
        return written(lambda z: method(z, places)), (first,)
    return written(lambda z, y: method(z, places, y)), (first, d.operand(d.choice((), places.shape), 0.5, 2))


@spec("numpy.put", "f")
def _put(d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    size = int(np.prod(shape))
    mode = d.choice("raise", "wrap", "clip")
    bound = 1 if mode == "raise" else 3
    places = d.rng.integers(-bound * size, bound * size, d.integer(0, 4))
    new = d.operand(d.choice((), (1,), places.shape))
    return written(lambda z, v: np.put(z, places, v, mode)), (d.operand(shape), new)


@spec("numpy.copyto", "f")
def _copyto(d: Drawer) -> Call:
    shape = d.shape()
    where = d.choice(True, d.rng.random(d.broadcast(shape)) < 0.5)
    return written(lambda z, v: np.copyto(z, v, where=where)), (d.operand(shape), d.operand(d.broadcast(shape)))


@spec("numpy.putmask", "f")
def _putmask(d: Drawer) -> Call:
    shape = d.shape(1)
    mask = d.rng.random(shape) < 0.5
    new = d.operand(d.choice(shape, (1,), (2,), (5,)))
    return written(lambda z, v: np.putmask(z, mask, v)), (d.operand(shape), new)


@spec("numpy.place", "f")
def _place(d: Drawer) -> Call:
    shape = d.shape()
    mask = d.rng.random(shape) < 0.5
    return written(lambda z, v: np.place(z, mask, v)), (d.operand(shape), d.operand(d.choice((2,), (1,), (5,))))


@spec("numpy.put_along_axis", "f")
def _put_along_axis(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis = d.axis(shape)
    order = np.argsort(d.rng.random(shape), axis=axis)
    new = d.operand(d.choice(shape, ()))
    return written(lambda z, v: np.put_along_axis(z, order, v, axis)), (d.operand(shape), new)


@spec("numpy.fill_diagonal, wrapped", "f")
def _fill_diagonal(d: Drawer) -> Call:
    shape = d.choice((5, 2), (3, 3, 3), (2, 3))
    wrap = bool(d.integer(0, 1))
    return written(lambda z, v: np.fill_diagonal(z, v, wrap)), (d.operand(shape), d.operand(d.choice((), (2,))))


@spec("numpy.empty_like", "f")
def _empty_like(d: Drawer) -> Call:
    def f(x: Any) -> Any:
        z = np.empty_like(x)
        z[...] = np.sin(x)
        return z

    return f, (d.operand(d.shape()),)
