"""Expectations for second derivatives, from a gradient or from the function alone.

Owns the polarisation of second derivatives. Imports expectations and the oracles. Invariant: with a gradient there is
one difference, of the gradient; without one, ``u' H v = (D²f[u+v, u+v] - D²f[u-v, u-v]) / 4``, both terms second
differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from einsumad.testing.checks.call import Call
from einsumad.testing.checks.claims import parts_of
from einsumad.testing.checks.expectation import (
    Direction,
    Expectation,
    directions_of,
    expect,
    natural_derivative,
    random_vector,
    surroundings_of,
    tangent,
)
from einsumad.testing.comparison import Scales
from einsumad.testing.oracles.along import Surroundings
from einsumad.testing.oracles.estimate import Estimate
from einsumad.testing.point import Array
from einsumad.testing.subject import Subject

_ROWS = 8
_COLUMNS = 4
_TANGENTS = 6
ZERO = 1e-6
"""Of its natural size a second derivative is zero if it is less, as far as differences of the function tell."""


@dataclass(frozen=True, slots=True)
class Form:
    """An estimate of ``u' H v`` for two directions through all entries."""

    left: Array
    right: Direction
    estimate: Estimate


@dataclass(frozen=True)
class Second:
    """Estimates of ``H v`` along directions v, which rows of it they have, and some forms where these are not all."""

    expectation: Expectation
    rows: Array
    forms: tuple[Form, ...] = ()


def gradient_subject(call: Call, gradient: Callable[..., Any]) -> Subject:
    """The gradient as a function of the differentiated arguments: one vector."""

    def flat(*args: Any, **kwargs: Any) -> Array:
        return call.point.join(parts_of(gradient(*args, **kwargs), call.point, "gradient"))

    return call.subject_of(flat, f"the gradient of {call.name}")


def second_of(call: Call, gradient: Callable[..., Any] | None) -> Second:
    """What ``H v`` has to be along the entries of the point, or a sample of them, and some random directions."""
    if gradient is not None:
        subject = gradient_subject(call, gradient)
        plain = surroundings_of(call.subject, call.settings)
        natural = natural_derivative(plain.value, plain.scales, 1)
        base = surroundings_of(subject, call.settings, natural)
        directions = directions_of(base, call.settings)
        return Second(expect(base, call.settings, directions), np.ones(subject.flat_size, bool))
    base = surroundings_of(call.subject, call.settings)
    rng = np.random.default_rng([call.settings.seed, 4])
    if call.settings.manifold is not None:
        nothing = Expectation(base, call.settings, (), (), Scales(np.zeros(base.at.size), base.size / base.scales))
        return Second(nothing, np.ones(base.at.size, bool), _forms(base, _tangent_pairs(base, call, rng)))
    size = base.at.size
    few = replace(call.settings, entries=int(np.sqrt(call.settings.entries)))
    directions = directions_of(base, few)
    if size > few.entries:
        directions = directions[:_COLUMNS] + directions[-call.settings.directions :]
    rows = np.arange(size) if size <= few.entries else np.sort(rng.choice(size, min(size, _ROWS), replace=False))
    second = _by_polarisation(base, call, directions, rows)
    if size <= few.entries:
        return second
    halves = [random_vector(base, rng) / 2 for _ in range(2 * call.settings.directions)]
    return replace(second, forms=_forms(base, list(zip(halves[::2], halves[1::2], strict=True))))


def _tangent_pairs(base: Surroundings, call: Call, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Pairs of tangents: those next to some entries, and random ones that all entries take part in."""
    chosen = rng.choice(base.at.size, min(base.at.size, _TANGENTS), replace=False)
    vectors = [_unit(base, int(entry)) for entry in np.sort(chosen)]
    vectors += [random_vector(base, rng) / 2 for _ in range(call.settings.directions)]
    tangents = [tangent(base, call.settings, vector) for vector in vectors]
    return list(combinations_with_replacement([t for t in tangents if np.any(t)], 2))


def _forms(base: Surroundings, pairs: Sequence[tuple[Array, Array]]) -> tuple[Form, ...]:
    """Estimates of ``u' H v`` for pairs of directions."""
    found = base.along([u + sign * v for u, v in pairs for sign in (1, -1)], order=2)
    return tuple(
        [
            Form(u, Direction(v, None, "two random directions"), _polar(found[2 * k], found[2 * k + 1]))
            for k, (u, v) in enumerate(pairs)
        ]
    )


def _by_polarisation(base: Surroundings, call: Call, directions: tuple[Direction, ...], rows: Array) -> Second:
    size = base.at.size
    pairs = [(row, direction) for direction in directions for row in rows]
    units = {int(row): _unit(base, int(row)) for row in rows}
    vectors = [units[int(row)] + sign * d.vector for row, d in pairs for sign in (1, -1)]
    found = base.along(vectors, order=2)
    estimates = []
    for k, _ in enumerate(directions):
        columns = [_polar(found[2 * (k * len(rows) + r)], found[2 * (k * len(rows) + r) + 1]) for r in range(len(rows))]
        estimates.append(_vector(columns, rows, size, base.scales))
    seen = np.zeros(size, bool)
    seen[rows] = True
    sizes = [
        np.where(np.isfinite(e.error) & (e.error <= 0.1 * np.abs(e.value)), np.abs(e.value), 0.0) for e in estimates
    ]
    typical = np.max([np.zeros(size), *sizes], axis=0)
    natural = float(np.max(base.magnitude)) / base.scales
    usual = np.maximum(typical, 1e-3 * natural)
    return Second(Expectation(base, call.settings, directions, tuple(estimates), Scales(usual, natural, ZERO)), seen)


def _unit(base: Surroundings, row: int) -> Array:
    vector = np.zeros(base.at.size)
    vector[row] = base.scales[row]
    return vector


def _polar(plus: Estimate, minus: Estimate) -> Estimate:
    """A quarter of the difference of two second derivatives of one number."""
    return Estimate(
        (plus.value - minus.value) / 4,
        (plus.error + minus.error) / 4,
        (plus.left - minus.left) / 4,
        (plus.right - minus.right) / 4,
        (plus.side_error + minus.side_error) / 4,
        plus.kink | minus.kink,
        plus.oracles,
        plus.which,
        None if plus.short is None or minus.short is None else (plus.short - minus.short) / 4,
        None if plus.doubt is None or minus.doubt is None else (plus.doubt + minus.doubt) / 4,
    )


def _vector(entries: list[Estimate], rows: Array, size: int, scales: Array) -> Estimate:
    """The estimates of some rows as one of the whole vector; nothing is known of the others."""
    oracles = max([entry.oracles for entry in entries], key=len, default=("differences",))
    values = {name: np.full(size, np.nan) for name in ("value", "left", "right", "short")}
    errors = {name: np.full(size, np.inf) for name in ("error", "side_error", "doubt")}
    kink, which = np.zeros(size, bool), np.zeros(size, int)
    for row, entry in zip(rows, entries, strict=True):
        for name, array in (*values.items(), *errors.items()):
            known = getattr(entry, name)
            array[row] = np.nan if known is None else known[0] / scales[row]
        kink[row] = entry.kink[0]
        which[row] = oracles.index(entry.name(0)) if entry.name(0) in oracles else 0
    return Estimate(
        values["value"],
        errors["error"],
        values["left"],
        values["right"],
        errors["side_error"],
        kink,
        oracles,
        which,
        values["short"],
        errors["doubt"],
    )


def stretch(direction: Direction, seed: int) -> float:
    """A power of two to stretch the tangent along a direction by: what is linear does not mind."""
    which = seed if direction.entry is None else seed + direction.entry
    return float(2.0 ** (which % 3 * 6 - 6))
