"""Which derivative rules of users' functions a derivation has used.

Owns the record. Imports the graph. Invariant: within one record a rule is traced once, so its parts fit together; a
record inside another is one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from einsumad.graph import Leaf


class Rule(Protocol):
    """A traced rule of a user."""

    @property
    def captured(self) -> tuple[Leaf, ...]:
        """The arrays and numbers that it took from its surroundings, as leaves with values."""

    def again(self) -> tuple[Leaf, ...] | None:
        """The same leaves if it is traced now; None if what it computes is another expression."""


R = TypeVar("R", bound=Rule)
_used: ContextVar[dict[Hashable, Rule] | None] = ContextVar("rules used", default=None)


@contextmanager
def recording() -> Iterator[dict[Hashable, Rule]]:
    """Within this context the rules that are used are noted in the dictionary that is given back."""
    used: dict[Hashable, Rule] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)


def recorded(key: Hashable, make: Callable[[], R]) -> R:
    """The rule of this key in the record, made and noted if it is not there; outside of a record just made."""
    used = _used.get()
    if used is None:
        return make()
    rule = used.get(key)
    if rule is None:
        rule = used[key] = make()
    return rule  # type: ignore[return-value]  # the key says which rule it is
