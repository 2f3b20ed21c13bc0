"""What was checked, as small records that travel from tests to the summary.

Owns the record, its text form, and what was noted and not yet taken. Imports the standard library only. Invariant:
records with the same key join into one, whatever the order, so that what is kept stays small.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from typing import Any

VERDICTS = ("wrong", "error", "refused", "right", "undecided", "skipped")
"""The verdicts, the one that outweighs all others first."""

BATTERY = "__einsumad_battery__"
"""The attribute that tells the test function of a battery from others."""

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """One check of one subject, over all the times that it ran.

    `source` is the module of the subject, `order` the highest at which it was found right, `against` the oracles,
    `laws` the number of properties that need none, `entries` were compared and `undecided` of them could not be
    decided, `reason` is that of a skip or an error.
    """

    subject: str
    source: str
    check: str
    verdict: str
    order: int = 0
    modes: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    laws: int = 0
    entries: int = 0
    undecided: int = 0
    runs: int = 1
    reason: str = ""

    @property
    def key(self) -> Key:
        """What records have in common that join."""
        return self.subject, self.source, self.check

    def joined(self, other: Record) -> Record:
        """Both records as one; the weightier verdict wins."""
        first = self if VERDICTS.index(self.verdict) <= VERDICTS.index(other.verdict) else other
        return replace(
            self,
            verdict=first.verdict,
            order=max(self.order, other.order),
            modes=tuple(dict.fromkeys([*self.modes, *other.modes])),
            against=tuple(dict.fromkeys([*self.against, *other.against])),
            laws=max(self.laws, other.laws),
            entries=self.entries + other.entries,
            undecided=self.undecided + other.undecided,
            runs=self.runs + other.runs,
            reason=first.reason,
        )


def joined(records: Iterable[Record]) -> list[Record]:
    """The records with those of one key joined, in the order of their first occurrence."""
    found: dict[Key, Record] = {}
    for record in records:
        found[record.key] = found[record.key].joined(record) if record.key in found else record
    return list(found.values())


def to_text(records: Iterable[Record]) -> str:
    """The records as text that any process can read.

    >>> text = to_text([Record("loss", "model", "gradient", "right", 1, ("as given",))])
    >>> from_text(text)[0].modes
    ('as given',)
    """
    return json.dumps([astuple(record) for record in records])


def from_text(text: str) -> list[Record]:
    """The records of a text."""
    return [_read(row) for row in json.loads(text)]


def _read(row: list[Any]) -> Record:
    values: list[Any] = [tuple(item) if isinstance(item, list) else item for item in row]
    return Record(*values)


_kept: dict[Key, Record] = {}


def note(record: Record) -> None:
    """Keep a record until somebody takes it."""
    _kept[record.key] = _kept[record.key].joined(record) if record.key in _kept else record


def taken() -> list[Record]:
    """What was noted since the last call; from now on it is the caller's to keep."""
    found = list(_kept.values())
    _kept.clear()
    return found
