"""How long tracing, deriving, planning and compiling took.

Owns these sums. Imports nothing of the package. Invariant: time is counted once: what a stage spends inside of another,
such as a derivation inside of a trace, is not counted for the other.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from time import perf_counter
from typing import Literal, TypeAlias, get_args

from einsumad.locks import module_lock

Stage: TypeAlias = Literal["tracing", "deriving", "planning", "compiling"]

_inside: ContextVar[list[float] | None] = ContextVar("seconds of stages inside the open one", default=None)
_seconds: dict[str, float] = dict.fromkeys(get_args(Stage), 0.0)
_lock = module_lock()


Begun: TypeAlias = tuple[list[float] | None, list[float], Token[list[float] | None], float]
"""Seconds of stages inside the outer stage and inside this one, how to go back to the outer one, and the start."""


def begin_stage() -> Begun:
    """Begin to count time."""
    inner = [0.0]
    return _inside.get(), inner, _inside.set(inner), perf_counter()


def end_stage(stage: Stage, begun: Begun) -> None:
    """Count the time since then for a stage."""
    outer, inner, token, start = begun
    whole = perf_counter() - start
    _inside.reset(token)
    if outer is not None:
        outer[0] += whole
    with _lock:
        _seconds[stage] += whole - inner[0]


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
