"""A function with the arguments of a preflight, and the copies that it is called with.

Owns how arguments are copied, moved and named. Imports trees. Invariant: a copy shares no array and no container with
the original; objects that are neither are handed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten, leaf_names, unflatten

Array = np.ndarray[Any, Any]

_NUMBERS = (np.generic, int, float, complex)
_MOVE = 2.0**-10


@dataclass(frozen=True, slots=True)
class Argument:
    """One leaf of the arguments, by name."""

    name: str
    value: Any
    differentiated: bool

    @property
    def array(self) -> Array:
        """The value as an array; one of objects if it is none."""
        with suppress(Exception):  # objects of other libraries may refuse as they like
            return np.asarray(self.value)
        return np.asarray(None)


@dataclass(frozen=True)
class Call:
    """A function with the arguments it is to be called with; `argnums` are the positions of the differentiated ones."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    argnums: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the function in texts."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return "the function" if name == "<lambda>" else str(name)

    def copied(self) -> Call:
        """The same call with copies of all arrays and containers."""
        args, kwargs = _with_leaves((self.args, self.kwargs), _copy)
        return Call(self.function, args, kwargs, self.argnums, self.names)

    def moved(self) -> Call:
        """A copy of the call with differentiated arguments that are a little larger."""
        args = [
            _with_leaves(a, _moved) if k in self.argnums else a for k, a in enumerate(_with_leaves(self.args, _copy))
        ]
        return Call(self.function, tuple(args), _with_leaves(self.kwargs, _copy), self.argnums, self.names)

    def run(self) -> Any:
        """The value of the function."""
        with np.errstate(all="ignore"):
            return self.function(*self.args, **self.kwargs)

    def leaves(self) -> list[Argument]:
        """The arguments' arrays and numbers; a list of numbers counts as one array."""
        every = [
            (name, arg, k in self.argnums) for k, (name, arg) in enumerate(zip(self.names, self.args, strict=True))
        ]
        every += [(name, arg, False) for name, arg in self.kwargs.items()]
        return [
            Argument(label, leaf, differentiated)
            for name, arg, differentiated in every
            for label, leaf in _labelled(arg, name)
        ]


def _labelled(arg: Any, name: str) -> list[tuple[str, Any]]:
    leaves, _ = flatten(arg)
    if type(arg) in (list, tuple) and leaves and all(isinstance(leaf, _NUMBERS) for leaf in leaves):
        with suppress(ValueError):
            return [(name, np.asarray(arg))]
    return [*zip(leaf_names(arg, name), leaves, strict=True)]


def is_number(leaf: Any) -> bool:
    """Whether a leaf is an array or a number."""
    return isinstance(leaf, (np.ndarray, *_NUMBERS))


def _with_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    leaves, spec = flatten(tree)
    return unflatten(spec, [change(leaf) for leaf in leaves])


def _copy(leaf: Any) -> Any:
    return leaf.copy(order="K") if isinstance(leaf, np.ndarray) else leaf


def _moved(leaf: Any) -> Any:
    if not is_number(leaf) or np.asarray(leaf).dtype.kind not in "fc":
        return leaf
    array = np.asarray(leaf)
    moved = array + np.where(array == 0, 1, array) * array.dtype.type(_MOVE)
    return moved.astype(array.dtype) if isinstance(leaf, np.ndarray) else moved.astype(array.dtype)[()]
