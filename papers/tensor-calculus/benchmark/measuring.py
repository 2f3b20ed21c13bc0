"""Measuring: each job is built by all systems, timed in rounds that go through the systems in turn, then checked.

Owns :class:`Limits` and :func:`measure`. Invariant: a system that fails at a job is left out of it alone; noise of the
machine falls into the rounds of all systems alike.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import sleep
from typing import Any, Self

from benchmark.case import Case, Job
from benchmark.process import LimitError, Process
from benchmark.records import Record, Run
from benchmark.systems import KNOWN_WRONG, OURS, installed
from benchmark.tables import MOST_MEMORY, counts_for_memory, memory_ratio


@dataclass(frozen=True)
class Limits:
    """How long and how large: rounds, the time of a round, that of a job of a system, bytes of a process; first calls.

    After a round threads of BLAS and OpenMP go on to wait for work, for some 25 ms, on the cores that the next system
    would have; so its round begins after a pause.
    """

    rounds: int = 9
    round_seconds: float = 0.05
    seconds: float = 20.0
    memory: int = 4 * 2**30
    pause: float = 0.0
    first_calls: int = 5


class Systems:
    """The processes of all systems, started when they are first asked."""

    def __init__(
        self, names: Iterable[str], limits: Limits, environment: Mapping[str, str], told: Callable[[str], None]
    ) -> None:
        found = list(names)
        self.told = told
        self.missing = [name for name in found if not installed(name)]
        self.limits, self.environment = limits, environment
        self.processes = {name: Process(name, limits.memory, environment) for name in found if name not in self.missing}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            process.close()


def measure(systems: Systems, run: Run, case: Case, n: int, job: Job) -> None:
    """Add the records of one job at one size, for all systems."""
    records = {name: Record(case.name, n, job.kind, name) for name in systems.processes if _asked(name, job)}
    calls = {name: _built(systems.processes[name], record, systems.limits) for name, record in records.items()}
    working = {name: count for name, count in calls.items() if count}
    for _ in range(systems.limits.rounds):
        for name, count in working.items():
            record = records[name]
            spent = sum(record.times) * count
            if record.failed is None and (not record.times or spent < systems.limits.seconds / 5):
                sleep(systems.limits.pause)
                answer = _ask(systems.processes[name], record, "round", systems.limits.seconds, calls=count)
                if answer is not None:
                    record.times.append(answer["seconds"])
    for name, count in working.items():
        _finish(systems.processes[name], records[name], systems.limits)
        if name == "ours-uncompiled" and case.headline and job.kind in ("gradient", "hessian"):
            answer = _ask(
                systems.processes[name], records[name], "beside", systems.limits.seconds, other="ours", calls=count
            )
            records[name].over = None if answer is None else answer["over"]
    if case.headline and job.kind in ("hessian", "compressed") and "ours" in working:
        several = range(systems.limits.first_calls)
        records["ours"].firsts = [seconds for _ in several for seconds in _first_call(systems, case, n, job)]
    if "ours" in working and counts_for_memory(records["ours"]) and (memory_ratio(records["ours"]) or 0) > MOST_MEMORY:
        _measure_memory_alone(records["ours"], systems, case, n, job)
    run.versions |= {name: process.version for name, process in systems.processes.items() if process.version}
    run.records.extend(records.values())
    for record in records.values():
        _tell(record, systems.told)


def wrong(record: Record) -> str:
    """What is said of a wrong value."""
    reason = KNOWN_WRONG.get((record.system, record.case))
    known = f" (known: {reason})" if reason else ""
    return f"WRONG VALUE: {record.system}, {record.case}, n = {record.n}, {record.kind}: {record.difference:.1e}{known}"


def machine(threads: int | None) -> dict[str, Any]:
    """What times depend on, for the head of the tables."""
    return {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "threads": threads or os.environ.get("OPENBLAS_NUM_THREADS"),
    }


def _asked(name: str, job: Job) -> bool:
    """Whether a system is asked: peers have no compressed results of their own, unless a job is written for them."""
    base = name.partition(":")[0]
    if base in (*OURS, "hand") or not job.kind.startswith("compressed"):
        return True
    return base in job.spelled or "" in job.spelled


def _ask(process: Process, record: Record, do: str, seconds: float, **command: Any) -> dict[str, Any] | None:
    """The answer; None where it failed, which the record then says."""
    if record.failed is not None:
        return None
    try:
        answer = process.ask(do, seconds, **command)
    except LimitError as over:
        record.failed = str(over)
        return None
    if "error" in answer:
        record.failed = "not offered" if answer.get("offered") is False else answer["error"]
        return None
    return answer


def _built(process: Process, record: Record, limits: Limits) -> int:
    """Build the job and call it twice; how many calls make a round."""
    answer = _ask(process, record, "build", limits.seconds, case=record.case, n=record.n, kind=record.kind)
    if answer is None:
        return 0
    record.first, record.stages = answer["first"], answer["stages"]
    again = _ask(process, record, "round", limits.seconds, calls=1)
    if again is None:
        return 0
    return max(1, int(limits.round_seconds / max(again["seconds"], 1e-7)))


def _first_call(systems: Systems, case: Case, n: int, job: Job) -> list[float]:
    """What the first call takes more than the second in a new process."""
    answer = _alone(systems, case, n, job, "build")
    return [] if answer is None else [max(0.0, answer["first"] - answer["seconds"])]


def _measure_memory_alone(record: Record, systems: Systems, case: Case, n: int, job: Job) -> None:
    """Take the memory in a new process where that is less: an old one also fills what earlier jobs left in pieces."""
    answer = _alone(systems, case, n, job, "memory") or {}
    for name in ("resident", "allocated"):
        known = [size for size in (getattr(record, name), answer.get(name)) if size is not None]
        setattr(record, name, min(known, default=None))


def _alone(systems: Systems, case: Case, n: int, job: Job, do: str) -> dict[str, Any] | None:
    """What a new process of ours answers about a job, after a small one that loads what it needs."""
    seconds = systems.limits.seconds
    process = Process("ours", systems.limits.memory, systems.environment)
    try:
        process.ask("build", seconds, case="logistic", n=3, kind=job.kind)
        answer = process.ask("build", seconds, case=case.name, n=n, kind=job.kind)
        if do != "build":
            answer = process.ask(do, 3 * seconds)
    except LimitError:
        return None
    finally:
        process.close()
    return None if "error" in answer else answer


def _finish(process: Process, record: Record, limits: Limits) -> None:
    """Memory, values, and the operations of what is not compiled."""
    if record.system == "ours-uncompiled":
        counted = _ask(process, record, "count", limits.seconds)
        record.operations = None if counted is None else counted["operations"]
    if ":" in record.system:
        answer = _ask(process, record, "plan", limits.seconds)
        record.flops, record.steps = (None, None) if answer is None else (answer["flops"], answer["steps"])
    for do in ("memory", "check"):
        answer = _ask(process, record, do, 3 * limits.seconds)
        for name, value in (answer or {}).items():
            setattr(record, name, value)


def _tell(record: Record, told: Callable[[str], None]) -> None:
    if record.same is False:
        told(wrong(record))
    missing = "wrong" if record.same is False else record.failed
    found = f"{1e3 * record.seconds:10.4f} ms" if record.seconds is not None else f"— ({missing})"
    told(f"  {record.case:<16} n = {record.n:<6} {record.kind:<20} {record.system:<18} {found}")
