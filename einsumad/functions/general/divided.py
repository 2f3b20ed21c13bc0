"""Divided differences of a function, accurate whether the points are far apart, close or equal.

Owns this kernel. Imports the templates. Invariant: of two ways to compute an entry, the quotient of differences and the
integral of a derivative, the one with the smaller estimate of its error is taken; nothing is divided by 0.

The divided difference of order m at x0, ..., xm is ``(h[x1 .. xm] - h[x0 .. x(m-1)]) / (xm - x0)`` where these differ,
and always the integral of the m-th derivative over the simplex with these corners (the Genocchi-Hermite formula; C. de
Boor, *Divided differences*, Surveys in Approximation Theory 1, 2005, section 9).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np

from einsumad.functions.general.factor_kernels import smallest
from einsumad.functions.general.templates import derivative, evaluate, nth_derivative, sides, slot, text_of

Array = np.ndarray[Any, Any]

_EPS = float(np.finfo(float).eps)
_NODES = {1: (10, 16), 2: (7, 9), 3: (5, 7)}
_NODES_BEYOND = (4, 5)
_GOOD = 1e-13
_AT_ONCE = 1 << 18
_ZERO = text_of(slot(0))
"""The side of a kink at 0."""


def divided_differences(x: Array, c: Array, order: int, text: str) -> Array:
    """``D[b, i0, ..., im] = h[x[b, i0], ..., x[b, im]]`` for the function h that the text describes.

    NaN at a point at which a kink is by rounding alone, as it is not known on which side of the kink the point lies,
    and at points on two sides of a kink that are so close to each other that too few digits would be left.
    """
    size, batch = x.shape[-1], x.shape[:-1]
    points = x.reshape(prod(batch), size).astype(float)
    parameters = c.reshape(prod(batch), c.shape[-1]).astype(float)
    undecided = np.zeros(points.shape, bool)
    for side in _kinks(text, points, parameters, order) if order else ():
        undecided |= _undecided(side, points, parameters, smallest(x.reshape(points.shape), order), x.dtype)
    points = np.where(undecided, np.nan, points)
    places = np.argsort(points, axis=-1, kind="stable")
    ascending = np.take_along_axis(points, places, -1)
    value = _sorted_differences(ascending, parameters, order, text)
    rank = np.argsort(places, axis=-1)
    index = np.sort(np.stack(np.broadcast_arrays(*_grids(rank, order + 1))), axis=0)
    which = np.arange(points.shape[0]).reshape(-1, *[1] * (order + 1))
    return np.asarray(value[(which, *index)], x.dtype).reshape(*batch, *(size,) * (order + 1))


def _kinks(text: str, x: Array, c: Array, order: int) -> list[str]:
    """The sides of the function that are kinks: all but 0 where the function has all these derivatives there."""
    return [side for side in sides(text) if side != _ZERO or not _is_smooth_at_zero(text, x, c, order)]


def _is_smooth_at_zero(text: str, x: Array, c: Array, order: int) -> bool:
    """Whether the derivatives are the same at 0 and next to it on both sides, for the parameters of all the batch."""
    near = np.sqrt(np.finfo(float).tiny)
    at = np.broadcast_to(np.array([-near, 0.0, near]), (len(x), 3))
    for m in range(order + 1):
        derivative_of_order = nth_derivative(text, m)
        if derivative_of_order is None:
            return True
        with np.errstate(all="ignore"):
            left, here, right = np.moveaxis(_value(derivative_of_order, at, c), -1, 0)
            size = np.abs(left) + np.abs(right)
            if not np.all((np.abs(left - here) <= _EPS * size) & (np.abs(right - here) <= _EPS * size)):
                return False
    return True


def _undecided(side: str, x: Array, c: Array, least: Array, dtype: Any) -> Array:
    """Which points are on a kink by rounding alone, or too close to one on its other side."""
    limits = np.finfo(dtype)
    scale = np.max(np.abs(x), axis=-1, keepdims=True, initial=0)
    rounding = np.maximum(10 * x.shape[-1] * float(limits.eps) * scale, float(limits.smallest_subnormal))
    slope = derivative(side, 0)
    value = _value(side, x, c)
    distance = np.abs(value)
    reach = rounding * (0 if slope is None else np.abs(_value(slope, x, c)))
    apart = np.sign(value)[:, :, None] != np.sign(value)[:, None, :]
    close = np.abs(x[:, :, None] - x[:, None, :]) <= least[:, :, None]
    found = (distance > 0) & ((distance <= reach) | np.any(apart & close, axis=-1))
    return np.asarray(found)


def _grids(rank: Array, count: int) -> list[Array]:
    """The places of the points along each of so many axes."""
    return [rank.reshape(rank.shape[0], *[1] * k, rank.shape[1], *[1] * (count - 1 - k)) for k in range(count)]


def _sorted_differences(x: Array, c: Array, order: int, text: str) -> Array:
    """The divided differences at ascending places of ascending points; other entries mean nothing."""
    value = _value(text, x, c)
    slope = nth_derivative(text, 1)
    noise = np.abs(value) + (0 if slope is None else np.abs(x * _value(slope, x, c)))
    error = 2 * _EPS * np.where(np.isfinite(noise), noise, np.inf)
    on = [np.sign(_value(side, x, c)) for side in sides(text)]
    for m in range(1, order + 1):
        index = np.array(list(combinations_with_replacement(range(x.shape[1]), m + 1)), int).reshape(-1, m + 1).T
        low, high = tuple(index[:-1]), tuple(index[1:])
        first, last = x[:, index[0]], x[:, index[-1]]
        gap = last - first
        entries = (value[:, *high] - value[:, *low]) / gap
        errors = (error[:, *high] + error[:, *low]) / gap + _EPS * np.abs(entries)
        errors = np.where(np.isnan(entries), np.inf, errors)
        across = np.zeros(gap.shape, bool)
        for side in on:
            across |= side[:, index[0]] != side[:, index[-1]]
        doubtful = (gap == 0) | (np.isfinite(errors) & (errors > _GOOD * np.abs(entries)) & ~across)
        where = np.nonzero(doubtful)
        corners = np.stack([x[where[0], places[where[1]]] for places in index], axis=-1)
        better, bound = _integrals(corners, c[where[0]], m, text)
        wins = (gap[where] == 0) | (bound < errors[where])
        entries[where] = np.where(wins, better, entries[where])
        errors[where] = np.where(wins, bound, errors[where])
        value, error = (np.zeros((x.shape[0], *(x.shape[1],) * (m + 1))) for _ in range(2))
        value[:, *index], error[:, *index] = entries, errors
    return value


def _value(text: str, x: Array, c: Array) -> Array:
    """The function at points of a batch, each with the parameters of its batch entry."""
    return evaluate(text, [x, *[c[:, k].reshape(-1, *[1] * (x.ndim - 1)) for k in range(c.shape[1])]])


def _integrals(corners: Array, c: Array, order: int, text: str) -> tuple[Array, Array]:
    """The integral of the derivative over the simplex with these corners, and a bound of its error."""
    derivative = nth_derivative(text, order)
    if derivative is None or not corners.size:
        return np.zeros(len(corners)), np.zeros(len(corners))
    coarse, fine = (_rule(order, count) for count in _NODES.get(order, _NODES_BEYOND))
    step = max(1, _AT_ONCE // len(fine[1]))
    found, bounds = [], []
    for start in range(0, len(corners), step):
        some, parameters = corners[start : start + step], c[start : start + step]
        rough, sharp = (_value(derivative, some @ nodes.T, parameters) @ weights for nodes, weights in (coarse, fine))
        equal = some[:, 0] == some[:, -1]
        at = _value(derivative, some[:, :1], parameters)[:, 0] / factorial(order)
        found.append(np.where(equal, at, sharp))
        bounds.append(np.where(equal, _EPS * np.abs(at), np.abs(sharp - rough) + 4 * _EPS * np.abs(sharp)))
    return np.concatenate(found), np.concatenate(bounds)


@cache
def _rule(order: int, count: int) -> tuple[Array, Array]:
    """Nodes (barycentric coordinates) and weights on the simplex: Gauss-Legendre in coordinates that collapse it."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes, weights = (nodes + 1) / 2, weights / 2
    grid = np.stack(np.meshgrid(*[nodes] * order, indexing="ij"), axis=-1).reshape(-1, order)
    weight = np.stack(np.meshgrid(*[weights] * order, indexing="ij"), axis=-1).reshape(-1, order).prod(axis=-1)
    running = np.cumprod(grid, axis=1)
    lead = np.concatenate([np.ones((len(grid), 1)), running], axis=1)
    coordinates = np.concatenate([lead[:, :-1] - lead[:, 1:], lead[:, -1:]], axis=1)
    jacobian = np.prod(grid ** np.arange(order - 1, -1, -1), axis=1)
    return coordinates, weight * jacobian
