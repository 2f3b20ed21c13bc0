"""Calculus on samples: gradient, trapezoid, interp, unwrap.

Owns these functions. Imports the surface. Invariant: all samples, spacings and places may be traced.

``np.interp`` has at a knot the derivative from the right, that of the interval which NumPy reads there; it is 0 at the
last knot, behind which the function is constant.
"""

# ruff: noqa: PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import tensor
from einsumad.frontend.registry import implements
from einsumad.frontend.tensor import Tensor
from einsumad.graph import BOOL, Node


def _run(x: Any, axis: int, start: int | None, stop: int | None) -> Any:
    """The entries of an axis from start to stop."""
    part: Any = x[(*[slice(None)] * axis, slice(start, stop))]
    return part


@implements(np.trapezoid)
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Node:
    values = tensor(y)
    place = normalize_axis_index(axis, values.ndim)
    width = dx
    if x is not None:
        at = tensor(x)
        width = np.diff(at, axis=-1 if at.ndim == 1 else axis)
        if at.ndim == 1:
            width = np.reshape(width, [-1 if k == place else 1 for k in range(values.ndim)])
    return as_node(np.sum(width * (_run(values, place, 1, None) + _run(values, place, None, -1)) / 2.0, axis))


@implements(np.gradient)
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Node | tuple[Node, ...]:
    values = tensor(f)
    if values.dtype == BOOL:
        raise TypeError("numpy.gradient of truth values is not supported, as they have no differences: convert them")
    if values.dtype.kind != "f":
        values = tensor(values, np.float64)
    axes = tuple(range(values.ndim)) if axis is None else normalize_axis_tuple(axis, values.ndim)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    parts = []
    for place, spacing in zip(axes, _spacings(varargs, values, axes), strict=True):
        if values.shape[place] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required."
            )
        parts.append(as_node(tensor(_slopes(values, place, spacing, edge_order), values.dtype)))
    return parts[0] if len(parts) == 1 else tuple(parts)


def _spacings(given: tuple[Any, ...], values: Any, axes: tuple[int, ...]) -> list[Any]:
    """For each axis the distance of neighbours, a number or one for each pair."""
    if not given:
        return [1.0] * len(axes)
    if len(given) == 1 and np.ndim(given[0]) == 0:
        return list(given) * len(axes)
    if len(given) != len(axes):
        raise TypeError("invalid number of arguments")
    spacings: list[Any] = []
    for place, coordinates in zip(axes, given, strict=True):
        if np.ndim(coordinates) == 0:
            spacings.append(coordinates)
            continue
        if np.ndim(coordinates) != 1:
            raise ValueError("distances must be either scalars or 1d")
        if np.shape(coordinates)[0] != values.shape[place]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        along = tensor(coordinates)
        spacings.append(np.diff(tensor(along, np.float64) if along.dtype.kind != "f" else along))
    return spacings


def _slopes(f: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    """Differences of second order inside, and of the order asked for at both ends."""
    size = f.shape[axis]
    uniform = np.ndim(spacing) == 0
    if uniform:
        inside = (_run(f, axis, 2, None) - _run(f, axis, None, -2)) / (2.0 * spacing)
    else:
        a, b = (np.reshape(s, [-1 if k == axis else 1 for k in range(f.ndim)]) for s in (spacing[:-1], spacing[1:]))
        inside = (
            -b / (a * (a + b)) * _run(f, axis, None, -2)
            + (b - a) / (a * b) * _run(f, axis, 1, -1)
            + a / (b * (a + b)) * _run(f, axis, 2, None)
        )
    ends = []
    for sign, start in ((1, 0), (-1, size - 1)):
        here, near = (_run(f, axis, k, k + 1) for k in (start, start + sign))
        first = spacing if uniform else spacing[min(start, size - 2)]
        if edge_order == 1:
            ends.append((near - here) * sign / first)
            continue
        far = _run(f, axis, start + 2 * sign, start + 2 * sign + 1)
        second = spacing if uniform else spacing[min(start, size - 2) + sign]
        both = first + second
        slope = (-(first + both) / (first * both)) * here + both / (first * second) * near
        ends.append(sign * (slope - first / (second * both) * far))
    joined: Any = np.concatenate([ends[0], inside, ends[1]], axis)
    return joined


@implements(np.interp)
def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Node:
    at, knots, values = (tensor(v, np.float64) for v in (x, xp, fp))
    if knots.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if knots.shape != values.shape:
        raise ValueError("fp and xp are not of the same length")
    if not knots.size:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if not isinstance(period, Tensor) and period == 0:
            raise ValueError("period must be a non-zero value")
        length = np.abs(period)
        at, knots, left, right = at % length, knots % length, None, None
        order = np.argsort(knots)
        knots, values = knots[order], values[order]
        knots = np.concatenate([knots[-1:] - length, knots, knots[:1] + length])
        values = np.concatenate([values[-1:], values, values[:1]])
    inside = _between(at, knots, values) if knots.size > 1 else values[0]
    before = values[0] if left is None else left
    behind = values[-1] if right is None else right
    inside = np.where(np.isnan(at), np.nan, np.where(at == knots[-1], values[-1], inside))
    return as_node(tensor(np.where(at < knots[0], before, np.where(at > knots[-1], behind, inside)), np.float64))


def _between(at: Any, knots: Any, values: Any) -> Any:
    """The line through the two knots around each place; a knot's own value where that line is not finite."""
    place = np.clip(np.searchsorted(knots, at, "right") - 1, 0, knots.size - 2)
    start, end = knots[place], knots[place + 1]
    low, high = values[place], values[place + 1]
    slope = (high - low) / (end - start)
    line = slope * (at - start) + low
    line = np.where(np.isnan(line), slope * (at - end) + high, line)
    line = np.where(np.logical_and(np.isnan(line), low == high), low, line)
    found: Any = np.where(np.logical_and(at == start, ~np.isfinite(slope)), low, line)
    return found


@implements(np.unwrap)
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * pi) -> Node:
    phases = tensor(p)
    place = normalize_axis_index(axis, phases.ndim)
    steps = np.diff(phases, axis=place)
    jump = period / 2 if discont is None else discont
    dtype = np.result_type(steps.dtype, period.dtype if isinstance(period, Tensor) else period)
    if dtype.kind in "iu":
        high, rest = np.divmod(period, 2)
        ambiguous = bool(rest == 0)
    else:
        high, ambiguous = period / 2, True
    wrapped = np.mod(steps + high, period) - high
    if ambiguous:
        wrapped = np.where(np.logical_and(wrapped == -high, steps > 0), high, wrapped)
    turns = (wrapped - steps) // period if dtype.kind in "iu" else np.rint((wrapped - steps) / period)
    turns = np.where(np.abs(steps) < jump, 0, turns)
    corrected = _run(phases, place, 1, None) + np.cumsum(turns * period, place)
    return as_node(tensor(np.concatenate([_run(phases, place, None, 1), corrected], place), dtype))
