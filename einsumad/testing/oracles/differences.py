"""Derivatives of a line by differences at adaptive steps, with an error estimate and the one-sided derivatives.

Owns the choice of the step. Imports stencils and the estimate. Invariant: the error of an entry bounds the change
between a formula and the next shorter one, the gap between the one-sided derivatives, and the noise of the values over
the step; so a kink, a jump or too long a step shows as a large error and never as a wrong value with a small one.

Per step h nine values at 0, ±h, ±2h, ±4h, ±8h give the two-sided formula, the shorter one without ±8h, and the
one-sided formulas. Every entry takes the step with its least error. (Five-point and longer formulas: Fornberg 1988;
steps against noise: J. J. Moré, S. M. Wild, *Estimating derivatives of noisy simulations*, ACM TOMS 38, 2012.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from einsumad.testing.oracles.estimate import Estimate
from einsumad.testing.oracles.stencils import weights

Array = np.ndarray[Any, Any]
Line = Callable[[float], Array]

_LEVELS = 6
_FIRST = {1: -6, 2: -4, 3: -2}
_NEXT = {1: (-2, 6, -12, -18, -24, -30, -9, -15, -21), 2: (-10, 2, -16, -22, -7, -13), 3: (-8, 4, -14, -5)}
_TARGET = {1: 1e-9, 2: 1e-7, 3: 1e-4}
_TWO_SIDED = (-8, -4, -2, -1, 0, 1, 2, 4, 8)
_SHORTER = (-4, -2, -1, 0, 1, 2, 4)
_RIGHT = (0, 1, 2, 4, 8)
_SHORT_RIGHT = (0, 1, 2, 4)
_KINK = 1e-5
_KINK_DOUBT = 1e-3
_MARGIN = 5.0
_AMPLITUDE = 1e-3
_SHORT = {1: (2.0**-22, 2.0**-31), 2: (2.0**-10, 2.0**-15), 3: (2.0**-7,)}
_SHORT_NODES = {1: (-1, 1), 2: (-1, 1), 3: (-2, -1, 1, 2)}
_ROUNDINGS = {1: 4.0, 2: 8.0, 3: 8.0}
_VAGUE = 1e-4
_HARDLY = 1e-10
_GOLDEN = 0.6180339887498949
_ROUNDED = 1e-12
_JUMPS = 0.01
_NOISY = 0.01
_STILL = 32.0
_FAR = (-8.0, -1.0, 1.0, 8.0)
_STAIR = 1e-6
_LOST = 100.0
_LONG = 1 / 16
_WHOLE = 1e-3
_SLOW = 3.0
_SLOPE = 0.1
_GOOD = 1e-4
_PATIENCE = 1e3
_UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class _Block:
    """Estimates for each step of a block: axes step, entry."""

    value: Array
    error: Array
    left: Array
    right: Array
    side_error: Array
    still: Array
    bordered: Array
    quantum: Array
    change: Array
    size: Array
    step: Array

    def columns(self, kept: Array) -> _Block:
        """The same of some entries."""
        return self.mapped(lambda part: part[:, kept] if part.ndim > 1 else part)

    def mapped(self, act: Callable[[Array], Array]) -> _Block:
        """The same with each array replaced."""
        return _Block(**{field.name: act(getattr(self, field.name)) for field in fields(self)})


def differentiate(
    lines: Sequence[Line],
    at_zero: Array,
    noise: Array,
    order: int,
    *,
    jitter: float = 1.0,
    typical: float = 0.0,
    coarse: bool = False,
) -> list[Estimate]:
    """The derivatives of that order, 1 to 3, of each ``t -> line(t)`` at 0, where they all have the same value.

    A line varies over t of the size of one. `noise` is the uncertainty of each entry of the values. `jitter`, from 1 to
    2, keeps the steps off the periods of periodic functions. `typical` is the size that entries of the derivative
    usually have: those that are much smaller need not be known as well. Where values are `coarse` short steps tell
    nothing, and long ones are believed only up to where they stop to resolve the function. Lines that are known well
    enough after some steps are not evaluated at others.
    """
    found: dict[int, Estimate] = {}
    open_lines = list(range(len(lines)))
    blocks: list[_Block] = []
    target = _TARGET[order]
    short = _short_steps(lines, at_zero, noise, order, jitter)
    awake = np.zeros((len(lines), at_zero.size), bool)
    for turn, exponent in enumerate((_FIRST[order], *_NEXT[order])):
        longest = (1 + (jitter + turn * _GOLDEN) % 1) * 2.0**exponent
        blocks.append(_block([lines[k] for k in open_lines], at_zero, noise, order, longest))
        slope, doubt = (part[open_lines].reshape(-1) for part in short)
        best = _best(blocks, np.tile(noise, len(open_lines)), coarse=coarse)
        if order > 1:
            best = replace(best, short=slope, doubt=doubt)
        precise = best.error <= target * (np.abs(best.value) + 1e-3 * typical) + np.finfo(float).tiny
        still: Array = np.all(np.concatenate([block.still for block in blocks]), axis=0)
        if turn == 0 and still.any():
            awake = _awake(lines, at_zero, jitter)
        precise &= ~(still & awake[open_lines].reshape(-1))
        with np.errstate(all="ignore"):
            precise &= ~(np.abs(best.value - slope) > _MARGIN * best.error + doubt)
        done: Array = np.all(precise.reshape(len(open_lines), at_zero.size), axis=1)
        found.update(zip(open_lines, best.divided(len(open_lines)), strict=True))
        kept = np.repeat(~done, at_zero.size)
        blocks = [block.columns(kept) for block in blocks]
        open_lines = [k for k, finished in zip(open_lines, done, strict=True) if not finished]
        if not open_lines:
            break
        target = min(target * _PATIENCE, _GOOD)
    return [found[k] for k in range(len(lines))]


def _awake(lines: Sequence[Line], at_zero: Array, jitter: float) -> Array:
    """Which entries change far away: if they do not nearby, they may be rounded, or constant nearby only."""
    far = [np.stack([line(t * jitter) for line in lines]) for t in _FAR]
    changed: Array = np.any(np.stack(far) != at_zero, axis=0)
    return changed


def _short_steps(lines: Sequence[Line], at_zero: Array, noise: Array, order: int, jitter: float) -> tuple[Array, Array]:
    """Derivatives from short steps of each line, and the doubt about them: the best of a few steps.

    Long steps can all meet a periodic function near the same phase, and agree with each other on a derivative that is
    not there: none that short steps contradict is the last.
    """
    shape = (len(lines), at_zero.size)
    best, doubt = np.zeros(shape), np.full(shape, np.inf)
    for step in _SHORT[order]:
        vague = [int(k) for k in np.flatnonzero(np.any(doubt > _VAGUE * np.abs(best) + noise, axis=1))]
        if not vague:
            break
        with np.errstate(all="ignore"):
            found, error = _short_step([lines[k] for k in vague], at_zero, order, step * (1 + (jitter * _GOLDEN) % 1))
            error += _ROUNDINGS[order] * (noise + _UNIT * np.abs(at_zero)) / step**order + _HARDLY * np.abs(found)
        better = ~(error >= doubt[vague])
        best[vague] = np.where(better, found, best[vague])
        doubt[vague] = np.where(better, error, doubt[vague])
    return best, doubt


def _short_step(lines: Sequence[Line], at_zero: Array, order: int, step: float) -> tuple[Array, Array]:
    """The derivative over a short step, and twice its change to the double step: how far it may be from the limit."""
    nodes = _SHORT_NODES[order]
    found = []
    for h in (step, 2 * step):
        changes = np.stack([np.stack([line(k * h) for line in lines]) - at_zero for k in nodes])
        found.append(np.tensordot(weights((*nodes, 0), order)[:-1], changes, axes=1) / h**order)
    return found[0], 2 * np.abs(found[0] - found[1])


def _block(lines: Sequence[Line], at_zero: Array, noise: Array, order: int, longest: float) -> _Block:
    """Estimates at the steps whose nine values are among those at the longest step and its halves."""
    steps = [longest * 2.0**-k for k in range(_LEVELS)]
    right, left = (np.stack([_side_by_side(lines, sign * step) for step in steps]) for sign in (1, -1))
    at_zero, noise = np.tile(at_zero, len(lines)), np.tile(noise, len(lines))
    rows = []
    with np.errstate(all="ignore"):
        for k in range(_LEVELS - 3):
            values = np.concatenate([left[k : k + 4], at_zero[None], right[k : k + 4][::-1]])
            size = np.fmax.reduce(np.abs(values), axis=0)
            changes = np.abs(np.diff(values, axis=0))
            quantum = np.fmin.reduce(np.where(changes > 0, changes, np.inf), axis=0)
            uncertain = noise + _UNIT * size + np.where(_rounds(changes[:4]) | _rounds(changes[4:]), quantum, 0.0)
            still = np.all(values == at_zero, axis=0)
            uncertain = np.where(still, uncertain / _STILL, uncertain)
            estimates = _formulas(values - at_zero, uncertain, order, steps[k + 3])
            bordered = ~np.all(np.isfinite(values), axis=0)
            change = np.fmax(np.abs(values[0] - at_zero), np.abs(values[-1] - at_zero))
            rows.append((*estimates, still, bordered, quantum, change, size))
    parts = [np.stack(part) for part in zip(*rows, strict=True)]
    names = [field.name for field in fields(_Block)]
    return _Block(**dict(zip(names, [*parts, np.array(steps[3:])], strict=True)))


def _side_by_side(lines: Sequence[Line], t: float) -> Array:
    return np.concatenate([line(t) for line in lines])


def _rounds(changes: Array) -> Array:
    """Whether the values on one side are rounded: some neighbours are equal and some are not."""
    mixed: Array = np.any(changes == 0, axis=0) & np.any(changes > 0, axis=0)
    return mixed


def _formulas(values: Array, noise: Array, order: int, h: float) -> tuple[Array, ...]:
    """Value, error, left and right derivative and their error, from the nine changes around 0 at step h."""
    unit = h**order
    sign = (-1.0) ** order
    value = weights(_TWO_SIDED, order) @ values / unit
    change = np.abs(value - weights(_SHORTER, order) @ values[1:8] / unit)
    right = weights(_RIGHT, order) @ values[4:] / unit
    left = sign * (weights(_RIGHT, order) @ values[4::-1]) / unit
    rounding = noise * (np.sum(np.abs(weights(_RIGHT, order))) / unit)
    right_error = rounding + np.abs(right - weights(_SHORT_RIGHT, order) @ values[4:8] / unit)
    left_error = rounding + np.abs(left - sign * (weights(_SHORT_RIGHT, order) @ values[4:0:-1]) / unit)
    error = change + np.abs(right - left) + rounding
    on_right, on_left = np.isfinite(right), np.isfinite(left)
    if not (on_right.all() and on_left.all()):  # at the border of the domain the one-sided derivative counts
        value = np.where(on_right & on_left, value, np.where(on_right, right, left))
        error = np.where(on_right & on_left, error, np.where(on_right, right_error, left_error))
        left, right = np.where(on_left, left, right), np.where(on_right, right, left)
        left_error, right_error = (
            np.where(on_left, left_error, right_error),
            np.where(on_right, right_error, left_error),
        )
    known = np.isfinite(value) & np.isfinite(error)
    side_error = np.maximum(left_error, right_error)
    return (
        np.where(known, value, np.nan),
        np.where(known, error, np.inf),
        left,
        right,
        np.where(np.isfinite(side_error), side_error, np.inf),
    )


def _best(blocks: list[_Block], noise: Array, *, coarse: bool) -> Estimate:
    """For each entry the step with the least error among those that no shorter step contradicts."""
    names = [field.name for field in fields(_Block)]
    every = _Block(**{name: np.concatenate([getattr(block, name) for block in blocks]) for name in names})
    ascending = np.argsort(every.step)
    every = every.mapped(lambda part: part[ascending])
    trusted = _trusted(every, noise)
    size = np.fmax.reduce(every.size, axis=0)
    noisy = (noise > _NOISY * size) & (size > 0)
    error = np.where(trusted & ~noisy, every.error + _drift(every.value), np.inf)
    error = np.where(_unresolved(error, every.step), np.inf, error) if coarse else error
    side_error = np.where(trusted, every.side_error + np.maximum(_drift(every.left), _drift(every.right)), np.inf)
    columns = np.arange(every.value.shape[1])
    at = np.argmin(_uncontradicted(every.value, error), axis=0)
    on_left = np.argmin(_uncontradicted(every.left, side_error), axis=0)
    on_right = np.argmin(_uncontradicted(every.right, side_error), axis=0)
    best, best_error = every.value[at, columns], error[at, columns]
    best_error = np.maximum(best_error, _conflict(every, error, best, best_error))
    best_error = np.where(every.bordered.all(axis=0), best_error + _from_shortest(every, best), best_error)
    side_error = side_error[on_left, columns] + side_error[on_right, columns]
    left, right = every.left[on_left, columns], every.right[on_right, columns]
    with np.errstate(all="ignore"):
        gap = np.abs(right - left)
        kink = (
            (gap > 10 * side_error) & (gap > _KINK * (np.abs(right) + np.abs(left))) & (best_error > _KINK_DOUBT * gap)
        )
    best_error = np.where(kink, np.maximum(best_error, gap), best_error)
    return Estimate(best, best_error, left, right, side_error, kink, ("differences",), np.zeros(best.shape, int))


def _unresolved(error: Array, step: Array) -> Array:
    """Where the function may be too fast: long steps, and those from the first one on that is far worse than others."""
    with np.errstate(all="ignore"):
        lost = np.isfinite(error) & (error > _LOST * np.minimum.accumulate(error, axis=0))
        lost |= (step > _LONG)[:, None]
    unresolved: Array = np.logical_or.accumulate(lost, axis=0)
    return unresolved


def _drift(value: Array) -> Array:
    """What is left to go when estimates converge slowly with the step: a few times the change from one to the next."""
    with np.errstate(all="ignore"):
        change = np.abs(np.diff(value, axis=0))
        change = np.concatenate([change, change[-1:]])
    return np.where(np.isfinite(change), _SLOW * change, 0.0)


def _trusted(every: _Block, noise: Array) -> Array:
    """Which steps count: none that reach beyond the domain if some do not, and not all where short ones change nothing.

    Where short steps change nothing and long ones do, either the values are rounded, and short steps tell nothing; or
    the function is constant nearby, and long steps tell nothing. The least change decides: about a unit in the last
    place, it is rounded; a good part of the value, it jumps. In between the function is constant nearby if no long
    step resolves a slope, as when all of them meet a kink; else nothing is known.
    """
    still = every.still
    within: Array = ~every.bordered | np.all(every.bordered, axis=0)
    some = still.any(axis=0) & ~still.all(axis=0)
    if not some.any():
        return within
    quantum = np.fmin.reduce(every.quantum, axis=0)
    size = np.max(every.size, axis=0, initial=0.0, where=np.isfinite(every.size))
    stairs = _are_stairs(every, quantum) & (quantum <= _STAIR * np.maximum(size, 1.0))
    rounded = stairs | (quantum <= np.maximum(_ROUNDED * np.maximum(size, 1.0), 8 * noise))
    with np.errstate(all="ignore"):
        slopes = np.any(~still & (every.error <= _SLOPE * np.abs(every.value)), axis=0)
    constant = (quantum >= _JUMPS * size) | ~slopes
    trusted: Array = within & (~some | np.where(rounded, ~still, np.where(constant, still, False)))
    return trusted


def _are_stairs(every: _Block, quantum: Array) -> Array:
    """Whether all values differ by multiples of the least change: they are rounded, or steps of a staircase."""
    with np.errstate(all="ignore"):
        ratio = every.change / quantum
        whole = np.abs(ratio - np.round(ratio)) <= _WHOLE
    stairs: Array = np.all(whole | ~np.isfinite(ratio), axis=0)
    return stairs


def _conflict(every: _Block, error: Array, best: Array, best_error: Array) -> Array:
    """How far steps that exclude the best estimate are from it, unless the function really does vary between them.

    Short steps see an oscillation that long ones skip, and are right; or they see the plateau between two roundings
    of a value, and are wrong. An oscillation has an amplitude to speak of against the values; a rounding has not.
    """
    with np.errstate(all="ignore"):
        distance = np.abs(every.value - best)
        agrees = distance <= _MARGIN * (every.error + best_error)
        sure = np.isfinite(error) & (error <= 0.1 * distance)
        excluded = (distance > _MARGIN * (error + best_error)) & sure
        reach = np.max(np.where(agrees & (every.error <= 0.5 * np.abs(best)), every.step[:, None], 0.0), axis=0)
        farthest = np.max(np.where(excluded, distance, 0.0), axis=0)
        amplitude = farthest * 8 * reach
        size = np.fmax.reduce(every.size, axis=0)
        rounding: Array = np.where(amplitude <= _AMPLITUDE * size, farthest, 0.0)
    return rounding


def _from_shortest(every: _Block, best: Array) -> Array:
    """How far the estimate at the shortest step is: one-sided estimates may converge slowly, or not at all."""
    shortest = np.argmax(np.isfinite(every.value), axis=0)
    with np.errstate(all="ignore"):
        gap = np.abs(every.value[shortest, np.arange(every.value.shape[1])] - best)
    return np.where(np.isfinite(gap), gap, np.inf)


def _uncontradicted(value: Array, error: Array) -> Array:
    """The errors by ascending step, infinite where the interval misses those of all shorter steps.

    A long step can skip many periods of an oscillation and agree with itself; short steps are noisy, and say so.
    """
    low, high = np.full(value.shape[1], -np.inf), np.full(value.shape[1], np.inf)
    kept = np.full(error.shape, np.inf)
    for k in range(len(value)):
        width = np.where(np.isfinite(error[k]), _MARGIN * error[k], np.inf)
        middle = np.where(np.isfinite(error[k]), value[k], 0.0)
        compatible = (middle - width <= high) & (middle + width >= low)
        kept[k] = np.where(compatible, error[k], np.inf)
        low = np.where(compatible, np.maximum(low, middle - width), low)
        high = np.where(compatible, np.minimum(high, middle + width), high)
    return kept
