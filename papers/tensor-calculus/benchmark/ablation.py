"""What each option of the planner gives: all on, each one off, all off.

Owns the systems of the ablation and its table. Invariant: times are ratios to those with all options on, from the same
rounds.
"""

from __future__ import annotations

from importlib import import_module

from benchmark.case import KINDS
from benchmark.records import Run, ratio
from benchmark.tables import columns, number

OPTIONS = ("cross_country", "compression", "factoring", "sharing", "symmetry")
ON = "ours:-none"
VARIANTS = (ON, *[f"ours:-{option}" for option in OPTIONS], "ours:-all")
JOBS = ("hessian", "compressed", "mixed", "jacobian", "third", "blocks", "value+gradient")


def offered() -> bool:
    """Whether the library's planner has these options."""
    return hasattr(import_module("einsumad"), "planner_options")


def ablation_table(run: Run) -> str:
    """For each job the time with all options on, and the ratios without; then the same for arithmetic."""
    names = [name.removeprefix("ours:-") for name in VARIANTS[1:]]
    rows = [["ablation: time without / with", "n", "with, ms", *names]]
    work = [["ablation: flops without / with", "n", "with", *names]]
    for record in [record for record in run.records if record.system == ON]:
        key = (record.case, record.n, record.kind)
        found = [run.find(*key, name) for name in VARIANTS[1:]]
        base = [f"{KINDS[record.kind]}, {record.case}", str(record.n)]
        times = [_shown(ratio(other, record)) for other in found]
        rows.append([*base, number(record.seconds, 1e3), *times])
        flops = [
            _shown(other.flops / record.flops if other and other.flops and record.flops else None) for other in found
        ]
        work.append([*base, "—" if record.flops is None else f"{record.flops:,}", *flops])
    return f"{columns(rows)}\n\n{columns(work)}" if len(rows) > 1 else ""


def _shown(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"
