"""Products of vectors and matrices, entries repeated and joined, and what is put around an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec


@spec("numpy.cross", "fi")
def _cross(d: Drawer) -> Call:
    shape, sizes = d.shape(), d.choice((3, 3), (3, 3), (2, 3), (3, 2), (2, 2))
    return np.cross, (d.operand((*d.broadcast(shape), sizes[0])), d.operand((*shape, sizes[1])))


@spec("numpy.cross, axes", "fi")
def _cross_axes(d: Drawer) -> Call:
    size = d.size()
    if d.integer(0, 1):
        return lambda a, b: np.cross(a, b, axis=0), (d.operand((3, size)), d.operand((3, size)))
    place = d.choice(0, -1, 1)
    return lambda a, b: np.cross(a, b, 0, -1, place), (d.operand((3, size)), d.operand((size, 3)))


@spec("numpy.kron")
def _kron(d: Drawer) -> Call:
    return np.kron, (d.operand(d.shape()), d.operand(d.shape()))


@each(np, ("vecdot", "matvec", "vecmat"))
def _with_matrices(function: Any, d: Drawer) -> Call:
    n, m = d.size(), d.size()
    left, right = {"vecdot": ((n,), (n,)), "matvec": ((m, n), (n,)), "vecmat": ((n,), (n, m))}[function.__name__]
    batch = d.shape(0, 2)
    batches = d.choice((batch, d.broadcast(batch)), (d.broadcast(batch), batch))
    return function, (d.operand((*batches[0], *left)), d.operand((*batches[1], *right)))


@spec("numpy.diagflat")
def _diagflat(d: Drawer) -> Call:
    k = d.integer(-2, 2)
    return lambda v: np.diagflat(v, k), (d.operand(d.shape()),)


@spec("numpy.resize")
def _resize(d: Drawer) -> Call:
    shape = d.choice(3, (2, 2), (0, 2), (), (5, 1))
    return lambda a: np.resize(a, shape), (d.operand(d.shape()),)


@spec("numpy.pad, numbers")
def _pad_numbers(d: Drawer) -> Call:
    shape = d.shape(1, 2)
    widths = [(d.integer(0, 2), d.integer(0, 2)) for _ in shape]
    values = d.choice(0, 1, (1, 0), [(1, 2)] * len(shape))
    return lambda x: np.pad(x, widths, constant_values=values), (d.operand(shape),)


@spec("numpy.pad, statistics", "f")
def _pad_statistics(d: Drawer) -> Call:
    shape = d.shape(1, 2, smallest=1)
    mode, widths = d.choice("mean", "median", "maximum", "minimum"), (d.integer(0, 1), d.integer(0, 2))
    given = d.choice({}, {"stat_length": 1}, {"stat_length": 2}, {"stat_length": (1, 2)})
    return lambda x: np.pad(x, widths, mode, **given), (d.operand(shape, kind="distinct"),)


@spec("numpy.pad, a ramp", "f")
def _pad_ramp(d: Drawer) -> Call:
    widths, ends = (d.integer(0, 1), d.integer(0, 2)), d.choice({}, {"end_values": 1.5}, {"end_values": (-1, 2)})
    return lambda x: np.pad(x, widths, "linear_ramp", **ends), (d.operand(d.shape(1, 2, smallest=1)),)


@spec("numpy.pad, wide")
def _pad_wide(d: Drawer) -> Call:
    mode, widths = d.choice("edge", "reflect", "symmetric", "wrap"), (d.integer(0, 5), d.integer(0, 5))
    return lambda x: np.pad(x, widths, mode), (d.operand(d.shape(1, 1, smallest=1)),)
