"""How the result of a call is made of the nodes of its arguments.

Owns recipes, and by which one the last call went. Imports the graph. Invariant: a recipe makes of nodes of the forms
that it was noted for what the handler makes of them.
"""

from __future__ import annotations

import threading
from typing import TypeAlias

from einsumad.graph import Mould, Node, intern_cast

Cast: TypeAlias = tuple[Mould, tuple[int | Node, ...]]
"""One node: its mould, and its operands by place among arguments and earlier nodes, or as they are."""


class Recipe:
    """The nodes of a call in order, and the place of the result."""

    __slots__ = ("_casts", "_result")

    def __init__(self, casts: tuple[Cast, ...], result: int) -> None:
        self._casts, self._result = casts, result

    def cast(self, nodes: list[Node]) -> Node:
        """The result for the nodes of the arguments, to which what is made on the way is appended."""
        for mould, operands in self._casts:
            nodes.append(intern_cast(mould, tuple([nodes[o] if type(o) is int else o for o in operands])))  # type: ignore[misc]
        return nodes[self._result]


class _Last(threading.local):
    recipe: Recipe | None = None


_last = _Last()


def went_by(recipe: Recipe | None) -> None:
    """Note by which recipe a call of this thread went; None where its handler did what no recipe does."""
    _last.recipe = recipe


def last_recipe() -> Recipe | None:
    """The recipe of the last call of this thread that ended."""
    return _last.recipe
