"""What is known at the end of the way of a trace: the derivation for what is asked there.

Owns how it is kept there. Imports walks and requests. Invariant: a derivation at the end of a way is the one that the
graph of this way finds, and its slots stand for the values at the places where the leaves of this graph stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from einsumad.execution import CompiledPlan
from einsumad.frontend.cache import Derivation, compiled
from einsumad.frontend.lifting import is_traceable
from einsumad.frontend.requests import Ready
from einsumad.frontend.tracing import Trace, Variables
from einsumad.frontend.trees import Tree, leaf_tree
from einsumad.frontend.values import known_value
from einsumad.frontend.walking import Walk
from einsumad.graph import Leaf, Node, fresh_leaf


class End(NamedTuple):
    """A derivation, for each slot the place of its value or a number, and a trace of no trees and leaves of no values.

    Directions have the places -1, -2, and so on. `plan` computes all outputs of the derivation from what is `read`,
    whose forms are those at the places; it is None where these are computed one by one.
    """

    derivation: Derivation
    slots: tuple[int | np.ndarray, ...]
    like: Trace
    plan: Callable[..., tuple[Any, ...]] | None
    read: tuple[int | np.ndarray, ...]

    def trace(self, tree: Tree, tree_of_outputs: Tree) -> Trace:
        """What stands for a trace that came here, with its own trees: what is known here does not depend on them."""
        like = self.like
        if tree is like.variables.tree and tree_of_outputs is like.tree:
            return like
        return Trace(Variables(like.variables.leaves, (), tree), like.outputs, tree_of_outputs)

    def value(self, walk: Walk, directions: Sequence[np.ndarray], slot: int) -> np.ndarray:
        """The value of a slot for a walk that came here."""
        return walk.values((self.slots[slot],), directions)[0]


def end_of(
    walk: Walk, ready: Ready, trace: Trace, directions: Sequence[Node], memory_limit: int | None, *, planned: bool
) -> End | None:
    """The end of a walk, from what was found for its trace; None if a slot stands for what is nowhere on the walk.

    If it is `planned`, with the plan for all outputs under the memory limit.
    """
    places, constants = walk.places() | {node: ~k for k, node in enumerate(directions)}, walk.constants()
    slots: list[int | np.ndarray] = []
    for leaf in ready.found:
        if leaf in places:
            slots.append(places[leaf])
        elif leaf in constants:
            slots.append(constants[leaf])
        elif leaf.key[0] == "number":
            slots.append(known_value(leaf))
        else:
            return None
    variables = Variables(tuple(map(_like, trace.variables.leaves)), (), leaf_tree())
    like = Trace(variables, tuple(map(_like, trace.outputs)), leaf_tree())
    if not planned:
        return End(ready.derivation, tuple(slots), like, None, ())
    plan, read = compiled(ready.derivation, memory_limit)
    function = plan.unchecked if isinstance(plan, CompiledPlan) else plan
    return End(ready.derivation, tuple(slots), like, function, tuple([slots[position] for position in read]))


def forms_of(directions: Sequence[Any], tree: Tree, like: Tree) -> tuple[Any, ...] | None:
    """The shapes and dtypes of directions; None if one is no plain array, or their tree is not that of arguments."""
    if tree != like or not all(map(_is_plain, directions)):
        return None
    return tuple([(x.shape, x.dtype) for x in directions])


def _is_plain(x: Any) -> bool:
    return type(x) is np.ndarray and is_traceable(x.dtype) and x.dtype.isnative


def _like(node: Node) -> Leaf:
    return fresh_leaf(node.shape, node.dtype)
