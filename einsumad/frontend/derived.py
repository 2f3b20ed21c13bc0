"""What transforms have given to a trace around them: graphs that a program goes on with.

Owns the record and the slots of a program. Imports the graph. Invariant: a graph over the slots of its derivation is
the same nodes as that derivation, so what was found out about them, such as products that were taken apart, is found
again. A record inside another is one of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from itertools import count
from typing import NamedTuple

from einsumad.frontend.within import Within
from einsumad.graph import Leaf, Node, leaf, substitute


class Given(NamedTuple):
    """The outputs of a derivation, its slots, and what stands for these in the trace around it."""

    outputs: tuple[Node, ...]
    slots: tuple[Leaf, ...]
    stand: tuple[Node, ...]


_given: ContextVar[list[Given] | None] = ContextVar("what transforms gave", default=None)


def noting() -> Within[list[Given]]:
    """Within this context what transforms give to traces is noted in the list that is given back."""
    return Within(_given, [])


def note(given: Given) -> None:
    """Note what a transform gave, where somebody asks for it."""
    noted = _given.get()
    if noted is not None:
        noted.append(given)


def over_slots(
    outputs: Sequence[Node], found: Sequence[Leaf], noted: Sequence[Given]
) -> tuple[tuple[Node, ...], tuple[Leaf, ...], bool]:
    """A traced graph over slots for the leaves that were found in it; those of its derivation, where there is one.

    Then the slots in the order of the leaves, and whether the graph is in normal form.
    """
    given = noted[0] if len(noted) == 1 else Given((), (), ())
    known = dict(zip(given.stand, given.slots, strict=True))
    fresh = count(len(given.slots))
    slots = tuple([known.get(node) or _slot(node, next(fresh)) for node in found])
    graph = substitute(outputs, dict(zip(found, slots, strict=True)))
    return graph, slots, bool(graph) and set(given.outputs).issuperset(graph)


def _slot(node: Leaf, number: int) -> Leaf:
    return leaf(node.shape, node.dtype, ("slot", number), node.name, node.facts)
