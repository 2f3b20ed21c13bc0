"""One chain of operations from its making to its end, with a recursion limit of 200, each part timed.

Run as a program with the number of steps ``y = y + 0.002 y`` (two operations each); prints what it found as JSON.
"""

from __future__ import annotations

import copy
import gc
import json
import pickle
import sys
import time
from typing import Any

import numpy as np

import einsumad as ea

RATE = 0.002
RECURSION_LIMIT = 200


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


def live(steps: int) -> dict[str, Any]:
    """Build, print, evaluate, differentiate, copy, pickle and delete a chain."""
    found: dict[str, Any] = {}
    laps = Laps()
    x = ea.tensor(np.array([1.0, 2.0]), requires_grad=True)
    y = chain(x, steps)
    laps.end("build")
    found["text"], found["repr"] = str(y), repr(y)
    laps.end("print")
    found["value"] = y.numpy().tolist()
    laps.end("evaluate")
    loss = np.sum(y)
    loss.backward()
    found["gradient"] = x.grad.tolist()
    laps.end("differentiate")
    found["copied"] = copy.deepcopy(y).node is y.node and copy.copy(y).node is y.node
    laps.end("copy")
    restored = pickle.loads(pickle.dumps(y))  # noqa: S301 (our own bytes)
    found["restored"] = restored.numpy().tolist()
    laps.end("pickle")
    del y, loss, restored, x
    gc.collect()
    laps.end("delete")
    found["seconds"] = laps.seconds
    return found


if __name__ == "__main__":
    sys.setrecursionlimit(RECURSION_LIMIT)
    print(json.dumps(live(int(sys.argv[1]))))
