"""A claimed derivative against an estimate, entry by entry: right, wrong or undecided.

Owns the tolerance and the verdict on an entry. Imports the estimate. Invariant: a tolerance comes from the error of
the estimate, the rounding unit, and how much the claim itself changes a few units in the last place away (its
conditioning); never from the number of entries. Where it is not small against the derivative, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

import numpy as np

from einsumad.testing.oracles.estimate import Estimate
from einsumad.testing.point import Array

KinkPolicy = Literal["skip", "one-sided", "convention"]
KINK_POLICIES = ("skip", "one-sided", "convention")

_ESTIMATE = 10.0
_SPREAD = 32.0
_ROUNDING = 512.0
_DOUBLE = float(np.finfo(float).eps)
_HIDDEN = float(np.sqrt(_DOUBLE))
_UNDERFLOW = 16 * float(np.finfo(float).tiny)
_CANCELLATION = 64.0
_SMALL = 0.05
_FRACTION = 65536.0
_ZERO = 256.0
_GRAINS = 16.0
_KNOWN = 1e-6
_NEARLY = 0.999
_LARGEST = {float(np.finfo(dtype).eps): float(np.finfo(dtype).max) for dtype in (np.float16, np.float32, np.float64)}
_OUTSIDE = 0.25


@dataclass(frozen=True)
class Claimed:
    """Claimed values, how much rounding may have changed them, and the rounding unit of their dtype.

    The spread takes many evaluations to measure, and is asked for only where values are off.
    """

    value: Array
    measure: Callable[[], Array]
    unit: float

    @cached_property
    def spread(self) -> Array:
        """How much rounding may have changed each value; zero where that could not be measured."""
        return np.nan_to_num(self.measure(), nan=0.0, posinf=0.0)


@dataclass(frozen=True)
class Comparison:
    """Arrays of one shape: what was found and expected, its error, the tolerance, and the verdict on each entry."""

    found: Array
    expected: Array
    error: Array
    tolerance: Array
    wrong: Array
    undecided: Array
    kink: Array
    oracle: Array

    def reshaped(self, shape: tuple[int, ...]) -> Comparison:
        """The same with another shape."""
        return Comparison(*[getattr(self, field.name).reshape(shape) for field in fields(self)])

    @property
    def worst(self) -> int:
        """The flat position of the entry that fails by most, in units of its tolerance."""
        with np.errstate(all="ignore"):
            excess = np.abs(self.found - self.expected) / np.maximum(self.tolerance, np.finfo(float).tiny)
        excess = np.where(np.isfinite(excess), excess, np.finfo(float).max)
        return int(np.argmax(np.where(self.wrong, excess, -1.0)))


def stacked(columns: list[Comparison]) -> Comparison:
    """Comparisons of equal shapes along a new last axis."""
    return Comparison(*[np.stack([getattr(c, f.name) for c in columns], axis=-1) for f in fields(Comparison)])


@dataclass(frozen=True, slots=True)
class Scales:
    """What an error of each entry is measured by.

    `typical` is the size that entries usually have, `magnitude` that of the terms whose rounding they inherit; what is
    known to be less than the part `zero` of these, or than their rounding, is zero. `terms` is the size of those that
    the function is the small difference of, as its noise tells: the claim may be the small difference of them too.
    """

    typical: Array
    magnitude: Array
    zero: float = 0.0
    terms: Array | float = 0.0

    @property
    def largest(self) -> Array:
        """The larger of the two sizes."""
        return np.maximum(self.typical, self.magnitude)


def compare(
    claimed: Claimed,
    estimate: Estimate,
    scales: Scales,
    *,
    kink: KinkPolicy = "skip",
    convention: Array | None = None,
    relative: float = 0.0,
    length: float = 1.0,
) -> Comparison:
    """The verdicts on the entries of one direction.

    Along a single entry of the point, `length` is that of the direction: claims were multiplied by it. Entries at kinks
    are skipped, or have to lie between the one-sided derivatives, or have to be those of a convention.
    """
    found, expected = claimed.value, estimate.value
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(expected), np.where(np.isfinite(found), np.abs(found), 0.0))
        rounding = (max(_ROUNDING * claimed.unit, _HIDDEN) + relative) * size
        rounding += _CANCELLATION * claimed.unit * (scales.largest + scales.terms)
        tolerance = _ESTIMATE * estimate.error + rounding
        gap = np.abs(found - expected)
        if np.any(~(gap <= tolerance) & np.isfinite(tolerance)):
            tolerance = tolerance + _SPREAD * claimed.spread
        telling = _telling(claimed, estimate, scales, tolerance - relative * size, size)
        inside = gap <= np.maximum(tolerance, _UNDERFLOW)
        inside |= _overflows(found, expected, length, claimed.unit) & (tolerance <= _SMALL * size)
        wrong = ~inside & np.isfinite(tolerance) & (np.isfinite(found) | telling) & estimate.excludes(found)
        undecided = ~wrong & (~telling | ~inside | ((gap > tolerance) & (gap <= _UNDERFLOW)))
    if estimate.kink.any():
        at_kink = _at_kinks(claimed, estimate, rounding, kink, convention)
        wrong, undecided, expected, tolerance = (
            np.where(estimate.kink, special, usual)
            for special, usual in zip(at_kink, (wrong, undecided, expected, tolerance), strict=True)
        )
    names = np.array([*estimate.oracles])[estimate.which]
    return Comparison(found, expected, estimate.error, tolerance, wrong, undecided, estimate.kink, names)


def _telling(claimed: Claimed, estimate: Estimate, scales: Scales, tolerance: Array, size: Array) -> Array:
    """Where the tolerance is small enough for a verdict: against the derivative, or against the scales of a zero."""
    found, expected = claimed.value, estimate.value
    grain = claimed.unit * scales.largest
    vanishes = np.abs(expected) <= _ESTIMATE * estimate.error + _CANCELLATION * grain
    vanishes &= ~(np.abs(found) > _GRAINS * grain) | ~np.isfinite(found)
    telling = (tolerance <= _SMALL * size) | ((found == expected) & (tolerance <= _UNDERFLOW))
    telling |= vanishes & (
        tolerance <= max(_FRACTION * _DOUBLE, _ROUNDING * claimed.unit / 2, scales.zero) * scales.largest
    )
    known: Array = telling | (~np.isfinite(found) & (tolerance <= _KNOWN * scales.largest))
    return known


def _overflows(found: Array, expected: Array, length: float, unit: float) -> Array:
    """Where a claim is infinite with the sign of what is expected, which is too large for its dtype."""
    largest = _LARGEST.get(unit, float(np.finfo(float).max))
    beyond = np.abs(expected) / abs(length) >= _NEARLY * largest
    overflows: Array = np.isinf(found) & (np.sign(found) == np.sign(expected)) & beyond
    return overflows


def _at_kinks(
    claimed: Claimed, estimate: Estimate, rounding: Array, kink: KinkPolicy, convention: Array | None
) -> tuple[Array, Array, Array, Array]:
    """What is wrong, undecided and expected at kinks, and the tolerance.

    Under every policy a value far outside of the one-sided derivatives is wrong: it is no derivative by any convention.
    """
    found = claimed.value
    low, high = np.minimum(estimate.left, estimate.right), np.maximum(estimate.left, estimate.right)
    margin = _ESTIMATE * estimate.side_error + rounding
    with np.errstate(all="ignore"):
        nearest = np.clip(found, low, high)
        if kink == "convention" and convention is not None:
            nothing = np.zeros(found.shape, bool)
            return ~(np.abs(found - convention) <= margin), nothing, convention, margin
        if kink == "skip":
            margin = margin + _OUTSIDE * (high - low)
            outside = np.abs(found - nearest) > margin
            return outside, ~outside, nearest, margin
        return ~(np.abs(found - nearest) <= margin), np.zeros(found.shape, bool), nearest, margin
