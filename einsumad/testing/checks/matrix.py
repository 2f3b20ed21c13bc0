"""A claimed derivative in full, compared along directions; the worst entry found and put into a finding.

Owns the way from a claim to a finding. Imports expectations, the comparison and the diagnosis. Invariant: a finding
that is wrong names an entry of the derivative, unless the failure shows in a random direction only.
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
from einsumad.testing.oracles.noise import noise_of
from einsumad.testing.point import Array, Point, count, subscript
from einsumad.testing.report import Finding, Verdict

_UNIT = float(np.finfo(float).eps)
_DIRECTIONS = 2


@dataclass(frozen=True, slots=True)
class Label:
    """What a finding is about: the property, its order, the mode, and what the rows of its matrix are.

    Rows are entries of an array of `output_shape`, or of the point `rows` where that is given.
    """

    claim: str
    order: int
    mode: str
    output_shape: tuple[int, ...] = ()
    rows: Point | None = None


@dataclass(frozen=True)
class Outcome:
    """The finding and, for the diagnosis, what is known of the whole derivative: NaN where nothing was compared."""

    finding: Finding
    found: Array
    expected: Array
    error: Array


def claimed_matrix(point: Point, claim: Callable[[Array], Array], dtype: np.dtype, seed: int) -> Claimed:
    """The claim at the point, and how much rounding may have changed it: its noise over the units of the arguments.

    `claim` takes a vector of entries and gives the matrix: entries of the value by entries of the point. The noise is
    looked for where ties, zeros and symmetries stay what they are.
    """
    at = point.vector
    value = claim(at)
    precision = float(np.finfo(dtype).eps) if dtype.kind in "fc" else _UNIT
    rng = np.random.default_rng([seed, 2])
    factors = [rng.uniform(0.5, 1.5, at.size) * rng.choice([-1, 1], at.size) for _ in range(_DIRECTIONS)]
    directions = [at * tied(at, each) for each in factors]

    def noise() -> Array:
        found = noise_of(lambda vector: claim(vector).reshape(-1), at, directions, precision, point.epsilon)
        return found.reshape(value.shape)

    return Claimed(value, noise, max(precision, _UNIT))


def tied(at: Array, factors: Array) -> Array:
    """The factors, one an entry, with that of the first entry of each magnitude for all of that magnitude.

    Entries of equal magnitudes then move together. Were ties broken, a claim that is wrong at ties alone would look
    like one that rounding makes uncertain.

    >>> import numpy as np
    >>> tied(np.array([2.0, 3.0, -2.0]), np.array([0.5, 0.25, 7.0])).tolist()
    [0.5, 0.25, 0.5]
    """
    _, first, which = np.unique(np.abs(at), return_index=True, return_inverse=True)
    result: Array = factors[first][which]
    return result


def compare_matrix(
    expectation: Expectation,
    claimed: Claimed,
    label: Label,
    convention: Claimed | None = None,
    rows: Array | None = None,
) -> Outcome:
    """Compare a claimed matrix along all directions of an expectation, in some rows or all."""
    comparisons: list[Comparison] = []
    for index, direction in enumerate(expectation.directions):
        comparisons.append(judge(expectation, index, claimed_along(claimed, direction), convention))
    directions = list(expectation.directions)
    estimates = list(expectation.estimates)
    in_entries = any(c.wrong.any() for c, d in zip(comparisons, directions, strict=True) if d.entry is not None)
    if not in_entries and rows is None and expectation.settings.manifold is None:
        for index, comparison in enumerate(list(comparisons)):
            if comparison.wrong.any():
                found = _localised(expectation, claimed, directions[index])
                if found is not None:
                    directions.append(found[0])
                    estimates.append(found[1])
                    comparisons.append(found[2])
                break
    known = _known(claimed, directions, estimates)
    if not comparisons:
        return Outcome(_nothing(label, expectation), *known)
    return Outcome(finding_of(stacked(comparisons), directions, label, rows), *known)


def _nothing(label: Label, expectation: Expectation) -> Finding:
    """An empty point: there is nothing to compare but the shape, which fits."""
    against = "the shape" if expectation.point.size == 0 else "no tangent of the manifold"
    verdict: Verdict = "right" if expectation.point.size == 0 else "undecided"
    return Finding(label.claim, label.order, label.mode, against, verdict)


def _known(claimed: Claimed, directions: list[Direction], estimates: list[Estimate]) -> tuple[Array, Array, Array]:
    """What was found and expected along entries, and the error of the latter; on a manifold, both projected."""
    found = claimed.value
    expected, error = np.full(found.shape, np.nan), np.full(found.shape, np.inf)
    if any(direction.source is not None for direction in directions):
        found = np.full(found.shape, np.nan)
    else:
        found = found.copy()
    for direction, estimate in zip(directions, estimates, strict=True):
        entry = direction.entry if direction.entry is not None else direction.source
        if entry is not None:
            length = direction.vector[entry] if direction.entry is not None else direction.length
            expected[:, entry] = np.where(np.isfinite(estimate.error), estimate.value / length, np.nan)
            error[:, entry] = estimate.error / abs(length)
            found[:, entry] = claimed_along(claimed, direction).value / length
    return found, expected, error


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
    typical = np.maximum(one.scales.typical, expectation.scales.typical)
    one = replace(one, scales=replace(one.scales, typical=typical))
    return one.estimates[0], judge(one, 0, claimed_along(claimed, direction))


def finding_of(comparison: Comparison, directions: list[Direction], label: Label, rows: Array | None = None) -> Finding:
    """The finding from a comparison with axes entry of the value, direction; `rows` are those that were looked at."""
    seen = (
        np.ones(comparison.wrong.shape, bool)
        if rows is None
        else np.broadcast_to(rows[:, None], comparison.wrong.shape)
    )
    entries, open_entries = int(seen.sum()), int((comparison.undecided & seen).sum())
    asked = set(comparison.oracle[~comparison.undecided & ~comparison.kink & seen].tolist())
    against = " and ".join(sorted({name for several in asked for name in several.split(" and ")})) or "differences"
    head = (label.claim, label.order, label.mode)
    if not comparison.wrong.any():
        verdict: Verdict = "right" if open_entries < entries or not entries else "undecided"
        kinks = int((comparison.kink & comparison.undecided).sum())
        detail = f"{kinks} of {entries} entries are at kinks" if kinks else "the values are too noisy to tell"
        return Finding(*head, against, verdict, entries, open_entries, 0, detail=detail if open_entries else "")
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
    if label.rows is not None:
        return f"{label.rows.locate(row)}, {direction.label}"
    if not label.output_shape:
        return direction.label
    size = max(1, count(label.output_shape))
    part = ".imag" if row >= size else ""
    return f"output {subscript(label.output_shape, row % size)}{part}, {direction.label}"
