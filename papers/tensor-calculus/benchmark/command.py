"""The command line.

Owns what may be asked for and the order of the run. Invariant: the exit status is not zero where a value was wrong
that was not known to be, or this library raised an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

from benchmark.ablation import JOBS, VARIANTS, ablation_table, offered
from benchmark.case import Case
from benchmark.cases import CASES
from benchmark.growth import growth_table
from benchmark.measuring import Limits, Systems, machine, measure, wrong
from benchmark.records import Record, Run, load
from benchmark.systems import KNOWN_WRONG, OURS, SYSTEMS
from benchmark.tables import case_tables, first_calls, head
from benchmark.targets import target_table


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), metavar="SYSTEM", help=", ".join(SYSTEMS))
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="some jobs only, such as hessian")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="instead of the sizes of each case")
    parser.add_argument("--quick", action="store_true", help="one small size of each case, few rounds")
    parser.add_argument("--rounds", type=int, help="timed rounds of each job (9; quick 5)")
    parser.add_argument("--seconds", type=float, help="limit for each command to a system (20; quick 3)")
    parser.add_argument("--memory", type=float, default=4.0, help="limit for each process, in GB")
    parser.add_argument("--threads", type=int, help="threads of each system; default: what each takes by itself")
    parser.add_argument("--ablation", action="store_true", help="also without options of the planner; slow")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw a picture for each case")
    parser.add_argument("--json", type=Path, help="save what was measured")
    parser.add_argument("--table", type=Path, help="print the tables of a saved run; nothing is measured")
    return parser.parse_args(given)


def environment(threads: int | None) -> dict[str, str]:
    """What tells the libraries of all systems how many threads to take."""
    if threads is None:
        return {}
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'} intra_op_parallelism_threads={threads}"
    return {**dict.fromkeys(names, str(threads)), "XLA_FLAGS": flags}


def measured(asked: argparse.Namespace) -> Run:
    """Measure what is asked for."""
    run = Run(machine=machine(asked.threads))
    rounds = asked.rounds or (5 if asked.quick else 9)
    seconds = asked.seconds or (3.0 if asked.quick else 20.0)
    round_seconds, pause, first_calls = (0.005, 0.0, 1) if asked.quick else (0.05, 0.05, 5)
    limits = Limits(rounds, round_seconds, seconds, int(asked.memory * 2**30), pause, first_calls)
    surroundings = environment(asked.threads)
    with Systems(asked.systems, limits, surroundings, tell) as systems:
        run.missing = systems.missing
        for case in [CASES[name] for name in asked.cases]:
            for job in case.jobs:
                for n in sizes_of(asked, case, job.kind, job.sizes):
                    measure(systems, run, case, n, job)
            save(run, asked.json)
    if asked.ablation and not offered():
        print("no ablation: einsumad has no planner_options")
    elif asked.ablation:
        with Systems(VARIANTS, limits, surroundings, tell) as systems:
            for case in [CASES[name] for name in asked.cases]:
                for job in [job for job in case.jobs if job.kind in JOBS]:
                    for n in middle(sizes_of(asked, case, job.kind, job.sizes)):
                        measure(systems, run, case, n, job)
                save(run, asked.json)
    return run


def save(run: Run, path: Path | None) -> None:
    """Save what there is so far, so that a run that is stopped is not lost."""
    if path is not None:
        run.save(path)


def tell(text: str) -> None:
    """Print at once, so that a run can be watched."""
    print(text, flush=True)


def sizes_of(asked: argparse.Namespace, case: Case, kind: str, own: Sequence[int] | None) -> Sequence[int]:
    """The sizes at which a job is measured."""
    if asked.kinds and kind not in asked.kinds:
        return ()
    if asked.quick and not asked.kinds and kind not in case.quick_kinds:
        return ()
    return asked.sizes or (case.quick if asked.quick else own or case.sizes)


def middle(sizes: Sequence[int]) -> Sequence[int]:
    """One size, neither the smallest nor the largest where there are three."""
    return sizes[len(sizes) // 2 : len(sizes) // 2 + 1]


def show(texts: Iterable[str]) -> None:
    """Print texts with a line between them."""
    for text in texts:
        if text:
            print(f"\n{text}")


def main(given: Sequence[str]) -> int:
    """Measure or read, print, save."""
    asked = arguments(given)
    run = load(asked.table) if asked.table else measured(asked)
    save(run, asked.json)
    show([head(run), case_tables(run), first_calls(run), growth_table(run), ablation_table(run), target_table(run)])
    if asked.plots:
        for path in import_module("benchmark.plots").draw(run, asked.plots):
            print(f"drawn: {path}")
    wrong_ones = [record for record in run.records if record.same is False]
    broken_ones = [f"FAILED: {r.system}, {r.case}, n = {r.n}, {r.kind}: {r.failed}" for r in run.records if broken(r)]
    show(["\n".join([*map(wrong, wrong_ones), *broken_ones])])
    own = [record for record in wrong_ones if (record.system, record.case) not in KNOWN_WRONG]
    return 1 if own or broken_ones else 0


def broken(record: Record) -> bool:
    """Whether this library, or a hand-written version, raised an error: other systems may."""
    ours = record.system.partition(":")[0] in (*OURS, "hand")
    return ours and record.failed is not None and "Error: " in record.failed
