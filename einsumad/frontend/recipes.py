"""How the result of a call is made of the nodes of its arguments.

Owns recipes, and by which one the last call went. Imports the graph and lifting. Invariant: a recipe makes of nodes of
the forms that it was noted for what the handler makes of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.frontend.lifting import constant_node
from einsumad.frontend.met import Met
from einsumad.graph import Mould, Node, intern_cast

Cast: TypeAlias = tuple[Mould, tuple[int | Node, ...]]
"""One node: its mould, and its operands by place among arguments, constants and earlier nodes, or as they are."""
Pack: TypeAlias = Callable[[Sequence[Any]], Any] | None
"""What makes of results in order what the call gives; None where it gives one node, and no tuple of one."""


class Recipe:
    """The arrays that the handler makes by itself, the nodes of a call in order, and the places of the results."""

    __slots__ = ("_casts", "_results", "constants", "pack")

    def __init__(
        self, constants: tuple[np.ndarray, ...], casts: tuple[Cast, ...], results: tuple[int, ...], pack: Pack
    ) -> None:
        self.constants, self._casts, self._results, self.pack = constants, casts, results, pack

    def cast(self, nodes: list[Node], met: Met | None) -> list[Node]:
        """The results for the nodes of the arguments, to which what is made on the way is appended, in a trace."""
        nodes += [constant_node(array, met) for array in self.constants]
        for mould, operands in self._casts:
            nodes.append(intern_cast(mould, tuple([nodes[o] if type(o) is int else o for o in operands])))  # type: ignore[misc]
        return [nodes[place] for place in self._results]

    def packed(self, parts: Sequence[Any]) -> Any:
        """What the call gives, of its results in order."""
        return parts[0] if self.pack is None else self.pack(parts)


class _Last(threading.local):
    recipe: Recipe | None = None


_last = _Last()


def went_by(recipe: Recipe | None) -> None:
    """Note by which recipe a call of this thread went; None where its handler did what no recipe does."""
    _last.recipe = recipe


def last_recipe() -> Recipe | None:
    """The recipe of the last call of this thread that ended."""
    return _last.recipe
