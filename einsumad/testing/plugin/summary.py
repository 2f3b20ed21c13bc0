"""The section "derivatives checked" at the end of a run.

Owns its text. Imports the records. Invariant: one line a subject, in the order in which the subjects were met; no line
where nothing was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from einsumad.testing.plugin.records import VERDICTS, Record, joined

SHORT, LONG, NONE, TOTALS = "short", "long", "none", "totals"

_COLUMNS = ("subject", "verdict", "order", "entries", "undecided", "runs", "checks")
_NUMBERS = (2, 3, 4, 5)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the section, and whether it tells of something wrong."""

    text: str
    bad: bool = False


def summary(records: Iterable[Record], style: str) -> list[Line]:
    """The lines of the section: totals alone, one line a subject, or also one a check.

    >>> for line in summary([Record("loss", "model", "gradient", "right", 1, (), ("complex step",), 0, 3)], "short"):
    ...     print(line.text)
    subject  verdict  order  entries  undecided  runs  checks
    loss     right        1        3          0     1  gradient (complex step)
    1 subject, 1 check, 3 entries compared, 0 undecided: 1 right
    """
    found = joined(records)
    if not found or style == NONE:
        return []
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in found:
        groups.setdefault((record.subject, record.source), []).append(record)
    lines = [] if style == TOTALS else _table(groups, long=style == LONG)
    return [*lines, *_skips(found), _totals(groups)]


def _table(groups: dict[tuple[str, str], list[Record]], *, long: bool) -> list[Line]:
    names = [name for name, _ in groups]
    rows = [
        _row(name if names.count(name) == 1 else f"{source}.{name}", records)
        for (name, source), records in groups.items()
    ]
    sizes = [max([len(row[k]) for row in (_COLUMNS, *rows)]) for k in range(len(_COLUMNS) - 1)]
    lines = [Line(_aligned(_COLUMNS, sizes))]
    for row, records in zip(rows, groups.values(), strict=True):
        text = _aligned(row, sizes)
        lines.append(Line(text, _bad(_verdict(records))))
        if long:
            lines += [Line(f"    {_sentence(record)}", _bad(record.verdict)) for record in records]
    return lines


def _row(name: str, records: Sequence[Record]) -> tuple[str, ...]:
    run = [record for record in records if record.verdict != "skipped"]
    order = max([record.order for record in run], default=0)
    counts = [sum([getattr(record, field) for record in run]) for field in ("entries", "undecided", "runs")]
    return (name, _verdict(records), str(order) if order else "-", *map(str, counts), _checks(run))


def _checks(run: Sequence[Record]) -> str:
    """The checks that were run, then modes, oracles and the number of laws."""
    single = [record for record in run if record.laws and not record.modes]
    checks = [record.check for record in run if record not in single]
    modes = dict.fromkeys([mode for record in run for mode in record.modes if mode != "as given"])
    oracles = dict.fromkeys([oracle for record in run for oracle in record.against])
    laws = max([len(single), *[record.laws for record in run]])
    kept = [", ".join(modes), ", ".join(oracles), _counted(laws, "law") if laws else ""]
    told = "; ".join([part for part in kept if part])
    return f"{', '.join(checks)} ({told})" if checks and told else told or ", ".join(checks)


def _aligned(row: Sequence[str], sizes: Sequence[int]) -> str:
    cells = [
        cell.rjust(size) if k in _NUMBERS else cell.ljust(size)
        for k, (cell, size) in enumerate(zip(row, sizes, strict=False))
    ]
    return "  ".join([*cells, row[-1]]).rstrip()


def _verdict(records: Sequence[Record]) -> str:
    return min([record.verdict for record in records], key=VERDICTS.index)


def _bad(verdict: str) -> bool:
    return verdict in ("error", "refused", "wrong")


def _sentence(record: Record) -> str:
    """One check in full."""
    if record.verdict == "skipped":
        return f"{record.check}: skipped"
    head = f"{record.check}: {record.verdict}"
    parts = [f"{head}, order {record.order}" if record.order else head]
    if record.modes:
        parts.append(f"modes {', '.join(record.modes)}")
    if record.against:
        parts.append(f"against {', '.join(record.against)}")
    if record.laws:
        parts.append(_counted(record.laws, "law"))
    left = f" ({record.undecided} undecided)" if record.undecided else ""
    parts.append(f"{_counted(record.entries, 'entry', 'entries')}{left} in {_counted(record.runs, 'run')}")
    return "; ".join([*parts, *([record.reason] if record.reason else [])])


def _skips(records: Sequence[Record]) -> list[Line]:
    return [
        Line(f"skipped: {record.subject}, {record.check}: {record.reason}")
        for record in records
        if record.verdict == "skipped"
    ]


def _totals(groups: dict[tuple[str, str], list[Record]]) -> Line:
    records = [record for group in groups.values() for record in group]
    run = [record for record in records if record.verdict != "skipped"]
    verdicts = [_verdict(group) for group in groups.values()]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in verdicts]
    skipped = len(records) - len(run)
    parts = [
        _counted(len(groups), "subject"),
        _counted(len(run), "check"),
        f"{_counted(sum([record.entries for record in run]), 'entry', 'entries')} compared",
        f"{sum([record.undecided for record in run])} undecided",
    ]
    parts += [f"{_counted(skipped, 'check')} skipped"] if skipped else []
    return Line(f"{', '.join(parts)}: {', '.join(counts)}", any(map(_bad, verdicts)))


def _counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"
