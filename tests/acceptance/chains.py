"""One chain of operations from its making to its end, with little room to recurse, each part timed.

Run as a program with the number of steps ``y = y + 0.002 y`` (two operations each), and ``kept`` where the chain shall
not be evaluated and differentiated; prints what it found as JSON.

Python may recurse 200 deep, C on a stack of half a megabyte: what took a frame for each of 8,000 operations would end
the process, as it would for 120,000 of them on a stack of the usual size.
"""

from __future__ import annotations

import copy
import gc
import json
import pickle
import sys
import threading
import time
from typing import Any

import numpy as np

import einsumad as ea

RATE = 0.002
RECURSION_LIMIT = 200
STACK = 2**19
"""Bytes of the stack."""


def chain(x: Any, steps: int) -> Any:
    """``(1 + RATE)**steps * x``, step by step."""
    y = x
    for _ in range(steps):
        y = y + RATE * y
    return y


class Laps:
    """Processor time from one lap to the next."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.process_time()

    def end(self, name: str) -> None:
        now = time.process_time()
        self.seconds[name], self.last = now - self.last, now


def live(steps: int, *, whole: bool) -> dict[str, Any]:
    """Build, print, evaluate and differentiate (if it is a `whole` life), copy, pickle and delete a chain."""
    found: dict[str, Any] = {}
    laps = Laps()
    x = ea.tensor(np.array([1.0, 2.0]), requires_grad=True)
    y = chain(x, steps)
    laps.end("build")
    found["text"], found["repr"] = str(y), repr(y)
    laps.end("print")
    if whole:
        found["value"] = y.numpy().tolist()
        laps.end("evaluate")
        np.sum(y).backward()
        found["gradient"] = x.grad.tolist()
        laps.end("differentiate")
    found["copied"] = copy.deepcopy(y).node is y.node and copy.copy(y).node is y.node
    laps.end("copy")
    restored = pickle.loads(pickle.dumps(y))  # noqa: S301 (our own bytes)
    laps.end("pickle")
    found["restored"] = restored.numpy().tolist() if whole else restored.shape
    laps.end("evaluate again")
    del y, restored, x
    gc.collect()
    laps.end("delete")
    found["seconds"] = laps.seconds
    return found


def main(steps: int, *, whole: bool) -> None:
    """A life with little room to recurse."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(STACK)
    thread = threading.Thread(target=lambda: print(json.dumps(live(steps, whole=whole))))
    thread.start()
    thread.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), whole="kept" not in sys.argv)
