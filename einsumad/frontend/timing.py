"""How long tracing, deriving, planning and compiling took.

Owns these sums. Imports nothing of the package. Invariant: time is counted once: what a stage spends inside of another,
such as a derivation inside of a trace, is not counted for the other.
"""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Literal, TypeAlias, get_args

from einsumad.locks import module_lock

Stage: TypeAlias = Literal["tracing", "deriving", "planning", "compiling"]

_seconds: dict[str, float] = dict.fromkeys(get_args(Stage), 0.0)
_lock = module_lock()


class _OfThread(threading.local):
    """The seconds of this thread that are counted so far."""

    counted = 0.0


_of_thread = _OfThread()

Begun: TypeAlias = tuple[float, float]
"""When a stage began, and the seconds of its thread that were counted before."""


def begin_stage() -> Begun:
    """Begin to count time."""
    return perf_counter(), _of_thread.counted


def end_stage(stage: Stage, begun: Begun) -> None:
    """Count the time since then for a stage, but what is counted already."""
    start, before = begun
    whole = perf_counter() - start
    own = whole - (_of_thread.counted - before)
    _of_thread.counted = before + whole
    with _lock:
        _seconds[stage] += own


class spending:  # noqa: N801 (read as a function in with statements)
    """Count the time within this context for a stage."""

    __slots__ = ("_begun", "_stage")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __enter__(self) -> None:
        self._begun = begin_stage()

    def __exit__(self, *_: object) -> None:
        end_stage(self._stage, self._begun)


def seconds_spent() -> dict[str, float]:
    """The seconds of each stage so far, in this process."""
    with _lock:
        return dict(_seconds)
