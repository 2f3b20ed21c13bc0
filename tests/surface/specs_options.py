"""Options of functions that other modules call without them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, spec
from tests.surface.specs_reductions import METHODS


@spec("numpy.clip, traced bounds", "fi")
def _clip(d: Drawer) -> Call:
    shape = d.shape()
    operands = (d.operand(shape), d.operand(d.broadcast(shape), -2, -0.5), d.operand(d.broadcast(shape), 0.5, 2))
    if d.integer(0, 1):
        return lambda a, low, high: np.clip(a, min=low, max=high), operands
    return np.clip, operands


@spec("numpy.round, before the point", "f")
def _round(d: Drawer) -> Call:
    decimals = d.choice(-1, 2)
    low, high = (11, 14) if decimals < 0 else (0.121, 0.124)
    return lambda a: np.round(a, decimals), (d.operand(d.shape(), low, high),)


@spec("numpy.diff, ends", "fi")
def _diff(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    ends = list(shape)
    ends[axis] = d.integer(1, 2)
    before = d.operand(d.choice((), ends))
    n = d.integer(1, 2)
    return lambda x, y: np.diff(x, n, axis, prepend=y, append=0), (d.operand(shape), before)


@spec("numpy.ediff1d, ends", "f")
def _ediff1d(d: Drawer) -> Call:
    operands = (d.operand(d.shape()), d.operand(d.shape()), d.operand(d.shape()))
    return lambda x, a, b: np.ediff1d(np.asarray(x) if isinstance(x, float) else x, a, b), operands


@spec("numpy.append, axis")
def _append(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a, b: np.append(a, b, axis), (d.operand(shape), d.operand(shape))


@spec("numpy.delete, several")
def _delete(d: Drawer) -> Call:
    size = d.size(1)
    obj = d.choice([0, -1], slice(0, 2), slice(None, None, 2), d.rng.random(size) < 0.5, [], np.array([0, 0]))
    axis = d.choice(None, 0)
    return lambda a: np.delete(a, obj, axis), (d.operand((size,) if axis is None else (size, d.size())),)


@spec("numpy.insert, flat", "f")
def _insert(d: Drawer) -> Call:
    shape = d.shape(0, 2, smallest=1)
    size = int(np.prod(shape))
    obj = d.choice(d.integer(-size, size), [0, size], [size])
    return lambda a, b: np.insert(a, obj, b), (d.operand(shape), d.operand(d.choice((), (np.size(obj),))))


@spec("numpy.take, modes")
def _take(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    axis, mode = d.choice(None, d.axis(shape)), d.choice("wrap", "clip")
    index = d.rng.integers(-5, 6, d.shape())
    return lambda x: np.take(x, index, axis, mode=mode), (d.operand(shape),)


@spec("numpy.take_along_axis, flat")
def _take_along_axis(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    size = int(np.prod(shape))
    index = d.rng.integers(-size, size, d.size())
    return lambda x: np.take_along_axis(x, index, None), (d.operand(shape),)


@spec("numpy.take_along_axis, broadcast")
def _take_along_axis_broadcast(d: Drawer) -> Call:
    a, b = d.size(1), d.size(1)
    index = d.rng.integers(0, a, (d.size(), d.choice(1, b)))
    return lambda x: np.take_along_axis(x, index, axis=0), (d.operand((a, b)),)


@spec("numpy.compress, flat")
def _compress(d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    kept = d.rng.random(d.integer(0, int(np.prod(shape)))) < 0.5
    return lambda x: np.compress(kept, x), (d.operand(shape),)


@spec("numpy.meshgrid, sparse")
def _meshgrid(d: Drawer) -> Call:
    indexing, sparse = d.choice("xy", "ij"), bool(d.integer(0, 1))
    sizes = [d.size() for _ in range(d.integer(1, 3))]
    operands = tuple([d.operand((size,)) for size in sizes])
    return lambda *x: np.meshgrid(*x, indexing=indexing, sparse=sparse), operands


@spec("numpy.trace, axes")
def _trace(d: Drawer) -> Call:
    shape = d.shape(2, 4)
    a, b = d.permutation(len(shape))[:2]
    return lambda x: np.trace(x, 1, a, b - len(shape), dtype=np.float64), (d.operand(shape),)


@spec("numpy.concatenate, flat")
def _concatenate(d: Drawer) -> Call:
    dtype = d.choice(None, np.float64)
    operands = tuple([d.operand(d.shape()) for _ in range(d.integer(1, 3))])
    return lambda *x: np.concatenate(x, axis=None, dtype=dtype), operands


@spec("numpy.astype, other dtypes", order=0)
def _astype(d: Drawer) -> Call:
    dtype = d.choice(np.float64, bool)
    return lambda a: np.astype(a, dtype), (d.operand(d.shape()),)


@spec("numpy.ravel, order")
def _ravel(d: Drawer) -> Call:
    order = d.choice("C", "F")
    return lambda a: np.ravel(a, order) * 1, (d.operand(d.shape(0, 3)),)


@spec("numpy.squeeze, axes")
def _squeeze(d: Drawer) -> Call:
    axis = d.choice(0, -2, (0, 2), ())
    return lambda a: np.squeeze(a, axis), (d.operand((1, d.size(), 1, d.size())),)


@spec("numpy.expand_dims, several")
def _expand_dims(d: Drawer) -> Call:
    axes = d.choice((0, 1), (-1, 0), (2, -3))
    return lambda a: np.expand_dims(a, axes), (d.operand(d.shape(1)),)


@spec("numpy.roll, several")
def _roll(d: Drawer) -> Call:
    shift, axis = d.choice((1, (0, 1)), ((1, -2), (0, 1)), ((1, 1), 0), (2, (0, 0)))
    return lambda a: np.roll(a, shift, axis), (d.operand((d.size(), d.size())),)


@spec("numpy.rot90, axes")
def _rot90(d: Drawer) -> Call:
    turns, axes = d.integer(-2, 3), d.choice((1, 0), (-1, 0), (1, 2))
    return lambda a: np.rot90(a, turns, axes), (d.operand([d.size() for _ in range(3)]),)


@spec("numpy.full_like, dtype and shape")
def _full_like(d: Drawer) -> Call:
    shape = d.shape()
    like = d.broadcast(shape)
    return lambda a, b: np.full_like(a, b, np.float64, shape=shape), (d.operand(d.shape()), d.operand(like))


@spec("numpy.zeros_like, dtype and shape", order=0)
def _zeros_like(d: Drawer) -> Call:
    shape, dtype = d.choice(None, (2, 0), 3), d.choice(None, np.float32, int, bool)
    return lambda a: [f(a, dtype, shape=shape) for f in (np.zeros_like, np.ones_like)], (d.operand(d.shape()),)


@spec("numpy.lib.stride_tricks.sliding_window_view, several axes")
def _windows(d: Drawer) -> Call:
    window = (d.integer(1, 2), d.integer(1, 2))
    axis = d.choice(None, (1, 0), (0, 0))
    return lambda x: sliding_window_view(x, window, axis) * 1, (d.operand((d.integer(3, 4), d.integer(2, 3))),)


@spec("numpy.quantile, several")
def _quantile(d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis, keep, method = d.axes(shape), bool(d.integer(0, 1)), d.choice(*METHODS)
    share = d.choice([[0.1, 0.5], [0.9, 1]], [], np.float32(0.3), 1)
    return (
        lambda a: np.quantile(np.asarray(a) if np.ndim(a) == 0 else a, share, axis, method=method, keepdims=keep),
        (d.operand(shape, kind="distinct"),),
    )


@spec("numpy.quantile, of integers", "ib", order=0)
def _quantile_of_integers(d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis, share = d.axes(shape), d.choice(0.3, 0.5, [0.0, 1.0])
    return lambda a: np.quantile(a + 0, share, axis), (d.operand(shape),)


@spec("numpy.einsum, ellipsis and order")
def _einsum(d: Drawer) -> Call:
    shape = d.shape(0, 1)
    n, m = d.size(), d.size()
    text = d.choice("...ij,...j", "...ij,...j->...i", "i...j,j...->j...i")
    if text.startswith("i"):
        return lambda a, b: np.einsum(text, a, b), (d.operand((n, *shape, m)), d.operand((m, *shape)))
    return lambda a, b: np.einsum(text, a, b), (d.operand((*shape, n, m)), d.operand((*d.broadcast(shape), m)))


@spec("numpy.einsum, lists of axes")
def _einsum_lists(d: Drawer) -> Call:
    n, m = d.size(), d.size()
    output = d.choice([], [0], [1, 0])
    return lambda a, b: np.einsum(a, [0, 1], b, [1], output), (d.operand((n, m)), d.operand((m,)))


@spec("numpy.convolve, truth values and integers", "i", order=0)
def _convolve(d: Drawer) -> Call:
    mode = d.choice("full", "same", "valid")
    return lambda a, v: np.convolve(a, v, mode), (d.operand((d.size(1),)), d.operand((d.size(1),)))


@spec("numpy.std, of equal entries", order=0)
def _std(d: Drawer) -> Call:
    shape = d.shape(1)
    return lambda a: np.std(np.broadcast_to(a, shape) * 1.0, axis=-1, ddof=1), (d.operand(()),)


@spec("numpy.broadcast_arrays, three")
def _broadcast_arrays(d: Drawer) -> Call:
    shape = d.shape()
    operands: Any = [d.operand(d.broadcast(shape)) for _ in range(3)]
    return lambda *x: [part * 1 for part in np.broadcast_arrays(*x)], tuple(operands)


@spec("numpy.atleast_2d, several")
def _atleast(d: Drawer) -> Call:
    function = d.choice(np.atleast_1d, np.atleast_2d, np.atleast_3d)
    return function, (d.operand(d.shape(0, 3)), d.operand(d.shape(0, 3)))


@spec("numpy.stack, of rows")
def _stack(d: Drawer) -> Call:
    shape, axis = d.shape(1, 1), d.choice(0, -1)
    return lambda a, b, c: np.stack([a, b, c], axis, dtype=np.float64), tuple([d.operand(shape) for _ in range(3)])
