"""What was measured, as data and as JSON.

Owns :class:`Record` and :class:`Run`. Invariant: tables and plots are made from these alone, so a saved run can be
printed again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any


@dataclass
class Record:
    """One job of one system at one size. Where it failed, `failed` says how, and the rest is what was known before.

    `first` is the time of the first call; `firsts` are what those in processes of their own took more than the second.
    `over` is what a call takes longer than a compiled one beside it.
    """

    case: str
    n: int
    kind: str
    system: str
    times: list[float] = field(default_factory=list)
    first: float | None = None
    firsts: list[float] = field(default_factory=list)
    stages: dict[str, float] | None = None
    resident: int | None = None
    allocated: int | None = None
    given: int | None = None
    result: int | None = None
    difference: float | None = None
    same: bool | None = None
    operations: int | None = None
    over: float | None = None
    flops: int | None = None
    steps: int | None = None
    failed: str | None = None

    @property
    def seconds(self) -> float | None:
        """The median of the rounds; None where it failed or the value was wrong."""
        return median(self.times) if self.times and self.failed is None and self.same is not False else None

    @property
    def peak(self) -> int | None:
        """The peak of memory: the larger of the two measures."""
        known = [bytes_ for bytes_ in (self.resident, self.allocated) if bytes_ is not None]
        return max(known) if known else None


def ratio(above: Record | None, below: Record | None) -> float | None:
    """How many times longer one job takes than another; None where one of them is not known.

    Rounds of one job go through the systems in turn, so two systems are compared round by round, and the ratio is the
    median of these; rounds of different jobs are not at one time, and there it is that of the medians.
    """
    if above is None or below is None or above.seconds is None or below.seconds is None:
        return None
    same = (above.case, above.n, above.kind) == (below.case, below.n, below.kind)
    if same and len(above.times) == len(below.times):
        return median([a / b for a, b in zip(above.times, below.times, strict=True)])
    return above.seconds / below.seconds


@dataclass
class Run:
    """All records, with the versions of the systems and what is not installed."""

    versions: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    def find(self, case: str, n: int, kind: str, system: str) -> Record | None:
        """The record of a job, if it was measured."""
        key = (case, n, kind, system)
        return next((r for r in self.records if (r.case, r.n, r.kind, r.system) == key), None)

    def seconds(self, case: str, n: int, kind: str, system: str) -> float | None:
        """The median time of a job, if it was measured and did not fail."""
        record = self.find(case, n, kind, system)
        return None if record is None else record.seconds

    def save(self, path: Path) -> None:
        """Write all of it as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def load(path: Path) -> Run:
    """Read what `Run.save` wrote."""
    found = json.loads(path.read_text(encoding="utf-8"))
    records = [Record(**record) for record in found.pop("records")]
    return Run(**found, records=records)
