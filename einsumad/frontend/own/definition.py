"""What a user has said of a function.

Owns the record of a definition, the call of its function and the name that tells it from others. Imports lifting, and
the graph's sign for such names.
Invariant: no two definitions have the same key, and it is the same in every run of a program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import field
from typing import Any

from einsumad.frontend.met import outside_of_traces
from einsumad.graph import OWN
from einsumad.locks import module_lock
from einsumad.records import record

Shapes = Any
"""A shape, a list of shapes, or a function of the arguments that gives one."""

_serials: Counter[str] = Counter()
_lock = module_lock()


@record(frozen=False, repr=True)
class Definition:
    """A function, what was given for its derivative, and what was said of its result."""

    function: Callable[..., Any]
    name: str
    key: str
    shape: Shapes
    dtype: Any
    push: Callable[..., Any] | None = None
    pull: Callable[..., Any] | None = None
    forms: dict[Hashable, Any] = field(default_factory=dict)
    """What calls gave before, so that the function does not run for the sake of a shape again."""


def called(definition: Definition, *args: Any, **kwargs: Any) -> Any:
    """What the function gives for plain arguments: it is not traced, wherever it is called."""
    with outside_of_traces():
        return definition.function(*args, **kwargs)


def define(function: Callable[..., Any], name: str | None, shape: Shapes, dtype: Any) -> Definition:
    """A new definition, different from all others."""
    given = getattr(function, "__name__", type(function).__name__).strip("<>") if name is None else name
    if not isinstance(given, str) or not given.strip() or not given.isprintable() or OWN in given or "@" in given:
        raise ValueError(f"the name of a function is a text without '{OWN}', '@' and line breaks, got {given!r}")
    if dtype is not None and shape is None:
        raise TypeError("dtype= needs shape=: without it shape and dtype are those that the function gives")
    with _lock:
        _serials[given] += 1
        serial = _serials[given]
    return Definition(function, given, f"{given}{OWN}{serial}", shape, dtype)
