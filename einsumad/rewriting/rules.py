"""What a rewriting rule is: a named function from a node to an equal node, or None where it does not apply.

Owns the record and what rules may know of the surroundings. Imports the graph and the working form. Invariant: a rule
keeps shape and dtype, makes some measure smaller (each says which), and never turns a NaN that the mathematics has into
a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import wraps
from typing import Any, TypeAlias

from einsumad.graph import BOOL, Einsum, Elementwise, General, Node
from einsumad.records import record
from einsumad.rewriting.product import Product, open_product

MASK, SINGLE = "a mask", "an axis of one entry"
MOST_OPERANDS = 400
"""Factors up to which products are opened, where nothing else is asked for."""


@record(frozen=False, eq=True, repr=True)
class Notes:
    """What rules found out about single nodes, whatever stands around them; each table belongs to one rule."""

    masks: dict[Node, Any] = field(default_factory=dict)
    structure: dict[Node, Any] = field(default_factory=dict)
    spectrum: dict[Node, bool] = field(default_factory=dict)
    opened: dict[Node, bool] = field(default_factory=dict)
    traits: dict[Node, frozenset[object]] = field(default_factory=dict)
    """What :func:`traits` gives for one operand."""


@record(frozen=False, eq=True, repr=True)
class Context:
    """What a rule may ask: how many users a node has after what was replaced so far; and the counters of fired rules.

    Of the nodes that are `read_in_parts` all users together read no more entries than there are.
    """

    users: Counter[Node] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    read_in_parts: set[Node] = field(default_factory=set)
    most_operands: int = MOST_OPERANDS
    """Factors of a product up to which it is opened."""
    notes: Notes = field(default_factory=Notes)
    joins_user: bool = False
    """Whether the node at hand has one user, a product, which will open it: then that product opens the rest too."""

    def is_shared(self, node: Node) -> bool:
        """Whether more than one operand slot holds the node."""
        return self.users[node] > 1

    def replaced(self, old: Node, new: Node, operands: Sequence[Node]) -> None:
        """Count users anew where a node takes the place of another, whose operands are these by now."""
        if new is not old:
            self.made(new, operands, max(self.users[old], 1))
            self.users[old] = 0

    def made(self, new: Node, operands: Sequence[Node], count: int = 1) -> None:
        """Count users anew where a node, which gets so many, is made of what had these operands."""
        users = self.users
        if not users[new]:
            self._count(new.operands, 1)
        users[new] += count
        self._count(operands, -1)

    def _count(self, operands: Sequence[Node], change: int) -> None:
        """More or fewer users of some operands, and of the operands of those that come or go with it."""
        users, waiting = self.users, list(operands)
        while waiting:
            node = waiting.pop()
            before = users[node]
            users[node] = before + change
            if not (before if change > 0 else users[node]):
                waiting += node.operands


Step: TypeAlias = Callable[[Product, Context], bool]
"""Changes the working form of a product, or leaves it as it is; whether it changed."""


@record
class Rule:
    """One rewrite. `law` is its equation in index notation, `measure` why applying it comes to an end.

    `needs` has traits of operands (:func:`traits`) of which one must be present for the rule to apply.
    A rule with a `step` works on the working form of a product: several of them in a row make one node.
    """

    name: str
    kind: type[Node]
    law: str
    measure: str
    apply: Callable[[Any, Context], Node | None]
    needs: frozenset[object] = frozenset()
    step: Step | None = None


def stepwise(name: str, law: str, measure: str, step: Step, needs: frozenset[object] = frozenset()) -> Rule:
    """The rule that takes a step in the working form of a product."""

    @wraps(step)
    def apply(node: Einsum, context: Context) -> Node | None:
        work = open_product(node)
        return work.build() if step(work, context) else None

    return Rule(name, Einsum, law, measure, apply, needs, step)


def traits(operands: Iterable[Node], notes: Notes) -> frozenset[object]:
    """The kinds of operands and the names of their functions, :data:`MASK`, :data:`SINGLE`."""
    found: set[object] = set()
    known = notes.traits
    for operand in operands:
        own = known.get(operand)
        if own is None:
            own = known[operand] = _traits_of(operand)
        found |= own
    return frozenset(found)


def _traits_of(operand: Node) -> frozenset[object]:
    found: set[object] = {type(operand)}
    if isinstance(operand, Elementwise | General):
        found.add(operand.function)
    if operand.dtype == BOOL:
        found.add(MASK)
    if 1 in operand.shape:
        found.add(SINGLE)
    return frozenset(found)
