"""The tables: a table for each case, milliseconds and ratios of all systems side by side.

Owns their texts. Imports records and cases. Invariant: pure functions of a run.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.case import KINDS, Case
from benchmark.cases import CASES
from benchmark.records import Record, Run, ratio
from benchmark.systems import PEERS

MOST_MEMORY = 2
"""The peak of memory that is aimed at, as a multiple of what is given and returned."""
LARGE = 2**20
"""Bytes from which a job counts for that: below, it is the overhead of a process that is seen."""


def head(run: Run) -> str:
    """Versions, the machine, and what is missing."""
    versions = ", ".join(sorted(set(run.versions.values())))
    lines = [f"{versions}; Python {run.machine.get('python')}, {run.machine.get('cores')} cores"]
    lines += [f"threads of each system: {run.machine.get('threads') or 'its own choice'}"]
    lines += [f"not installed, left out: {name}" for name in run.missing]
    return "\n".join(lines)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, the first column to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(len(line) for line in lines), *lines[1:]])


def number(value: float | None, unit: float = 1.0) -> str:
    """Three digits."""
    if value is None:
        return "—"
    scaled = unit * value
    return f"{scaled:.0f}" if scaled >= 1000 else f"{scaled:#.3g}"


def fastest_peer(run: Run, case: str, n: int, kind: str, systems: Sequence[str] = PEERS) -> Record | None:
    """The quickest of the other systems; for a compressed Hessian also those that return it dense."""
    kinds = (kind, "hessian") if kind == "compressed" else (kind,)
    found = [run.find(case, n, asked, name) for name in systems for asked in kinds]
    known = [(record.seconds, record) for record in found if record is not None and record.seconds is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None


def case_table(run: Run, case: Case) -> str:
    """Milliseconds of all systems, ratios, the first call and the peak of memory of ours."""
    records = [record for record in run.records if record.case == case.name and ":" not in record.system]
    names = [name for name in run.versions if any(record.system == name for record in records)]
    rows = [["", case.parameter, *names, "ours/hand", "peer/ours", "first", "memory"]]
    keys = dict.fromkeys([(record.kind, record.n) for record in records])
    for kind, n in sorted(keys, key=lambda key: (list(KINDS).index(key[0]), key[1])):
        rows.append([KINDS[kind], str(n), *[_cell(run.find(case.name, n, kind, name)) for name in names]])
        rows[-1] += _ratios(run, case.name, n, kind)
    return f"{case.title}\n{columns(rows)}"


def _cell(record: Record | None) -> str:
    if record is None or record.failed == "not offered":
        return ""
    if record.same is False:
        return "WRONG"
    return f"— ({(record.failed or '')[:14]})" if record.seconds is None else number(record.seconds, 1e3)


def _ratios(run: Run, case: str, n: int, kind: str) -> list[str]:
    ours = run.find(case, n, kind, "ours")
    if ours is None or ours.seconds is None:
        return ["", "", "", ""]
    to_hand, peer = ratio(ours, run.find(case, n, kind, "hand")), fastest_peer(run, case, n, kind)
    return [
        "" if to_hand is None else number(to_hand),
        f"{number(ratio(peer, ours))} {peer.system}" if peer else "",
        f"{number(ours.first, 1e3)} ms",
        number(memory_ratio(ours)),
    ]


def memory_ratio(record: Record) -> float | None:
    """The peak as a multiple of what is given and returned; what is given is there before the call."""
    if record.peak is None or record.given is None or record.result is None:
        return None
    return (record.given + record.peak) / (record.given + record.result)


def counts_for_memory(record: Record) -> bool:
    """Whether it is held to that."""
    return record.system == "ours" and (record.given or 0) + (record.result or 0) >= LARGE


def case_tables(run: Run) -> str:
    """A table for each case of the run; times in milliseconds."""
    met = dict.fromkeys([record.case for record in run.records])
    return "\n\n".join([case_table(run, CASES[name]) for name in met])


STAGES = ("trace", "derive", "plan", "compile")


def first_calls(run: Run) -> str:
    """Where the first call's time goes, for each job at its largest size; milliseconds."""
    rows = [["first call of ours, ms", "n", *STAGES, "whole", "of it planning", "JAX"]]
    largest: dict[tuple[str, str], Record] = {}
    for record in run.records:
        if record.system == "ours" and record.first is not None and record.stages is not None:
            known = largest.setdefault((record.case, record.kind), record)
            if known.n < record.n:
                largest[record.case, record.kind] = record
    for (case, kind), record in largest.items():
        stages = record.stages or {}
        jax = run.find(case, record.n, kind, "jax")
        rows.append(
            [
                f"{KINDS[kind]}, {case}",
                str(record.n),
                *[number(stages.get(stage, 0.0), 1e3) for stage in STAGES],
                number(record.first, 1e3),
                f"{stages.get('plan', 0.0) / (record.first or 1):.0%}",
                "" if jax is None else number(jax.first, 1e3),
            ]
        )
    return columns(rows) if len(rows) > 1 else ""
