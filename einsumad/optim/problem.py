"""A function of the arguments that are optimised, with all others as they are.

Owns which arguments these are, and how the function is prepared. Imports the frontend and the vectors. Invariant: the
other arguments are handed to the function as they were given, and never through SciPy's ``args``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.frontend.transforms import Argnums, check_argnums
from einsumad.optim.vectors import Layout, layout_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Restricted:
    """A function of the arguments at some positions: of one argument, or of a tuple where `argnums` is one."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: Argnums

    def __call__(self, x: Any) -> Any:
        """Call the function with x in the place of these arguments."""
        args = list(self.args)
        single = isinstance(self.argnums, int)
        for position, value in zip(positions(self.argnums), (x,) if single else x, strict=True):
            args[position] = value
        return self.function(*args)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem:
    """What is optimised, from where, and how its functions are made."""

    function: Restricted
    start: np.ndarray
    layout: Layout
    compiled: bool
    memory_limit: int | None

    def prepared(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, compiled where that is wanted."""
        return ea.compile(function, memory_limit=self.memory_limit) if self.compiled else function


def positions(argnums: Argnums) -> tuple[int, ...]:
    """The positions as a tuple."""
    return (argnums,) if isinstance(argnums, int) else argnums


def problem_of(
    f: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums, compiled: bool, memory_limit: int | None
) -> Problem:
    """The problem of a function that starts at the arguments named."""
    if not callable(f):
        raise TypeError(f"the first argument has to be a function, got {type(f).__name__}")
    check_argnums(argnums)
    for position in positions(argnums):
        if not -len(args) <= position < len(args):
            raise TypeError(f"argnums names argument {position}, but {len(args)} arguments of f are given: pass x0")
    if isinstance(argnums, int):
        start, name = args[argnums], f"argument {argnums}"
    else:
        start, name = tuple([args[position] for position in argnums]), f"arguments {argnums}"
    layout = layout_of(start, name)
    return Problem(Restricted(f, args, argnums), layout.flatten(start), layout, compiled, memory_limit)
