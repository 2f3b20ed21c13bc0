"""The derivative of a subject along a direction, from the most exact oracle that may be believed.

Owns the choice among oracles. Imports all of them. Invariant: differences are always taken; a more exact oracle
replaces them, entry by entry, only where both agree and the differences are precise enough to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from einsumad.testing.oracles.complex_step import complex_step
from einsumad.testing.oracles.differences import Line, differentiate
from einsumad.testing.oracles.estimate import Estimate, refine
from einsumad.testing.oracles.noise import noise_of
from einsumad.testing.oracles.polynomial import exact_derivative, is_whole
from einsumad.testing.point import Array
from einsumad.testing.subject import Subject

COMPLEX_STEP, EXACT, DIFFERENCES = "complex step", "whole-number differences", "differences"
ORACLES = (COMPLEX_STEP, EXACT, DIFFERENCES)

_SHARE = 0.1
_SURE = 1e-6
_TELLING = 0.1
_COARSE = 3.0
"""Rounding to single precision is a staircase that steps can meet at one phase: worse than noise of its size."""
_DIRECTIONS = 2
_WOBBLES = 2
_WOBBLE = 2.0**-44
_UNIT = float(np.finfo(float).eps)
_TOGETHER = 100_000


@dataclass(frozen=True)
class Surroundings:
    """A subject at a point with what is measured there once: noise, nearby points, the scale of each entry.

    `natural` is the size of the terms that an entry of the value may be the small difference of, if it is more than the
    entry itself: for a derivative, the size of the function over the scales of its arguments.
    """

    subject: Subject
    at: Array
    seed: int = 0
    oracles: tuple[str, ...] = ORACLES
    move: Callable[[Array, Array], Array] = np.add
    flat: bool = True
    natural: Array | None = None

    @cached_property
    def scales(self) -> Array:
        """How far each entry may move: its own size, or one where it is zero."""
        return np.where(self.at == 0, 1.0, np.abs(self.at))

    @cached_property
    def value(self) -> Array:
        """The value at the point."""
        return self.subject.flat(self.at)

    @cached_property
    def _random(self) -> tuple[Array, float]:
        rng = np.random.default_rng(self.seed)
        shape = (_DIRECTIONS, self.at.size)
        return rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape), rng.uniform(1, 2)

    @property
    def everywhere(self) -> Array:
        """A direction through all entries."""
        direction: Array = self._random[0][0] * self.scales
        return direction

    @cached_property
    def noise(self) -> Array:
        """The uncertainty of each entry of the value."""
        directions = [row * self.scales for row in self._random[0]]
        measured = noise_of(self.subject.flat, self.at, directions, self._epsilon, _UNIT)
        return np.fmax(measured, self._epsilon * self.magnitude)

    @property
    def _epsilon(self) -> float:
        return float(np.finfo(self.subject.wide_output.dtype).eps)

    @property
    def terms(self) -> Array:
        """The size of the terms that each entry of the value is the small difference of, as its noise tells."""
        return self.noise / (2 * self._epsilon)

    @cached_property
    def magnitude(self) -> Array:
        """The size of each entry of the value or of the terms in it; a zero may be the difference of larger numbers."""
        size = np.abs(self.value) if self.natural is None else np.fmax(np.abs(self.value), self.natural)
        size = np.where(np.isfinite(size), size, 0.0)
        return np.where(size == 0, np.max(size, initial=0.0) or 1.0, size)

    @cached_property
    def wobbles(self) -> tuple[Array, ...]:
        """Points very near, at a relative distance that rounding inside the function does not hide."""
        return tuple([self.at * (1 + _WOBBLE * row) for row in self._random[0][:_WOBBLES]])

    def line(self, direction: Array) -> Line:
        """The values along a direction."""
        return lambda t: self.subject.flat(self.move(self.at, t * direction))

    @cached_property
    def size(self) -> float:
        """The largest entry of the value."""
        return float(np.max(np.abs(self.value), initial=0.0, where=np.isfinite(self.value)))

    def along(self, directions: Sequence[Array], order: int = 1) -> list[Estimate]:
        """The derivatives of that order along directions which move each entry by about its scale or less."""
        lines = [self.line(direction) for direction in directions]
        together = max(1, _TOGETHER // max(1, self.value.size))
        found: list[Estimate] = []
        for k in range(0, len(lines), together):
            some = lines[k : k + together]
            found += differentiate(
                some,
                self.value,
                self.noise,
                order,
                jitter=self._random[1],
                typical=self.size,
                coarse=self.subject.single,
            )
        if self.subject.single:
            found = [replace(e, error=_COARSE * e.error, side_error=_COARSE * e.side_error) for e in found]
        return [self._refined(*each, order) for each in zip(found, directions, lines, strict=True)]

    def _refined(self, found: Estimate, direction: Array, line: Line, order: int) -> Estimate:
        """The estimate by differences with the more exact ones where they are confirmed."""
        if not self.flat:
            return found
        if EXACT in self.oracles and is_whole(self.at) and is_whole(direction):
            found = _sharpen(found, exact_derivative(line, self.value, order), whole=self.size)
        if COMPLEX_STEP in self.oracles and order == 1 and not self.subject.single and np.any(found.error > 0):
            found = _sharpen(found, complex_step(self.subject, self.at, direction, self.wobbles, self.noise))
        return found


def _sharpen(rough: Estimate, exact: Estimate | None, *, whole: float = 0.0) -> Estimate:
    """The more exact values where the rough ones agree: so sure of them as the two are close.

    What is right for analytic functions, or for polynomials, is a little off for others. The gap to the rough value is
    the true error of one of the two; that it may be small by accident is what the share of the rough error is for. Of
    differences at whole numbers, of a function of size `whole`, none is near by accident.
    """
    if exact is None:
        return rough
    with np.errstate(all="ignore"):
        gap = np.abs(exact.value - rough.value)
        error = np.fmax(np.fmax(exact.error, gap), _SHARE * rough.error)
        error = np.where(rough.error <= _TELLING * (np.abs(rough.value) + np.abs(exact.value)), error, rough.error)
        if whole:
            sure = np.fmax(gap, rough.error) <= _SURE * np.fmax(np.abs(exact.value), 1e-3 * whole)
            error = np.where(sure, exact.error, error)
    return refine(rough, replace(exact, error=error), (error < rough.error) & ~rough.kink)
