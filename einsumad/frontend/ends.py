"""What is known at the end of the way of a trace: the derivation for what is asked there.

Owns how it is kept there. Imports walks and requests. Invariant: a derivation at the end of a way is the one that the
graph of this way finds, and its slots stand for the values at the places where the leaves of this graph stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from einsumad.frontend.cache import Derivation
from einsumad.frontend.lifting import is_traceable
from einsumad.frontend.requests import Ready
from einsumad.frontend.tracing import Trace, Variables
from einsumad.frontend.trees import Tree
from einsumad.frontend.values import known_value
from einsumad.frontend.walking import Walk
from einsumad.graph import Leaf, Node, fresh_leaf


class End(NamedTuple):
    """A derivation, for each slot the place of its value or a number, and leaves without values for those of a trace.

    Directions have the places -1, -2, and so on.
    """

    derivation: Derivation
    slots: tuple[int | np.ndarray, ...]
    variables: tuple[Leaf, ...]
    outputs: tuple[Leaf, ...]

    def trace(self, tree: Tree, tree_of_outputs: Tree) -> Trace:
        """What stands for a trace that came here, with its own trees: what is known here does not depend on them."""
        return Trace(Variables(self.variables, (), tree), self.outputs, tree_of_outputs)

    def values(self, walk: Walk, directions: Sequence[np.ndarray]) -> Callable[[int], np.ndarray]:
        """The value of each slot for a walk that came here."""

        def value(slot: int) -> np.ndarray:
            x = self.slots[slot]
            if type(x) is not int:
                return x  # type: ignore[return-value]
            return walk.value(x) if x >= 0 else directions[~x]

        return value


def end_of(walk: Walk, ready: Ready, trace: Trace, directions: Sequence[Node]) -> End | None:
    """The end of a walk, from what was found for its trace; None if a slot stands for what is nowhere on the walk."""
    places = {**walk.places(), **{node: ~k for k, node in enumerate(directions)}}
    slots: list[int | np.ndarray] = []
    for leaf in ready.found:
        if leaf in places:
            slots.append(places[leaf])
        elif leaf.key[0] == "number":
            slots.append(known_value(leaf))
        else:
            return None
    return End(
        ready.derivation, tuple(slots), tuple(map(_like, trace.variables.leaves)), tuple(map(_like, trace.outputs))
    )


def forms_of(directions: Sequence[Any], tree: Tree | None, like: Tree) -> tuple[Any, ...] | None:
    """The shapes and dtypes of directions; None if one is no plain array, or their tree is not that of arguments.

    Without a tree there are none.
    """
    if tree is None:
        return ()
    if tree != like or not all(map(_is_plain, directions)):
        return None
    return tuple([(x.shape, x.dtype) for x in directions])


def _is_plain(x: Any) -> bool:
    return type(x) is np.ndarray and is_traceable(x.dtype) and x.dtype.isnative


def _like(node: Node) -> Leaf:
    return fresh_leaf(node.shape, node.dtype)
