"""What becomes of a function that is not traced, and why.

Owns the record. Imports nothing. Invariant: a reason is a clause that can follow a colon, and says what to use instead
where there is something.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from einsumad.records import record

Status: TypeAlias = Literal["constant", "refused"]


@record
class Verdict:
    """*constant*: nothing that is differentiated goes in or comes out. *refused*: a traced value raises."""

    status: Status
    reason: str


def each(names: str, status: Status, reason: str) -> dict[str, Verdict]:
    """One verdict on several names, separated by spaces."""
    return dict.fromkeys(names.split(), Verdict(status, reason))


@record(eq=True, repr=True)
class Limit:
    """What a function refuses, as ``weights=...``, ``mode='raw'`` or ``of a matrix``, and why or what to do instead."""

    what: str
    reason: str

    @property
    def key(self) -> str:
        """The name of the option, or all of the text where it is about none."""
        return self.what.partition("=")[0]


def by_function(*limits: tuple[str, str, str]) -> dict[str, tuple[Limit, ...]]:
    """The limits of each function, from names separated by spaces with a limit that they share."""
    found: dict[str, tuple[Limit, ...]] = {}
    for names, what, reason in limits:
        for name in names.split():
            found[name] = (*found.get(name, ()), Limit(what, reason))
    return found
