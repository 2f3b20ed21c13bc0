"""The command line.

Owns what may be asked for and the order of the run. Invariant: the exit status is not zero where a value was wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmark.cases import CASES
from benchmark.measuring import Limits, Systems, machine, measure
from benchmark.records import Run, load
from benchmark.systems import SYSTEMS
from benchmark.tables import case_tables, head


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), metavar="CASE")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), metavar="SYSTEM", help=", ".join(SYSTEMS))
    parser.add_argument("--kinds", nargs="+", metavar="KIND", help="some jobs only, such as hessian")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="instead of the sizes of each case")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds")
    parser.add_argument("--rounds", type=int, help="timed rounds of each job (9; quick 5)")
    parser.add_argument("--seconds", type=float, default=20.0, help="limit for each command to a system")
    parser.add_argument("--memory", type=float, default=4.0, help="limit for each process, in GB")
    parser.add_argument("--threads", type=int, help="threads of each system; default: what each takes by itself")
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
    run = Run(machine=machine())
    rounds = asked.rounds or (5 if asked.quick else 9)
    limits = Limits(rounds, 0.02 if asked.quick else 0.05, asked.seconds, int(asked.memory * 2**30))
    with Systems(asked.systems, limits, environment(asked.threads), print) as systems:
        run.missing = systems.missing
        for name in asked.cases:
            case = CASES[name]
            for job in case.jobs:
                if asked.kinds and job.kind not in asked.kinds:
                    continue
                for n in asked.sizes or (case.quick if asked.quick else job.sizes or case.sizes):
                    measure(systems, run, case, n, job)
    return run


def main(given: Sequence[str]) -> int:
    """Measure or read, print, save."""
    asked = arguments(given)
    run = load(asked.table) if asked.table else measured(asked)
    if asked.json:
        run.save(asked.json)
    print(head(run), case_tables(run), sep="\n\n")
    wrong = [record for record in run.records if record.same is False]
    for record in wrong:
        print(f"WRONG VALUE: {record.system}, {record.case}, n = {record.n}, {record.kind}: {record.difference:.1e}")
    return 1 if wrong else 0
