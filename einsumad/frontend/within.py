"""A context in which a context variable has a value.

Owns this context. Imports nothing of the package. Invariant: on leaving, the variable has the value that it had before.
A class takes a third of the time of a generator, and a traced call opens several of these.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any


class Within:
    """Within this context the variable has the value."""

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[Any], value: Any) -> None:
        self._variable, self._value = variable, value

    def __enter__(self) -> None:
        self._token: Token[Any] = self._variable.set(self._value)

    def __exit__(self, *_: object) -> None:
        self._variable.reset(self._token)
