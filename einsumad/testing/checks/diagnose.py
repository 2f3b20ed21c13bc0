"""Findings with their likely causes.

Owns the way from a comparison to the evidence that the diagnosis reads. Imports the diagnosis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from einsumad.testing.checks.call import Call
from einsumad.testing.checks.claims import MisfitError, native
from einsumad.testing.checks.expectation import directions_of, expect, surroundings_of
from einsumad.testing.checks.matrix import Label, Outcome
from einsumad.testing.diagnosis import Evidence, likely_causes
from einsumad.testing.point import Array
from einsumad.testing.report import Finding


def causes_of(call: Call, outcome: Outcome, found: Array, label: Label) -> Finding:
    """The finding with the cause that explains most, if it is wrong."""
    finding = outcome.finding
    if finding.verdict != "wrong":
        return finding
    return replace(finding, cause=_first_cause(call, outcome.expected, outcome.error, found, label))


def _first_cause(call: Call, expected: Array, error: Array, found: Array, label: Label) -> str:
    """The cause in the array of the point with the largest failure, else in the first with any."""
    point = call.point
    with np.errstate(all="ignore"):
        gaps = [
            np.nan_to_num(np.abs(native(found - expected, point, label.output_shape, k)), nan=0.0)
            for k in range(len(point.arrays))
        ]
    order = sorted(range(len(gaps)), key=lambda k: -float(np.max(gaps[k], initial=0.0)))
    for k in order:
        parts = [native(matrix, point, label.output_shape, k) for matrix in (found, expected, error)]
        shown = [parts[0], parts[1], np.abs(parts[2])]
        sentence = explain(call, shown, label, k)
        if sentence:
            return sentence
    return ""


def explain(call: Call, shown: Sequence[Array], label: Label, part: int) -> str:
    """The likely cause as text: its name, a colon, a sentence; `shown` is what was found, expected, and the error."""
    found, expected, error = shown
    arrays = call.point.arrays
    point = (arrays[part], *arrays[:part], *arrays[part + 1 :])
    value = np.asarray(call.subject.output)
    causes = likely_causes(Evidence(found, expected, error, label.output_shape, point, value, label.order))
    return f"{causes[0].name}: {causes[0].sentence}" if causes else ""


def misfit_finding(call: Call, misfit: MisfitError, label: Label) -> Finding:
    """The finding about a claim of the wrong shape."""
    cause = "wrong shape: a derivative has the axes of the value and then those of the argument"
    if misfit.found is not None and call.point.size and label.order == 1:
        base = surroundings_of(call.subject, call.settings)
        estimates = expect(base, call.settings, directions_of(base, call.settings))
        expected = np.full((call.subject.flat_size, call.point.size), np.nan)
        error = np.full(expected.shape, np.inf)
        for direction, estimate in zip(estimates.directions, estimates.estimates, strict=True):
            if direction.entry is not None:
                length = direction.vector[direction.entry]
                expected[:, direction.entry] = estimate.value / length
                error[:, direction.entry] = estimate.error / abs(length)
        shaped = [native(matrix, call.point, label.output_shape, misfit.part) for matrix in (expected, error)]
        cause = explain(call, (misfit.found, shaped[0], np.abs(shaped[1])), label, misfit.part) or cause
    return Finding(label.claim, label.order, label.mode, "the shape", "wrong", detail=str(misfit), cause=cause)
