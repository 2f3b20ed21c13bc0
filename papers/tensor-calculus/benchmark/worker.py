"""The process of one system: a command a line of standard input, an answer a line of standard output, both JSON.

Owns the commands. Imports a system by its name. Invariant: nothing else is written to standard output; a command that
fails answers with ``{"error": ...}`` and the process goes on.

build   {"case", "n", "kind"}   make the job and call it twice: "first", "seconds", "stages"
round   {"calls"}               call it as often, after a few calls: "seconds" a call
memory                          call it for its peak of memory: "resident", "allocated", "given", "result"
check                           compare the result with the hand-written one: "difference", "same"
count                           operations on arrays that the function makes: "operations"
plan                            what this library plans: "flops", "steps"
beside  {"other", "calls"}      rounds in turn with another system in this process: "over", seconds a call takes longer
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job
from benchmark.cases import CASES
from benchmark.memory import allocated_peak, resident_peak
from benchmark.operations import count_operations
from benchmark.systems import open_system
from benchmark.systems.base import NotOfferedError, System
from benchmark.systems.hand import by_hand, compared

_TIMES = 3
_TURNS = 9


class Worker:
    """A system, and the job that it is at."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._call: Callable[[], Any] | None = None

    def build(self, case: str, n: int, kind: str) -> dict[str, Any]:
        """Make the job; times of the first and of the second call."""
        self._call = None
        gc.collect()
        self.case: Case = CASES[case]
        self.job: Job = self.case.job(kind)
        self.n = n
        self.plain: Data = self.case.data(n)
        self.data = self.system.load(self.plain)
        start = perf_counter()
        self._call = self.system.build(self.case, self.job, self.data)
        self.run()
        first = perf_counter() - start
        stages = self.system.stages()
        start = perf_counter()
        self.run()
        return {"first": first, "seconds": perf_counter() - start, "stages": stages}

    def run(self) -> Any:
        """The result, computed."""
        assert self._call is not None
        return self.system.wait(self._call())

    def round(self, calls: int) -> dict[str, Any]:
        """The mean of the times of some calls in a row, after some that wake the threads of BLAS."""
        run, repeated = self.run, range(calls)
        for _ in range(max(1, calls // 5)):
            run()
        start = perf_counter()
        for _ in repeated:
            run()
        return {"seconds": (perf_counter() - start) / calls}

    def memory(self) -> dict[str, Any]:
        """Peaks of memory, and the bytes of what is given and of the result.

        What an allocator keeps in pieces from jobs before differs from call to call: the least of some is taken.
        """
        result = self.system.nbytes(self.run())
        peaks = [peak for peak in [resident_peak(self.run) for _ in range(_TIMES)] if peak is not None]
        found = {"resident": min(peaks, default=None), "given": self.plain.nbytes, "result": result}
        return {**found, "allocated": allocated_peak(self.run) if self.system.traced_memory else None}

    def check(self) -> dict[str, Any]:
        """The largest difference from the hand-written result, as a multiple of its largest entry."""
        expected = compared(self.job, self.plain, by_hand(self.job, self.plain)())
        found = self.system.arrays(self.job, self.plain, self.run())
        difference = largest_difference(found, expected)
        return {"difference": difference, "same": difference <= self.case.tolerance}

    def count(self) -> dict[str, Any]:
        """How many operations on arrays the function makes."""
        return {"operations": count_operations(self.case, self.plain)}

    def beside(self, other: str, calls: int) -> dict[str, Any]:
        """How much longer a call takes than one of another system, in rounds that follow each other without a pause.

        A processor that was idle before is slower for a tenth of a second: too much for differences of microseconds.
        """
        twin = Worker(open_system(other))
        twin.build(self.case.name, self.n, self.job.kind)
        over = [self.round(calls)["seconds"] - twin.round(calls)["seconds"] for _ in range(_TURNS)]
        return {"over": median(over)}

    def plan(self) -> dict[str, Any]:
        """The arithmetic and the steps of this library's plan."""
        return self.system.plan(self.case, self.job, self.data)


def largest_difference(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Of arrays in order, as a multiple of the largest entry; infinite where shapes, dtypes or finiteness differ."""
    if [array.shape for array in found] != [array.shape for array in expected]:
        return float("inf")
    if [array.dtype for array in found] != [array.dtype for array in expected]:
        return float("inf")
    worst = 0.0
    for ours, theirs in zip(found, expected, strict=True):
        scale = max(float(np.max(np.abs(theirs), initial=0)), 1e-300)
        difference = float(np.max(np.abs(ours - theirs), initial=0)) / scale
        worst = max(worst, difference if np.isfinite(difference) else float("inf"))
    return worst


def answer(worker: Worker, command: dict[str, Any]) -> dict[str, Any]:
    """What a command answers."""
    do = command.pop("do")
    try:
        return getattr(worker, do)(**command)
    except NotOfferedError as error:
        return {"error": str(error), "offered": False}
    except Exception as error:  # noqa: BLE001 (other systems raise what they like; the run goes on without them)
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}


def main(name: str) -> None:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker(open_system(name))
    worker.build("logistic", 3, "hessian")
    with suppress(NotOfferedError):
        worker.build("logistic", 3, "compressed")
    greeting: dict[str, Any] = {"version": worker.system.version}
    print(json.dumps(greeting), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(worker, json.loads(line))), file=answers, flush=True)
