"""What a check found: findings, each about one property, and the report that holds them.

Owns the records and their text. Imports the errors. Invariant: a report is wrong if one finding is, right if something
was found right of every derivative that was compared, and undecided otherwise; its text names what was compared with
what, how much of it, and how well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Literal

from einsumad.errors import WrongDerivativeError

Verdict = Literal["right", "wrong", "undecided", "refused"]

_WIDTH = 100

COMPARED = ("gradient", "jacobian", "hessian", "hvp", "jvp", "vjp", "derivative")
"""Derivatives that oracles are asked about; symmetry, dtypes and identities are told besides."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One property of one derivative, compared in some entries.

    `entries` were compared, `undecided` could not be decided (kinks, noise), `wrong` failed. The rest tells of the
    worst entry: its index, the value found and the one expected, the error estimate of the latter, and the tolerance.
    """

    claim: str
    order: int
    mode: str
    against: str
    verdict: Verdict
    entries: int = 0
    undecided: int = 0
    wrong: int = 0
    index: str = ""
    found: complex | float | None = None
    expected: complex | float | None = None
    error: float = 0.0
    tolerance: float = 0.0
    cause: str = ""
    detail: str = ""
    identity: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """The derivative that it is about, whatever the mode and the part of it."""
        return self.claim.split(",")[0].split(" along ")[0], self.order

    def __str__(self) -> str:
        """Return the finding as one or a few sentences."""
        what = f"{self.claim}, order {self.order}, {self.mode}, against {self.against}"
        if self.verdict == "right":
            kept = f" ({self.undecided} more undecided)" if self.undecided else ""
            return f"{what}: right in {_entries(self.entries - self.undecided)}{kept}."
        if self.verdict == "undecided":
            return f"{what}: undecided{f', {self.detail}' if self.detail else ''}."
        if self.verdict == "refused":
            return f"{self.mode}: {self.detail}."
        return f"{what}: WRONG. {self._failure()}"

    def _failure(self) -> str:
        parts = []
        if self.found is not None:
            error = f" ± {self.error:.1g}" if self.error else ""
            parts.append(
                f"At {self.index or 'the only entry'} found {_number(self.found)}, "
                f"expected {_number(self.expected)}{error} (tolerance {self.tolerance:.1g}); "
                f"{self.wrong} of {_entries(self.entries)} wrong."
            )
        if self.detail:
            parts.append(f"{self.detail[0].upper()}{self.detail[1:]}.")
        if self.cause:
            parts.append(f"Likely cause: {self.cause}.")
        return " ".join(parts)


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _number(value: complex | None) -> str:
    return "nothing" if value is None else f"{value:.10g}"


@dataclass(frozen=True)
class Report:
    """All findings about a subject, notes of the preflight, and a small failing case as code.

    ``bool(report)`` is true only if the derivative is right; :meth:`raise_if_wrong` is what tests call.
    """

    subject: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    case: str = ""

    @property
    def verdict(self) -> Verdict:
        """Whether the derivative is "right", "wrong", "undecided", or "refused": not a function to be checked."""
        verdicts = {finding.verdict for finding in self.findings}
        for verdict in ("refused", "wrong"):
            if verdict in verdicts:
                return verdict
        claims: dict[tuple[str, int], bool] = {}
        for finding in self.findings:
            if finding.key[0] in COMPARED:
                claims[finding.key] = claims.get(finding.key, False) or finding.verdict == "right"
        return "right" if "right" in verdicts and all(claims.values()) else "undecided"

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The findings that failed."""
        return tuple([finding for finding in self.findings if finding.verdict == "wrong"])

    @property
    def causes(self) -> tuple[str, ...]:
        """The names of the likely causes of the failures, the first failure's first."""
        return tuple([finding.cause.split(":")[0] for finding in self.wrong if finding.cause])

    @property
    def order(self) -> int:
        """The highest order at which something was found right."""
        return max([finding.order for finding in self.findings if finding.verdict == "right"], default=0)

    def __bool__(self) -> bool:
        return self.verdict == "right"

    def __str__(self) -> str:
        """Return one paragraph, the notes, and for a wrong derivative a case to paste."""
        paragraphs = [fill(self.paragraph(), _WIDTH), *[fill(f"Note: {note}.", _WIDTH) for note in self.notes]]
        if self.case:
            paragraphs.append(f"A small case that shows it:\n\n{self.case}")
        return "\n".join(paragraphs)

    def paragraph(self) -> str:
        """The verdict and what it rests on, as one paragraph."""
        if self.verdict == "wrong":
            told = " ".join(map(str, self.wrong[:_MOST]))
            more = f" {len(self.wrong) - _MOST} more findings are wrong." if len(self.wrong) > _MOST else ""
            return f"The derivative of {self.subject} is wrong: {told}{more}"
        if self.verdict == "refused":
            told = " ".join([str(f) for f in self.findings if f.verdict == "refused"])
            return f"{self.subject} cannot be checked. {told}"
        right = [f for f in self.findings if f.verdict == "right"]
        left = [f for f in self.findings if f.verdict == "undecided"]
        compared = [f for f in right if not f.identity]
        told = f" {_grouped(compared)}" if compared else ""
        told += _identities([f for f in right if f.identity])
        open_ends = f" Not decided: {_grouped(left)}" if left else ""
        return f"The derivative of {self.subject} is {self.verdict}.{told}{open_ends}"

    def raise_if_wrong(self, *, undecided: bool = False) -> Report:
        """Raise :class:`WrongDerivativeError` (an ``AssertionError``) if the derivative is wrong or the check refused.

        With `undecided` also if nothing could be decided. Returns the report otherwise.
        """
        if self.verdict in ("wrong", "refused") or (undecided and self.verdict == "undecided"):
            raise WrongDerivativeError(str(self))
        return self

    def joined(self, others: Sequence[Report]) -> Report:
        """This report with the findings and notes of others."""
        notes = dict.fromkeys([note for report in (self, *others) for note in report.notes])
        found = tuple([finding for report in (self, *others) for finding in report.findings])
        case = next((report.case for report in (self, *others) if report.case), "")
        return replace(self, findings=found, notes=tuple(notes), case=case)


_MOST = 3


def _grouped(findings: Sequence[Finding]) -> str:
    """Findings as sentences, those that differ only in the mode together."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.claim, str(finding.order), finding.against, finding.detail), []).append(finding)
    return " ".join(map(_sentence, groups.values()))


def _identities(findings: Sequence[Finding]) -> str:
    """Properties that hold, by name."""
    if not findings:
        return ""
    names = ", ".join(dict.fromkeys([finding.claim for finding in findings]))
    return f" Identities: {names}: {_entries(sum(finding.entries for finding in findings))}."


def _sentence(group: Sequence[Finding]) -> str:
    first = group[0]
    modes = ", ".join(dict.fromkeys([finding.mode for finding in group]))
    compared, left = sum(f.entries - f.undecided for f in group), sum(f.undecided for f in group)
    what = f"{first.claim[:1].upper()}{first.claim[1:]}, order {first.order} ({modes}), against {first.against}"
    counts = f"{_entries(compared)}, {left} undecided" if left and compared else _entries(compared)
    detail = f" ({first.detail})" if first.detail else ""
    return f"{what}: {counts}{detail}." if first.verdict == "right" else f"{what}{detail}."
