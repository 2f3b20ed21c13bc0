"""A claimed derivative in full, compared along directions; the worst entry found and put into a finding.

Owns the way from a claim to a finding. Imports expectations, the comparison and the diagnosis. Invariant: a finding that
is wrong names an entry of the derivative, unless the failure shows in a random direction only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from einsumad.testing.checks.expectation import (
    Direction,
    Expectation,
    along_entry,
    claimed_along,
    expect,
    judge,
)
from einsumad.testing.comparison import Claimed, Comparison, stacked
from einsumad.testing.oracles.estimate import Estimate
from einsumad.testing.point import Array, Point, subscript
from einsumad.testing.report import Finding

_WOBBLES = 2


@dataclass(frozen=True, slots=True)
class Label:
    """What a finding is about: the property, its order, the mode, and the shape of the value's axes."""

    claim: str
    order: int
    mode: str
    output_shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The finding and, for the diagnosis, what is known of the whole derivative: NaN where nothing was compared."""

    finding: Finding
    expected: Array
    error: Array


def claimed_matrix(point: Point, claim: Callable[[Array], Array], dtype: np.dtype, seed: int) -> Claimed:
    """The claim at the point, and how much it changes a few units in the last place away.

    `claim` takes a vector of entries and gives the matrix: entries of the value by entries of the point.
    """
    at = point.vector
    value = claim(at)
    spread = np.zeros(value.shape)
    rng = np.random.default_rng([seed, 2])
    for _ in range(_WOBBLES):
        nearby = at * (1 + point.epsilon * rng.integers(-3, 4, at.size))
        with np.errstate(all="ignore"):
            spread = np.fmax(spread, np.abs(claim(nearby) - value))
    precision = float(np.finfo(dtype).eps) if dtype.kind in "fc" else float(np.finfo(float).eps)
    return Claimed(value, spread, max(precision, float(np.finfo(float).eps)))


def compare_matrix(
    expectation: Expectation, claimed: Claimed, label: Label, convention: Claimed | None = None
) -> Outcome:
    """Compare a claimed matrix along all directions of an expectation."""
    point = expectation.point
    comparisons: list[Comparison] = []
    for index, direction in enumerate(expectation.directions):
        comparisons.append(judge(expectation, index, claimed_along(claimed, direction), convention))
    directions = list(expectation.directions)
    estimates = list(expectation.estimates)
    if not any(c.wrong.any() for c, d in zip(comparisons, directions, strict=True) if d.entry is not None):
        for index, comparison in enumerate(list(comparisons)):
            if comparison.wrong.any():
                found = _localised(expectation, claimed, directions[index])
                if found is not None:
                    directions.append(found[0])
                    estimates.append(found[1])
                    comparisons.append(found[2])
                break
    expected, error = _known(claimed.value.shape, directions, estimates)
    if not comparisons:
        return Outcome(_nothing(label, expectation), expected, error)
    return Outcome(finding_of(stacked(comparisons), directions, label, point), expected, error)


def _nothing(label: Label, expectation: Expectation) -> Finding:
    """An empty point: there is nothing to compare but the shape, which fits."""
    against = "the shape" if expectation.point.size == 0 else "no tangent of the manifold"
    verdict = "right" if expectation.point.size == 0 else "undecided"
    return Finding(label.claim, label.order, label.mode, against, verdict)  # type: ignore[arg-type]


def _known(shape: tuple[int, ...], directions: list[Direction], estimates: list[Estimate]) -> tuple[Array, Array]:
    expected, error = np.full(shape, np.nan), np.full(shape, np.inf)
    for direction, estimate in zip(directions, estimates, strict=True):
        if direction.entry is not None:
            length = direction.vector[direction.entry]
            expected[:, direction.entry] = np.where(np.isfinite(estimate.error), estimate.value / length, np.nan)
            error[:, direction.entry] = estimate.error / abs(length)
    return expected, error


def _localised(
    expectation: Expectation, claimed: Claimed, direction: Direction
) -> tuple[Direction, Estimate, Comparison] | None:
    """The entry that a failing random direction fails by, found by halving its support."""
    support = np.flatnonzero(direction.vector)
    while len(support) > 1:
        for half in (support[: len(support) // 2], support[len(support) // 2 :]):
            vector = np.zeros_like(direction.vector)
            vector[half] = direction.vector[half]
            if _fails(expectation, claimed, Direction(vector, None, "part of a random direction"))[1].wrong.any():
                support = half
                break
        else:
            return None
    entry = along_entry(expectation.surroundings, int(support[0]))
    estimate, comparison = _fails(expectation, claimed, entry)
    return (entry, estimate, comparison) if comparison.wrong.any() else None


def _fails(expectation: Expectation, claimed: Claimed, direction: Direction) -> tuple[Estimate, Comparison]:
    one = expect(expectation.surroundings, expectation.settings, (direction,))
    one = replace(one, typical=np.maximum(one.typical, expectation.typical))
    return one.estimates[0], judge(one, 0, claimed_along(claimed, direction))


def finding_of(comparison: Comparison, directions: list[Direction], label: Label, point: Point) -> Finding:
    """The finding from a comparison with axes entry of the value, direction."""
    entries, open_entries = comparison.wrong.size, int(comparison.undecided.sum())
    names = sorted(set(comparison.oracle[~comparison.undecided & ~comparison.kink].tolist()))
    against = " and ".join(names) or "differences"
    head = (label.claim, label.order, label.mode)
    if not comparison.wrong.any():
        verdict = "right" if open_entries < entries else "undecided"
        kinks = int((comparison.kink & comparison.undecided).sum())
        detail = f"{kinks} of {entries} entries are at kinks" if kinks else "the values are too noisy to tell"
        return Finding(*head, against, verdict, entries, open_entries, 0, detail=detail if open_entries else "")  # type: ignore[arg-type]
    worst = comparison.worst
    row, column = divmod(worst, len(directions))
    direction = directions[column]
    length = 1.0 if direction.entry is None else direction.vector[direction.entry]
    return Finding(
        *head,
        str(comparison.oracle.flat[worst]),
        "wrong",
        entries,
        open_entries,
        int(comparison.wrong.sum()),
        where(label, row, direction),
        float(comparison.found.flat[worst] / length),
        float(comparison.expected.flat[worst] / length),
        float(comparison.error.flat[worst] / abs(length)),
        float(comparison.tolerance.flat[worst] / abs(length)),
    )


def where(label: Label, row: int, direction: Direction) -> str:
    """The name of an entry of a derivative."""
    if not label.output_shape:
        return direction.label
    return f"output {subscript(label.output_shape, row)}, {direction.label}"


