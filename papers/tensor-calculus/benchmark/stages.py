"""Where the time of a first call goes: tracing, deriving, planning, compiling.

Owns :class:`Stages`. Wraps functions of the library by name where they are looked up, and counts the time of each
without that of the others inside it. Invariant: a name that is missing is left out, and nothing else changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from time import perf_counter
from typing import Any

PLACES = {
    "trace": (("einsumad.frontend.transforms", "trace"), ("einsumad.frontend.compile", "trace_inputs")),
    "derive": (("einsumad.frontend.cache", "build_with_rules"),),
    "plan": (
        ("einsumad.frontend.compile", "normalise"),
        ("einsumad.frontend.compile", "plan_within"),
        ("einsumad.frontend.cache", "plan_within"),
    ),
    "compile": (("einsumad.frontend.compile", "compile_planned"), ("einsumad.frontend.cache", "compile_planned")),
}
"""For each stage the functions that are called for it: the module that looks them up, and their name."""


class Stages:
    """Seconds spent in each stage since `clear`."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = defaultdict(float)
        self._inside = [0.0]
        for stage, places in PLACES.items():
            for module_name, name in places:
                module = import_module(module_name)
                if hasattr(module, name):
                    setattr(module, name, self._timed(stage, getattr(module, name)))

    def clear(self) -> None:
        """Forget what was spent."""
        self._spent.clear()

    def seconds(self) -> dict[str, float]:
        """What was spent, by stage."""
        return dict(self._spent)

    def _timed(self, stage: str, f: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(f)
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = perf_counter()
            self._inside.append(0.0)
            try:
                return f(*args, **kwargs)
            finally:
                took = perf_counter() - start
                self._spent[stage] += took - self._inside.pop()
                self._inside[-1] += took

        return timed
