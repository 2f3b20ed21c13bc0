"""Shapes, joints, pieces, windows, places: everything that only moves entries."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec


def _one(function: Any, d: Drawer, least: int = 0) -> Call:
    return function, (d.operand(d.shape(least, 3)),)


each(np, ("ravel", "transpose", "copy", "squeeze", "atleast_1d", "atleast_2d", "atleast_3d", "flip"))(_one)
each(np, ("flipud",))(partial(_one, least=1))
each(np, ("fliplr", "matrix_transpose"))(partial(_one, least=2))
each(np, ("zeros_like", "ones_like"), order=0)(_one)


def _made_like(function: Any, d: Drawer) -> Call:
    shape, dtype = d.choice((2, 0), 3, (), (2, 3)), d.choice(None, np.float32, int, bool)
    return lambda a: function(shape, dtype, like=a), (d.operand(d.shape()),)


def _written_into(function: Any, d: Drawer) -> Call:
    def filled(a: Any) -> Any:
        made = function(a.shape, a.dtype, like=a)
        made[...] = a
        return made

    return filled, (d.operand(d.shape(1, 3)),)


each(np, ("zeros", "ones"), order=0)(_made_like)
each(np, ("empty",), order=0)(_written_into)


@spec("numpy.reshape")
def _reshape(d: Drawer) -> Call:
    a, b = d.size(1), d.size(1)
    order = d.choice("C", "F")
    shape = d.choice((b, a), (a * b,), (1, a, -1), (-1, b))
    return lambda x: np.reshape(x, shape, order=order), (d.operand((a, b)),)


@spec("numpy.transpose, axes")
def _transpose(d: Drawer) -> Call:
    shape = d.shape(2, 3)
    axes = d.permutation(len(shape))
    return lambda x: np.transpose(x, axes), (d.operand(shape),)


@spec("numpy.swapaxes")
def _swapaxes(d: Drawer) -> Call:
    shape = d.shape(2, 3)
    a, b = d.axis(shape), d.axis(shape)
    return lambda x: np.swapaxes(x, a, b), (d.operand(shape),)


@spec("numpy.moveaxis")
def _moveaxis(d: Drawer) -> Call:
    shape = d.shape(2, 3)
    a, b = d.axis(shape), d.axis(shape)
    return lambda x: np.moveaxis(x, a, b), (d.operand(shape),)


@spec("numpy.rollaxis")
def _rollaxis(d: Drawer) -> Call:
    shape = d.shape(2, 3)
    a, b = d.axis(shape), d.integer(0, len(shape))
    return lambda x: np.rollaxis(x, a, b), (d.operand(shape),)


@spec("numpy.expand_dims")
def _expand_dims(d: Drawer) -> Call:
    shape = d.shape()
    axis = d.integer(-len(shape) - 1, len(shape))
    return lambda x: np.expand_dims(x, axis), (d.operand(shape),)


@spec("numpy.broadcast_to")
def _broadcast_to(d: Drawer) -> Call:
    shape = d.shape()
    return lambda x: np.broadcast_to(x, shape) * 1, (d.operand(d.broadcast(shape)),)


@spec("numpy.broadcast_arrays")
def _broadcast_arrays(d: Drawer) -> Call:
    shape = d.shape()
    return lambda a, b: [x * 1 for x in np.broadcast_arrays(a, b)], (d.operand(d.broadcast(shape)), d.operand(shape))


@spec("numpy.flip, axes")
def _flip(d: Drawer) -> Call:
    shape = d.shape()
    axes = d.axes(shape)
    return lambda x: np.flip(x, axes), (d.operand(shape),)


@spec("numpy.rot90")
def _rot90(d: Drawer) -> Call:
    turns = d.integer(-2, 5)
    return lambda x: np.rot90(x, turns), (d.operand(d.shape(2, 3)),)


@spec("numpy.roll")
def _roll(d: Drawer) -> Call:
    shape = d.shape()
    shift, axis = d.integer(-4, 4), d.axes(shape)
    return lambda x: np.roll(x, shift, axis), (d.operand(shape),)


@spec("numpy.repeat")
def _repeat(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.choice(None, d.axis(shape))
    count = d.integer(0, 3)
    if axis is not None and d.integer(0, 1):
        counts = [d.integer(0, 2) for _ in range(shape[axis])]
        return lambda x: np.repeat(x, counts, axis), (d.operand(shape),)
    return lambda x: np.repeat(x, count, axis), (d.operand(shape),)


@spec("numpy.tile")
def _tile(d: Drawer) -> Call:
    times = d.choice(2, (2, 1), (1, 2, 1), 0)
    return lambda x: np.tile(x, times), (d.operand(d.shape()),)


def _joined(function: Any, d: Drawer, *, least: int = 1) -> Call:
    shape = d.shape(least)
    axis = d.axis(shape)
    other = list(shape)
    other[axis] = d.size()
    return lambda a, b: function([a, b], axis=axis), (d.operand(shape), d.operand(other))


spec("numpy.concatenate")(lambda d: _joined(np.concatenate, d))


@spec("numpy.stack")
def _stack(d: Drawer) -> Call:
    shape = d.shape()
    axis = d.integer(-len(shape) - 1, len(shape))
    return lambda a, b: np.stack([a, b], axis=axis), (d.operand(shape), d.operand(shape))


@each(np, ("vstack", "hstack", "dstack", "column_stack"))
def _alike(function: Any, d: Drawer) -> Call:
    shape = d.shape(1)
    return lambda a, b: function([a, b]), (d.operand(shape), d.operand(shape))


@spec("numpy.append")
def _append(d: Drawer) -> Call:
    return np.append, (d.operand(d.shape()), d.operand(d.shape()))


LEAST_AXES = {"hsplit": 2, "vsplit": 2, "dsplit": 3}


@each(np, ("split", "array_split", *LEAST_AXES))
def _pieces(function: Any, d: Drawer) -> Call:
    shape = [2 * d.size(1)] * LEAST_AXES.get(function.__name__, 1)
    where = d.choice(2, [1], [0, 1, 9])
    return lambda x: function(x, where), (d.operand(shape),)


@spec("numpy.unstack")
def _unstack(d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis = d.axis(shape)
    return lambda x: np.unstack(x, axis=axis), (d.operand(shape),)


@spec("numpy.pad")
def _pad(d: Drawer) -> Call:
    mode = d.choice("constant", "edge", "reflect", "symmetric", "wrap")
    widths = (d.integer(0, 1), d.integer(0, 2))
    return lambda x: np.pad(x, widths, mode=mode), (d.operand(d.shape(1, 2, smallest=2)),)


@spec("numpy.diff")
def _diff(d: Drawer) -> Call:
    shape = d.shape(1)
    n, axis = d.integer(0, 2), d.axis(shape)
    return lambda x: np.diff(x, n, axis), (d.operand(shape),)


@spec("numpy.ediff1d", "f")
def _ediff1d(d: Drawer) -> Call:
    return np.ediff1d, (d.operand(d.shape(0, 2, smallest=1)),)


@each(np, ("tril", "triu"))
def _triangle(function: Any, d: Drawer) -> Call:
    k = d.integer(-2, 2)
    return lambda x: function(x, k), (d.operand(d.shape(1, 3)),)


@spec("numpy.diag")
def _diag(d: Drawer) -> Call:
    k = d.integer(-2, 2)
    return lambda x: np.diag(x, k) * 1, (d.operand(d.shape(1, 2)),)


@spec("numpy.diagonal")
def _diagonal(d: Drawer) -> Call:
    shape = d.shape(2, 3)
    offset = d.integer(-2, 2)
    a, b = d.permutation(len(shape))[:2]
    return lambda x: np.diagonal(x, offset, a, b) * 1, (d.operand(shape),)


@spec("numpy.meshgrid")
def _meshgrid(d: Drawer) -> Call:
    indexing = d.choice("xy", "ij")
    return lambda a, b: np.meshgrid(a, b, indexing=indexing), (d.operand(d.shape(1, 1)), d.operand(d.shape(1, 1)))


@spec("numpy.insert", "f")
def _insert(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis = d.axis(shape)
    size, k = shape[axis], axis % len(shape)
    one, several = [list(shape) for _ in range(2)]
    one[k], several[k] = 1, 2
    obj, given = d.choice(
        (d.integer(-size, size), ()),
        ([d.integer(0, size)], ()),
        (d.integer(0, size), [2, *shape[:k], *shape[k + 1 :]]),
        ([0, size], several),
        ([0, 0, size], one),
        (slice(None), one),
        (d.rng.random(size) < 0.5, ()),
    )
    return lambda a, b: np.insert(a, obj, b, axis=axis), (d.operand(shape), d.operand(given))


@spec("numpy.delete")
def _delete(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis = d.axis(shape)
    place = d.integer(-shape[axis], shape[axis] - 1)
    return lambda a: np.delete(a, place, axis=axis), (d.operand(shape),)


@spec("numpy.lib.stride_tricks.sliding_window_view")
def _windows(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=2)
    return lambda x: sliding_window_view(x, 2, axis=-1) * 1, (d.operand(shape),)


@spec("numpy.take")
def _take(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis = d.axis(shape)
    index = d.rng.integers(-shape[axis], shape[axis], d.shape())
    return lambda x: np.take(x, index, axis=axis), (d.operand(shape),)


@spec("numpy.take_along_axis")
def _take_along_axis(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis = d.axis(shape)
    order = np.argsort(d.rng.random(shape), axis=axis)
    return lambda x: np.take_along_axis(x, order, axis=axis), (d.operand(shape),)


@spec("numpy.compress")
def _compress(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis = d.axis(shape)
    kept = d.rng.random(shape[axis]) < 0.5
    return lambda x: np.compress(kept, x, axis=axis), (d.operand(shape),)


@spec("_operator.getitem, slices")
def _slices(d: Drawer) -> Call:
    shape = d.shape(1, 3)
    key: list[Any] = []
    for size in shape[: d.integer(0, len(shape))]:
        key.append(
            d.choice(
                slice(None),
                slice(None, None, -1),
                slice(1, None, 2),
                d.integer(-size, size - 1) if size else slice(None),
            )
        )
        if not d.integer(0, 2):
            key.append(None)
    if d.integer(0, 1):
        key.append(...)
    return lambda x: x[tuple(key)] * 1, (d.operand(shape),)


@spec("_operator.getitem, arrays")
def _arrays(d: Drawer) -> Call:
    a, b = d.size(1), d.size(1)
    i, j = d.rng.integers(-a, a, (2, 1)), d.rng.integers(-b, b, 3)
    key = d.choice(
        (i, j), (i,), (slice(None), j), (0, j), (i, None, j), d.rng.random((a, b)) < 0.5, (d.rng.random(a) < 0.5, 0)
    )
    return lambda x: x[key], (d.operand((a, b)),)


@spec("_operator.setitem", "f")
def _setitem(d: Drawer) -> Call:
    a, b = d.size(1), d.size(1)
    key = d.choice(
        0, (slice(None), -1), (Ellipsis, slice(None, None, -1)), d.rng.random((a, b)) < 0.5, np.array([0, 0])
    )

    def f(x: Any, y: Any) -> Any:
        z = x * 1
        z[key] = y * 1
        return z

    return f, (d.operand((a, b)), d.operand(()))


@spec("numpy.fill_diagonal", "f")
def _fill_diagonal(d: Drawer) -> Call:
    def f(x: Any, y: Any) -> Any:
        z = x * 1
        np.fill_diagonal(z, y)
        return z

    return f, (d.operand(d.shape(2, 2, smallest=1)), d.operand(()))


@spec("numpy.full_like", "f")
def _full_like(d: Drawer) -> Call:
    return lambda a, b: np.full_like(a, b * 1), (d.operand(d.shape()), d.operand(()))
