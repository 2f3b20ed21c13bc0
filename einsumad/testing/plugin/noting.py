"""Checks that leave a record.

Owns the way from a report to a record, and to an exception. Imports reports and the names of the properties. Invariant:
a check that raises leaves a record that says so, and its exception comes through.
"""

from __future__ import annotations

from collections.abc import Callable

from einsumad.errors import WrongDerivativeError
from einsumad.testing.plugin.records import Record, note
from einsumad.testing.properties import PROPERTIES
from einsumad.testing.report import Report

_COMPARED = ("gradient", "jacobian", "hessian", "hvp", "jvp", "vjp", "derivative", "derivative along lines")
_LAWS = frozenset([each.name for each in PROPERTIES])


def noted(run: Callable[[], Report], check: str, subject: str, source: str) -> Report:
    """Run a check and note what came of it; `subject` stands in for a function without a name."""
    __tracebackhide__ = True
    try:
        report = run()
    except Exception as error:
        if not type(error).__module__.startswith("hypothesis"):  # a rejected example is no error
            reason = f"{type(error).__name__}: {_first_line(error)}"
            note(Record(subject, source, check, "error", laws=int(check in _LAWS), reason=reason))
        raise
    if report.findings:
        note(record_of(report, check, subject, source))
    return report


def failure_of(report: Report, *, strict: bool = False) -> WrongDerivativeError | None:
    """The exception that a report calls for, without the frames in which it was made."""
    try:
        report.raise_if_wrong(undecided=strict)
    except WrongDerivativeError as error:
        return error.with_traceback(None)
    return None


def record_of(report: Report, check: str, subject: str, source: str) -> Record:
    """The record of a report: modes and oracles are those of comparisons, properties are counted."""
    compared = [finding for finding in report.findings if finding.claim in _COMPARED]
    oracles = [oracle for finding in compared for oracle in finding.against.split(" and ")]
    return Record(
        subject,
        source,
        check,
        report.verdict,
        report.order,
        tuple(dict.fromkeys([finding.mode for finding in compared])),
        tuple(dict.fromkeys(oracles)),
        len({finding.claim for finding in report.findings if finding.claim in _LAWS}),
        sum([finding.entries for finding in report.findings]),
        sum([finding.undecided for finding in report.findings]),
        reason=report.findings[0].detail if report.verdict == "refused" else "",
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
