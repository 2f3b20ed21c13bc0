"""Two quantities that have to be equal: whether they are, as far as rounding lets one tell.

Owns the tolerance and the finding. Imports probes and reports. Invariant: a tolerance is made of rounding units times
the terms that were added up, and of how much both quantities change at places a few units in the last place away;
never of the number of entries. What lies between the first and the second bound, where these are not small, is
undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.properties.place import Place
from einsumad.testing.properties.probe import Probe
from einsumad.testing.report import Finding, Verdict

Quantity = Callable[[Place], Array]
Locate = Callable[[int], str]

_ROUNDING = 1024.0
_TYPICAL = 64.0
_SPREAD = 16.0
_SMALL = 0.05
_FLOOR = 1024.0


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, in the words of a finding."""

    name: str
    order: int
    mode: str
    against: str

    def finding(self, verdict: Verdict, **details: object) -> Finding:
        """The finding about this claim."""
        return Finding(self.name, self.order, self.mode, self.against, verdict, **details)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Equation:
    """Two quantities to be equal entry by entry, and the sizes of the terms that their entries are sums of.

    With `composed` the expected side is made of several results, and tells nothing where it is not finite. With
    `smooth` the equation holds only where the function is smooth, so changes over longer distances count as well.
    `noise` is what rounding does to a side beyond what moving the arrays shows, asked for if the sides differ.
    """

    found: Quantity
    expected: Quantity
    terms: Quantity | None = None
    composed: bool = False
    smooth: bool = False
    noise: Callable[[], Array] | None = None


def agree(
    probe: Probe, claim: Claim, equation: Equation, locate: Locate, cause: Callable[[Array, Array], str] | None = None
) -> Finding:
    """Whether both sides of an equation agree at the point; `cause` is asked for the likely cause if they do not."""
    at = probe.at
    with np.errstate(all="ignore"):
        found, expected = _double(equation.found(at)), _double(equation.expected(at))
        if found.shape != expected.shape:
            detail = f"found the shape {found.shape}, expected {expected.shape}"
            return claim.finding("wrong", entries=1, wrong=1, detail=detail, cause="wrong shape: it has another one")
        terms = np.zeros(found.shape) if equation.terms is None else _double(equation.terms(at))
        first = _first_bound(found, expected, terms, probe)
        gap = _gap(found, expected)
        inside = gap <= first
        silent = _silent(found, expected, composed=equation.composed)
        if np.all(inside | silent):
            return _settled(claim, inside)
        spread = _spread(probe, equation, found, expected) + probe.saturation(claim.order)
        bound = first + _SPREAD * spread + np.max(spread, initial=0.0, where=np.isfinite(spread))
        size = np.maximum(np.abs(found), np.abs(expected))
    wrong = ~inside & ~silent & (gap > bound)
    telling = (bound <= _SMALL * size) & ~silent
    undecided = ~inside & ~wrong & ~telling
    verdict: Verdict = "wrong" if wrong.any() else "right" if not undecided.all() else "undecided"
    counts = {"entries": found.size, "undecided": int(undecided.sum())}
    if verdict != "wrong":
        detail = "rounding may change it by more than it differs" if verdict == "undecided" else ""
        return claim.finding(verdict, **counts, detail=detail)
    worst = int(np.argmax(np.where(wrong, np.minimum(gap / np.maximum(bound, probe.tiny), np.finfo(float).max), -1.0)))
    return claim.finding(
        "wrong",
        **counts,
        wrong=int(wrong.sum()),
        index=locate(worst),
        found=float(found.reshape(-1)[worst]),
        expected=float(expected.reshape(-1)[worst]),
        tolerance=float(bound.reshape(-1)[worst]),
        cause=_cause(found, expected, cause),
    )


def offered(*parts: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of several parts of a law, without those for which the system has no transform."""
    for part in parts:
        with suppress(NotImplementedError):
            yield from part


def _settled(claim: Claim, inside: Array) -> Finding:
    """The finding where all entries agree but those that tell nothing."""
    left = int(np.sum(~inside))
    if left and left == inside.size:
        return claim.finding("undecided", entries=left, undecided=left, detail="the point is singular")
    return claim.finding("right", entries=inside.size, undecided=left)


def _double(array: Array) -> Array:
    return np.asarray(array, np.float64)


def _first_bound(found: Array, expected: Array, terms: Array, probe: Probe) -> Array:
    """Rounding alone: of the terms, of the entries, and of the largest entry."""
    both = np.fmax(np.abs(found), np.abs(expected))
    size = terms + np.where(np.isfinite(both), both, 0.0)
    size = np.where(np.isfinite(size), size, 0.0)
    largest = float(np.max(size, initial=0.0))
    bound: Array = probe.unit * (_ROUNDING * size + _TYPICAL * largest) + _FLOOR * probe.tiny
    return bound


def _gap(found: Array, expected: Array) -> Array:
    """How far apart the entries are; equal infinities and two that are no numbers are not apart."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    gap = np.abs(found - expected)
    result: Array = np.where(same, 0.0, np.where(np.isfinite(gap), gap, np.inf))
    return result


def _silent(found: Array, expected: Array, *, composed: bool) -> Array:
    """Where infinities and what is no number tell nothing.

    That is at singular points, where both sides are somewhere not finite: sums and products of infinities depend on
    how they are written. Where all of one side is finite, the other has to be.
    """
    bad = ~np.isfinite(found) | ~np.isfinite(expected)
    singular = not np.isfinite(expected).all() and (composed or not np.isfinite(found).all())
    silent: Array = bad if singular else np.zeros(found.shape, bool)
    return silent


def _spread(probe: Probe, equation: Equation, found: Array, expected: Array) -> Array:
    """How much either side changes from place to place, infinite where it cannot be computed there.

    The point counts too, unless the places are computed in another arithmetic, by what may be another code.
    """
    own = [] if probe.case.system.noisy is not None else [(found, expected)]
    sides: list[tuple[Array, Array]] = [*own]
    for place in (*probe.places, *probe.shifted) if equation.smooth else probe.places:
        try:
            sides.append((_double(equation.found(place)), _double(equation.expected(place))))
        except Exception:  # noqa: BLE001 - at the border of its domain a function may raise what it likes
            return np.full(found.shape, np.inf)
    if any(side.shape != found.shape for pair in sides for side in pair):
        return np.full(found.shape, np.inf)
    noise = np.zeros(found.shape) if equation.noise is None else equation.noise()
    return np.maximum(noise, np.maximum(*[_range(np.stack(values)) for values in zip(*sides, strict=True)]))


def _range(values: Array) -> Array:
    """The distance from the least to the largest value along the first axis; infinite if some are not finite."""
    finite = np.isfinite(values)
    distance = np.ptp(np.where(finite, values, 0.0), axis=0)
    result: Array = np.where(finite.all(axis=0), distance, np.where(finite.any(axis=0), np.inf, 0.0))
    return result


def _cause(found: Array, expected: Array, own: Callable[[Array, Array], str] | None) -> str:
    """The likely cause of a failure, as far as the two sides show it."""
    told = own(found, expected) if own is not None else ""
    if told:
        return told
    if not np.isfinite(found).all() and np.isfinite(expected).all():
        return "not a number: one side is not finite"
    telling = (np.abs(expected) > 0) & np.isfinite(found) & np.isfinite(expected)
    if np.any(telling) and np.all(found[telling] == 0):
        return "zero: nothing arrives"
    ratios = found[telling] / expected[telling]
    if ratios.size > 1 and np.ptp(ratios) <= 1e-5 * np.abs(ratios[0]):
        return f"constant factor: {ratios[0]:.6g} times what is expected"
    return ""
