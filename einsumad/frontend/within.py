"""A context in which a context variable has a value.

Owns this context. Imports nothing of the package. Invariant: on leaving, the variable has the value that it had before.
A class takes a third of the time of a generator, and a traced call opens several of these.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Within(Generic[T]):
    """Within this context the variable has the value, which is given back."""

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[Any], value: T) -> None:
        self._variable, self._value = variable, value

    def __enter__(self) -> T:
        self._token: Token[Any] = self._variable.set(self._value)
        return self._value

    def __exit__(self, *_: object) -> None:
        self._variable.reset(self._token)
