"""Choosing among arrays, applying functions along axes, entries without repetition, order."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from tests.surface.drawing import Drawer
from tests.surface.specs import Call, each, spec


@spec("numpy.select")
def _select(d: Drawer) -> Call:
    shape = d.shape()
    masks = [d.rng.random(d.broadcast(shape)) < 0.5 for _ in range(2)]
    operands = [d.operand(d.broadcast(shape)) for _ in range(3)]
    if d.integer(0, 1):
        return lambda a, b, c: np.select(masks, [a, b], c), tuple(operands)
    return lambda a, b: np.select(masks, [a, b], 2), tuple(operands[:2])


@spec("numpy.select, by values")
def _select_by_values(d: Drawer) -> Call:
    return lambda a: np.select([a > 1, a > -0.5], [np.cos(a), a * 1.0], a**2), (d.operand(d.shape()),)


@spec("numpy.choose")
def _choose(d: Drawer) -> Call:
    shape = d.shape()
    mode = d.choice("raise", "wrap", "clip")
    bound = 0 if mode == "raise" else 3
    index = d.rng.integers(-bound, 3 + bound, d.broadcast(shape))
    return lambda *c: np.choose(index, c, mode=mode), tuple([d.operand(d.broadcast(shape)) for _ in range(3)])


@spec("numpy.choose, by values")
def _choose_by_values(d: Drawer) -> Call:
    return lambda a: np.choose(a > 0.1, [a**2, np.sin(a)]), (d.operand(d.shape()),)


@spec("numpy.piecewise", "f")
def _piecewise(d: Drawer) -> Call:
    functions = d.choice([np.sin, np.square], [lambda x: x**2, -1.5], [2.0, np.exp, np.cos])
    return lambda x: np.piecewise(x, [x < 0.3, x > 0.6][: 3 if len(functions) == 3 else 1], functions), (
        d.operand(d.shape()),
    )


@spec("numpy.apply_along_axis", "f")
def _apply_along_axis(d: Drawer) -> Call:
    shape = d.shape(1, 3, smallest=1)
    axis = d.axis(shape)
    function = d.choice(np.sum, np.cumsum, lambda r: np.outer(r, r), lambda r: r[0] * r)
    return lambda a: np.apply_along_axis(function, axis, a), (d.operand(shape),)


@spec("numpy.apply_over_axes", "fi")
def _apply_over_axes(d: Drawer) -> Call:
    shape = d.shape(1, 3, smallest=1)
    axes = d.choice(0, [d.axis(shape), d.axis(shape)])
    function = d.choice(np.sum, np.mean, np.cumsum)
    return lambda a: np.apply_over_axes(function, a, axes), (d.operand(shape),)


@spec("numpy.block")
def _block(d: Drawer) -> Call:
    n, m, k = d.size(), d.size(), d.size()
    if d.integer(0, 1):
        return lambda a, b: np.block([a, b, 1]), (d.operand((n,)), d.operand(d.choice((), (m,))))
    shapes = ((n, m), (n, k), (d.size(), m + k))
    return lambda a, b, c: np.block([[a, b], [c]]), tuple([d.operand(shape) for shape in shapes])


def _different(function: Any, d: Drawer) -> Call:
    return function, (d.operand(d.shape(smallest=1), kind="distinct"),)


each(np, ("unique", "unique_values", "unique_all", "unique_counts", "unique_inverse"))(_different)


@spec("numpy.unique, with places")
def _unique(d: Drawer) -> Call:
    given = {f"return_{name}": bool(d.integer(0, 1)) for name in ("index", "inverse", "counts")}
    axis = d.choice(None, 0)
    return lambda a: np.unique(a, axis=axis, **given), (d.operand((d.size(1),), kind="distinct"),)


@spec("numpy.union1d")
def _union1d(d: Drawer) -> Call:
    operands = (d.operand(d.shape(), -2, -1, "distinct"), d.operand(d.shape(), 1, 2, "distinct"))
    return np.union1d, operands


@each(np, ("setdiff1d", "setxor1d"))
def _without(function: Any, d: Drawer) -> Call:
    """Some entries of both are the same ones."""
    first, second = d.operand((d.size(1),), -2, -0.9, "distinct"), d.operand((d.size(),), 1.1, 4, "distinct")
    start = d.integer(0, 3)
    return lambda a, b: function(a, np.concatenate([a[start:], b])), (first, second)


@spec("numpy.trim_zeros")
def _trim_zeros(d: Drawer) -> Call:
    trim, before, after = d.choice("fb", "f", "b"), d.integer(0, 2), d.integer(0, 2)
    low, high = d.choice((0.3, 2), (-2, -1.1))
    return lambda a: np.trim_zeros(np.pad(a, (before, after)), trim), (d.operand((d.size(1),), low, high),)


if "axis" in inspect.signature(np.trim_zeros).parameters:

    @spec("numpy.trim_zeros, axes", "fi")
    def _trim_zeros_of_axes(d: Drawer) -> Call:
        axis = d.choice(None, 0, -1, (0, 1))
        widths = [(d.integer(0, 1), d.integer(0, 1)) for _ in range(2)]
        return lambda a: np.trim_zeros(np.pad(a, widths), axis=axis), (d.operand((d.size(1), d.size(1)), 1.1, 3),)


@spec("numpy.extract")
def _extract(d: Drawer) -> Call:
    shape = d.shape()
    mask = d.rng.random(shape) < 0.5
    return lambda a: np.extract(mask, a), (d.operand(shape),)


@spec("numpy.extract, by values")
def _extract_by_values(d: Drawer) -> Call:
    return lambda a: np.sum(np.extract(a > 0, a**2)), (d.operand(d.shape()),)


@spec("numpy.searchsorted", order=0)
def _searchsorted(d: Drawer) -> Call:
    side = d.choice("left", "right")
    size = d.size(1)
    order = d.permutation(size)
    if d.integer(0, 1):
        return (
            lambda a, v: np.searchsorted(a[np.argsort(order)], v, side, order),
            (d.operand((size,), kind="increasing"), d.operand(d.shape())),
        )
    return lambda a, v: np.searchsorted(a, v, side), (d.operand((size,), kind="increasing"), d.operand(d.shape()))


@spec("numpy.digitize", order=0)
def _digitize(d: Drawer) -> Call:
    right = bool(d.integer(0, 1))
    bins = d.choice([-1.0, 0.0, 1.5], [1.0, 1.0, -0.5], [0])
    return lambda x: np.digitize(x, bins, right), (d.operand(d.shape()),)


@spec("numpy.lexsort", order=0)
def _lexsort(d: Drawer) -> Call:
    shape = d.shape(1)
    axis = d.axis(shape)
    return lambda a, b: np.lexsort((a, b), axis=axis), (d.operand(shape), d.operand(shape))


@spec("numpy.argpartition", order=0)
def _argpartition(d: Drawer) -> Call:
    size = d.size(1)
    place = d.integer(-size, size - 1)
    operand = d.operand((*d.shape(0, 1), size), -20, 20, kind="distinct")
    return lambda a: np.argpartition(a * 1.0, place)[..., place], (operand,)


@spec("numpy.partition, several places")
def _partition(d: Drawer) -> Call:
    shape = d.shape(1, smallest=1)
    axis = d.choice(None, d.axis(shape))
    size = int(np.prod(shape)) if axis is None else shape[axis]
    every = list(range(size))
    return lambda a: np.partition(a, every, axis=axis), (d.operand(shape, kind="distinct"),)


@spec("numpy.isin", order=0)
def _isin(d: Drawer) -> Call:
    invert = bool(d.integer(0, 1))
    return lambda a, b: np.isin(a, b, invert=invert), (d.operand(d.shape()), d.operand(d.shape()))


def _with_itself(function: Any, d: Drawer) -> Call:
    shape = d.shape()
    return lambda a, b: np.logical_not(function(a, np.where(b > 0, a, b))), (d.operand(shape), d.operand(shape))


each(np, ("isclose", "allclose", "array_equal", "array_equiv"), order=0)(_with_itself)


@spec("numpy.isclose, tolerances", order=0)
def _isclose(d: Drawer) -> Call:
    return (
        lambda a, b: np.isclose(np.sqrt(a), b, rtol=0.3, atol=0.1, equal_nan=True),
        (d.operand(d.shape(0, 1)), d.operand(())),
    )
