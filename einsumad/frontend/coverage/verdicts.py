"""What becomes of a function that is not traced, and why.

Owns the record. Imports nothing. Invariant: a reason is a clause that can follow a colon, and says what to use instead
where there is something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["constant", "refused"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdict:
    """*constant*: nothing that is differentiated goes in or comes out. *refused*: a traced value raises."""

    status: Status
    reason: str


def each(names: str, status: Status, reason: str) -> dict[str, Verdict]:
    """One verdict on several names, separated by spaces."""
    return dict.fromkeys(names.split(), Verdict(status, reason))
