"""Which derivative rules of users' functions a derivation has used, and what they captured.

Owns the records. Imports the graph. Invariant: within one record a rule is traced once, so its parts fit together; a
record inside another is one of its own. Whoever keeps what came of derivations is told of all their captured leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from einsumad.frontend.within import Within
from einsumad.graph import Leaf
from einsumad.records import record


class Rule(Protocol):
    """A traced rule of a user."""

    @property
    def captured(self) -> tuple[Leaf, ...]:
        """The arrays and numbers that it took from its surroundings, as leaves with values."""

    def again(self) -> tuple[Leaf, ...] | None:
        """The same leaves if it is traced now; None if what it computes is another expression."""


R = TypeVar("R", bound=Rule)
_used: ContextVar[dict[Hashable, Rule] | None] = ContextVar("rules used", default=None)


@record
class Captured:
    """Rules, and the leaves that they captured when they were traced for something that is kept."""

    rules: tuple[Rule, ...]
    leaves: tuple[Leaf, ...]

    def now(self) -> tuple[Leaf, ...] | None:
        """The leaves that they capture if they are traced now; None where one comes out differently."""
        found: list[Leaf] = []
        for rule in self.rules:
            leaves = rule.again()
            if leaves is None:
                return None
            found.extend(leaves)
        return tuple(found)


_kept: ContextVar[list[Captured] | None] = ContextVar("what rules captured", default=None)


def keeping() -> Within[list[Captured]]:
    """Within this context what rules capture is noted in the list that is given back."""
    return Within(_kept, [])


def keep(captured: Captured) -> Captured:
    """Note what rules captured, where somebody keeps it."""
    kept = _kept.get()
    if kept is not None and captured.rules:
        kept.append(captured)
    return captured


@contextmanager
def recording() -> Iterator[dict[Hashable, Rule]]:
    """Within this context the rules that are used are noted in the dictionary that is given back."""
    used: dict[Hashable, Rule] = {}
    token = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(token)
    keep(captured_by(tuple(used.values())))


def captured_by(rules: tuple[Rule, ...]) -> Captured:
    """What the rules have captured."""
    return Captured(rules, tuple([leaf for rule in rules for leaf in rule.captured]))


def recorded(key: Hashable, make: Callable[[], R]) -> R:
    """The rule of this key in the record, made and noted if it is not there; outside of a record just made."""
    used = _used.get()
    if used is None:
        return make()
    rule = used.get(key)
    if rule is None:
        rule = used[key] = make()
    return rule  # type: ignore[return-value]  # the key says which rule it is
