"""The other end of a worker: starts the process, sends commands, waits for answers within limits of time and memory.

Owns :class:`Process`. Invariant: after a limit is passed the process is gone, and the next command starts another.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from benchmark.memory import resident

_SCRIPT = Path(__file__).resolve().parents[1] / "bench.py"
_STARTING = 120.0


class LimitError(Exception):
    """A limit was passed, or the process ended; the text says what tables show."""


class Process:
    """A system in a process of its own."""

    def __init__(self, system: str, memory: int, environment: Mapping[str, str]) -> None:
        self.system, self.memory = system, memory
        self.environment = {**os.environ, **environment}
        self.version = ""
        self._running: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def ask(self, do: str, seconds: float, **command: Any) -> dict[str, Any]:
        """The answer to a command; raises LimitError where it takes longer, or more memory, than allowed."""
        if self._running is None:
            self.start()
        assert self._running is not None
        assert self._running.stdin is not None
        self._running.stdin.write(json.dumps({"do": do, **command}) + "\n")
        self._running.stdin.flush()
        return self._wait(seconds)

    def start(self) -> None:
        """Start the process, and wait until it has called something once."""
        command = [sys.executable, str(_SCRIPT), "--worker", self.system]
        self._answers = queue.Queue()
        self._running = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
        )
        reader = threading.Thread(target=_read, args=(self._running.stdout, self._answers), daemon=True)
        reader.start()
        self.version = self._wait(_STARTING)["version"]

    def close(self) -> None:
        """End the process."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            for stream in (self._running.stdin, self._running.stdout):
                assert stream is not None
                stream.close()
            self._running = None

    def _wait(self, seconds: float) -> dict[str, Any]:
        assert self._running is not None
        end = monotonic() + seconds
        while True:
            try:
                line = self._answers.get(timeout=0.1)
            except queue.Empty:
                held = resident(self._running.pid)
                reason = (
                    f"over {seconds:.0f} s"
                    if monotonic() > end
                    else f"over {self.memory / 2**30:.0f} GB"
                    if held is not None and held > self.memory
                    else None
                )
                if reason is not None:
                    self.close()
                    raise LimitError(reason) from None
                continue
            if not line:
                self.close()
                raise LimitError("the process ended")
            return json.loads(line)


def _read(lines: Any, answers: queue.Queue[str]) -> None:
    for line in lines:
        answers.put(line)
    answers.put("")
