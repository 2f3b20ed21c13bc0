"""What the first derivative of a subject has to be along a set of directions.

Owns the choice of directions and the estimates along them. Imports the oracles and the settings. Invariant: each
direction moves every entry by about its own size or less; up to ``settings.entries`` entries of the point each has a
direction of its own, of more a sample has, and some directions go through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from einsumad.testing.checks.settings import Settings
from einsumad.testing.comparison import Claimed, Comparison, Scales, compare
from einsumad.testing.manifolds import manifolds_of
from einsumad.testing.oracles.along import DIFFERENCES, ORACLES, Surroundings
from einsumad.testing.oracles.estimate import Estimate, single
from einsumad.testing.point import Array, Point
from einsumad.testing.subject import Subject

_SAMPLE = 12
_ON_MANIFOLD = 1e-4


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction, and the entry of the point that it is along, if it is along one.

    On a manifold it is the tangent that the direction along the entry `source`, of length `length`, projects to.
    """

    vector: Array
    entry: int | None
    label: str
    source: int | None = None
    length: float = 1.0


@dataclass(frozen=True)
class Expectation:
    """Estimates along directions.

    `scales` has one for each entry of the value.
    """

    surroundings: Surroundings
    settings: Settings
    directions: tuple[Direction, ...]
    estimates: tuple[Estimate, ...]
    scales: Scales

    @property
    def point(self) -> Point:
        """The point it belongs to."""
        return self.surroundings.subject.point


def natural_derivative(call_value: Array, base_scales: Array, order: int) -> Array:
    """The natural size of the derivative of that order: that of the value over the scales of the arguments."""
    size = np.where(np.isfinite(call_value), np.abs(call_value), 0.0)
    for _ in range(order):
        size = np.multiply.outer(size, 1 / base_scales)
    return size.reshape(-1)


def surroundings_of(subject: Subject, settings: Settings, natural: Array | None = None) -> Surroundings:
    """The surroundings of the subject's point, on the manifold of the settings."""
    oracles = ORACLES if settings.against == "auto" or settings.against not in ORACLES else (str(settings.against),)
    base = Surroundings(subject, subject.point.vector, settings.seed, oracles, natural=natural)
    if settings.manifold is None:
        return base
    kinds = manifolds_of(settings.manifold, len(subject.point.arrays))
    for name, array, kind in zip(subject.point.names, subject.point.arrays, kinds, strict=True):
        if kind.distance(array.astype(np.result_type(array, np.float64))) > _ON_MANIFOLD:
            raise ValueError(f"{name} is not on the manifold {kind.name!r}: pass a point of it, or another manifold")

    def move(at: Array, tangent: Array) -> Array:
        return _each(subject.point, [kind.move for kind in kinds], at, tangent)

    return replace(base, move=move, flat=all(kind.flat for kind in kinds))


def _each(point: Point, maps: Sequence[Callable[[Array, Array], Array]], at: Array, vector: Array) -> Array:
    """The maps of manifolds applied to the arrays of the point."""
    triples = zip(maps, point.split(at), point.split(vector), strict=True)
    return point.join([act(np.asarray(x), np.asarray(v)) for act, x, v in triples])


def tangent(base: Surroundings, settings: Settings, vector: Array) -> Array:
    """The tangent of the manifold next to a direction."""
    if settings.manifold is None:
        return vector
    point = base.subject.point
    kinds = manifolds_of(settings.manifold, len(point.arrays))
    return _each(point, [kind.project for kind in kinds], base.at, vector)


def directions_of(base: Surroundings, settings: Settings) -> tuple[Direction, ...]:
    """The directions to compare along."""
    size = base.at.size
    rng = np.random.default_rng([settings.seed, 1])
    chosen = (
        np.arange(size) if size <= settings.entries else np.sort(rng.choice(size, min(size, _SAMPLE), replace=False))
    )
    found = [along_entry(base, int(entry)) for entry in chosen]
    if size > settings.entries or settings.manifold is not None:
        found += [Direction(random_vector(base, rng), None, "a random direction") for _ in range(settings.directions)]
    if settings.manifold is None:
        return tuple(found)
    tangents = [_projected(d, tangent(base, settings, d.vector)) for d in found]
    return tuple([t for t, d in zip(tangents, found, strict=True) if _long(t.vector, d.vector)])


def _projected(direction: Direction, tangent: Array) -> Direction:
    length = 1.0 if direction.entry is None else float(direction.vector[direction.entry])
    return replace(direction, vector=tangent, entry=None, source=direction.entry, length=length)


def _long(vector: Array, before: Array) -> bool:
    return float(np.max(np.abs(vector), initial=0.0)) > 1e-6 * float(np.max(np.abs(before), initial=0.0))


def along_entry(base: Surroundings, entry: int) -> Direction:
    """The direction along one entry, as long as the entry is large, up or down by turns."""
    vector = np.zeros(base.at.size)
    vector[entry] = base.scales[entry] * (-1) ** ((entry + base.seed) % 2)
    return Direction(vector, entry, base.subject.point.locate(entry))


def random_vector(base: Surroundings, rng: np.random.Generator) -> Array:
    """A direction through all entries, each moved by about its scale, with random signs."""
    size = base.at.size
    vector: Array = base.scales * rng.uniform(0.25, 1.0, size) * rng.choice([-1.0, 1.0], size)
    return vector


def expect(base: Surroundings, settings: Settings, directions: tuple[Direction, ...]) -> Expectation:
    """The estimates along all directions, by the oracles."""
    estimates = base.along([direction.vector for direction in directions])
    return _gathered(base, settings, directions, estimates)


def expect_matrix(
    base: Surroundings, settings: Settings, directions: tuple[Direction, ...], right: Claimed, name: str
) -> Expectation:
    """The estimates along all directions, from a derivative that is known."""
    estimates = []
    for direction in directions:
        along = claimed_along(right, direction)
        estimates.append(single(along.value, along.spread + 64 * along.unit * np.abs(along.value), name))
    return _gathered(base, settings, directions, estimates)


def _gathered(
    base: Surroundings, settings: Settings, directions: tuple[Direction, ...], estimates: list[Estimate]
) -> Expectation:
    values = base.value if base.value.size else np.zeros(base.subject.flat_size)
    typical = 1e-3 * np.where(np.isfinite(values), np.abs(values), 0.0)
    for estimate in estimates:
        with np.errstate(all="ignore"):
            sure = estimate.error <= 0.1 * np.abs(estimate.value)
        typical = np.maximum(typical, np.where(sure, np.abs(estimate.value), 0.0))
    for direction, estimate in zip(directions, estimates, strict=True):
        with np.errstate(all="ignore"):
            vague = (estimate.error > 1e-3 * np.abs(estimate.value)) & (estimate.error > 1e-8 * typical) | (
                typical == 0
            )
        if vague.any():
            typical = np.maximum(typical, _secant(base, direction.vector))
            vague_still = vague & (estimate.error > 1e-8 * typical) | (typical == 0)
            typical = np.maximum(typical, _secant(base, base.everywhere)) if vague_still.any() else typical
    scales = Scales(typical, base.magnitude, terms=base.terms)
    return Expectation(base, settings, directions, tuple(estimates), scales)


def _secant(base: Surroundings, direction: Array) -> Array:
    """How much each entry of the value changes over half a unit of the direction: the size of a usual derivative."""
    line = base.line(direction)
    with np.errstate(all="ignore"):
        change = np.fmax(np.abs(line(0.5) - base.value), np.abs(line(-0.5) - base.value))
    return np.where(np.isfinite(change), change, 0.0)


def claimed_along(claimed: Claimed, direction: Direction) -> Claimed:
    """A claimed matrix applied to a direction."""
    if direction.entry is not None:
        length = direction.vector[direction.entry]
        column = claimed.value[:, direction.entry] * length
        return Claimed(column, lambda: claimed.spread[:, direction.entry] * abs(length), claimed.unit)
    with np.errstate(all="ignore"):
        value = claimed.value @ direction.vector
    return Claimed(value, lambda: claimed.spread @ np.abs(direction.vector), claimed.unit)


def judge(expectation: Expectation, index: int, claimed: Claimed, convention: Claimed | None = None) -> Comparison:
    """What is claimed along one direction against what is expected there."""
    settings, estimate = expectation.settings, expectation.estimates[index]
    direction = expectation.directions[index]
    usual = None if convention is None else claimed_along(convention, direction).value
    if DIFFERENCES not in expectation.surroundings.oracles:
        rough = estimate.which == 0
        estimate = replace(estimate, error=np.where(rough, np.inf, estimate.error))
    return compare(
        claimed,
        estimate,
        expectation.scales,
        kink=settings.kink,
        convention=usual,
        relative=settings.relative,
        length=1.0 if direction.entry is None else float(direction.vector[direction.entry]),
    )
