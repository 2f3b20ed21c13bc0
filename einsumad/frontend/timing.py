"""How long tracing, deriving, planning and compiling took.

Owns these sums. Imports nothing of the package. Invariant: time is counted once: what a stage spends inside of another,
such as a derivation inside of a trace, is not counted for the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Literal, TypeAlias, get_args

from einsumad.locks import module_lock

Stage: TypeAlias = Literal["tracing", "deriving", "planning", "compiling"]

_inside: ContextVar[list[float] | None] = ContextVar("seconds of stages inside the open one", default=None)
_seconds: dict[str, float] = dict.fromkeys(get_args(Stage), 0.0)
_lock = module_lock()


@contextmanager
def spending(stage: Stage) -> Iterator[None]:
    """Count the time within for this stage."""
    outer, inner = _inside.get(), [0.0]
    token = _inside.set(inner)
    start = perf_counter()
    try:
        yield
    finally:
        whole = perf_counter() - start
        _inside.reset(token)
        if outer is not None:
            outer[0] += whole
        with _lock:
            _seconds[stage] += whole - inner[0]


def seconds_spent() -> dict[str, float]:
    """The seconds of each stage so far, in this process."""
    with _lock:
        return dict(_seconds)
