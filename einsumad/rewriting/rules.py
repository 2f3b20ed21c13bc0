"""What a rewriting rule is: a named function from a node to an equal node, or None where it does not apply.

Owns the record and what rules may know of the surroundings. Imports the graph. Invariant: a rule keeps shape and dtype,
makes some measure smaller (each says which), and never turns a NaN that the mathematics has into a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from einsumad.graph import BOOL, Node

MASK = "mask"
MOST_OPERANDS = 400
"""Factors up to which products are opened, where nothing else is asked for."""


@dataclass(slots=True)
class Context:
    """What a rule may ask: how many users a node has, as far as this pass knows; and the counters of fired rules.

    Of the nodes that are `read_in_parts` all users together read no more entries than there are.
    """

    users: Counter[Node] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    read_in_parts: set[Node] = field(default_factory=set)
    most_operands: int = MOST_OPERANDS
    """Factors of a product up to which it is opened."""
    joins_user: bool = False
    """Whether the node at hand has one user, a product, which will open it: then that product opens the rest too."""

    def is_shared(self, node: Node) -> bool:
        """Whether more than one operand slot holds the node."""
        return self.users[node] > 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule:
    """One rewrite. `law` is its equation in index notation, `measure` why applying it comes to an end.

    `needs` names kinds of operands (:data:`MASK` for boolean ones) of which one must be present for the rule to apply.
    """

    name: str
    kind: type[Node]
    law: str
    measure: str
    apply: Callable[[Any, Context], Node | None]
    needs: frozenset[object] = frozenset()


def traits(node: Node) -> set[object]:
    """The kinds of the operands of a node, and :data:`MASK` if one of them is boolean."""
    found: set[object] = {type(operand) for operand in node.operands}
    if any(operand.dtype is BOOL or operand.dtype == BOOL for operand in node.operands):
        found.add(MASK)
    return found
