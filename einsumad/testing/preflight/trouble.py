"""The record of what a preflight finds.

Owns the record and the list of kinds. Imports nothing of the toolkit. Invariant: a message is a sentence without its
full stop that says what, where, and what to do.
"""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "integers",
    "not finite",
    "overlapping memory",
    "empty",
    "low precision",
    "subnormal",
    "mutation",
    "global random state",
    "nondeterministic",
    "stateful",
    "no number",
    "complex output",
    "integer output",
)
"""All kinds of trouble."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something about a function or its arguments: its kind, in words, and whether it leaves nothing to be tested."""

    kind: str
    message: str
    fatal: bool
