"""How long tracing, deriving, planning and compiling took.

Owns these sums. Imports nothing of the package. Invariant: time is counted once: what a stage spends inside of another,
such as a derivation inside of a trace, is not counted for the other.
"""

from __future__ import annotations

from contextvars import ContextVar
from time import perf_counter
from typing import Literal, TypeAlias, get_args

from einsumad.locks import module_lock

Stage: TypeAlias = Literal["tracing", "deriving", "planning", "compiling"]

_inside: ContextVar[list[float] | None] = ContextVar("seconds of stages inside the open one", default=None)
_seconds: dict[str, float] = dict.fromkeys(get_args(Stage), 0.0)
_lock = module_lock()


class spending:  # noqa: N801 (read as a function in with statements)
    """Count the time within this context for a stage."""

    __slots__ = ("_inner", "_outer", "_stage", "_start", "_token")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __enter__(self) -> None:
        self._outer, self._inner = _inside.get(), [0.0]
        self._token = _inside.set(self._inner)
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        whole = perf_counter() - self._start
        _inside.reset(self._token)
        if self._outer is not None:
            self._outer[0] += whole
        with _lock:
            _seconds[self._stage] += whole - self._inner[0]


def seconds_spent() -> dict[str, float]:
    """The seconds of each stage so far, in this process."""
    with _lock:
        return dict(_seconds)
