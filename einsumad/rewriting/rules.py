"""What a rewriting rule is: a named function from a node to an equal node, or None where it does not apply.

Owns the record and what rules may know of the surroundings. Imports the graph. Invariant: a rule keeps shape and dtype,
makes some measure smaller (each says which), and never turns a NaN that the mathematics has into a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from einsumad.graph import Node


@dataclass(slots=True)
class Context:
    """What a rule may ask: how many users a node has, as far as this pass knows; and the counters of fired rules."""

    users: Counter[Node] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)

    def is_shared(self, node: Node) -> bool:
        """Whether more than one operand slot holds the node."""
        return self.users[node] > 1


@dataclass(frozen=True, slots=True)
class Rule:
    """One rewrite. `law` is its equation in index notation, `measure` why applying it comes to an end."""

    name: str
    kind: type[Node]
    law: str
    measure: str
    apply: Callable[[Any, Context], Node | None]
