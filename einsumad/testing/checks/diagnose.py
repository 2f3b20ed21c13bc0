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
from einsumad.testing.point import Array, count
from einsumad.testing.report import Finding
from einsumad.testing.subject import Subject

SHAPE = "the shape"
"""What a claim of the wrong shape is compared with: nothing else can be."""


def causes_of(call: Call, outcome: Outcome, label: Label) -> Finding:
    """The finding with the cause that explains most, if it is wrong."""
    finding = outcome.finding
    if finding.verdict != "wrong":
        return finding
    return replace(finding, cause=_first_cause(call, outcome, label))


def _first_cause(call: Call, outcome: Outcome, label: Label) -> str:
    """The cause in the array of the point with the largest failure, else in the first with any."""
    point, found, expected, error = call.point, outcome.found, outcome.expected, outcome.error
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


def explain_jacobian(call: Call, found: Array, expected: Array, error: Array) -> str:
    """The likely cause of a wrong Jacobian in full: entries of the value by entries of the point, as real numbers."""
    subject, point = call.subject, call.point
    if len(point.arrays) != 1:
        return ""
    shape, own = subject.shape, point.arrays[0]
    size = count(shape)
    parts = [matrix[:, : own.size] for matrix in (found, expected, error)]
    if subject.output.dtype.kind == "c":
        found, expected = (part[:size] + 1j * part[size:] for part in parts[:2])
        parts = [found, expected, np.maximum(parts[2][:size], parts[2][size:])]
    label = Label("jacobian", 1, "as given", shape)
    if shape == own.shape and all(np.array_equal(part, np.diag(np.diag(part))) for part in parts[:2]):
        diagonals = [np.diag(part).reshape(shape) for part in parts]
        sentence = explain(call, diagonals, replace(label, output_shape=()), 0)
        if sentence:
            return sentence
    return explain(call, [part.reshape((*shape, *own.shape)) for part in parts], label, 0)


def misfit_finding(call: Call, misfit: MisfitError, label: Label, subject: Subject | None = None) -> Finding:
    """The finding about a claim of the wrong shape, of a derivative of `subject` (by default the call's function)."""
    subject = call.subject if subject is None else subject
    cause = "wrong shape: a derivative has the axes of the value and then those of the argument"
    if misfit.found is not None and call.point.size and label.order == 1 and label.claim != "jvp":
        base = surroundings_of(subject, call.settings)
        estimates = expect(base, call.settings, directions_of(base, call.settings))
        expected = np.full((subject.flat_size, call.point.size), np.nan)
        error = np.full(expected.shape, np.inf)
        for direction, estimate in zip(estimates.directions, estimates.estimates, strict=True):
            if direction.entry is not None:
                length = direction.vector[direction.entry]
                expected[:, direction.entry] = estimate.value / length
                error[:, direction.entry] = estimate.error / abs(length)
        shaped = [native(matrix, call.point, label.output_shape, misfit.part) for matrix in (expected, error)]
        cause = explain(call, (misfit.found, shaped[0], np.abs(shaped[1])), label, misfit.part) or cause
    return Finding(label.claim, label.order, label.mode, SHAPE, "wrong", detail=str(misfit), cause=cause)
