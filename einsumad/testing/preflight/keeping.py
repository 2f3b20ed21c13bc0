"""Arrays that a function keeps between its calls: in its closure, its object, its defaults, its module.

Owns how they are found and put back. Imports trees. Invariant: within :func:`unchanged` a function may write to them as
it likes; afterwards they have the entries they had before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from einsumad.frontend.trees import flatten, leaf_names
from einsumad.testing.bits import same_bits

Array = np.ndarray[Any, Any]

_LARGEST = 2**22


@dataclass(frozen=True, slots=True)
class Kept:
    """An array that a function can reach without being given it, and a copy of what it held."""

    name: str
    array: Array
    copy: Array

    @property
    def changed(self) -> bool:
        """Whether it now holds something else."""
        return not same_bits(self.array, self.copy)


@contextmanager
def unchanged(function: Callable[..., Any]) -> Iterator[list[Kept]]:
    """Put the arrays that a function keeps back to what they were, such as the running means of a layer.

    Seen are writable arrays of at most 2**22 entries, alone or in containers: variables of enclosing functions,
    attributes of the object of a method or of a callable object, defaults of parameters, arguments of a
    ``functools.partial``, and the globals that the code names.

    >>> import numpy as np
    >>> mean = np.zeros(1)
    >>> def layer(x):
    ...     mean[...] = 0.9 * mean + 0.1 * np.mean(x)
    ...     return x - np.mean(x)
    >>> with unchanged(layer):
    ...     _ = layer(np.ones(3))
    >>> mean
    array([0.])
    """
    kept = kept_by(function)
    try:
        yield kept
    finally:
        for each in kept:
            if each.changed:
                each.array[...] = each.copy


def kept_by(function: Callable[..., Any]) -> list[Kept]:
    """The arrays that a function keeps, each once, with copies."""
    found: dict[int, Kept] = {}
    for name, value in _reached(function):
        leaves, _ = flatten(value)
        for label, leaf in zip(leaf_names(value, name), leaves, strict=True):
            if isinstance(leaf, np.ndarray) and leaf.flags.writeable and leaf.size <= _LARGEST:
                found.setdefault(id(leaf), Kept(label, leaf, leaf.copy()))
    return list(found.values())


def _reached(function: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of what a function can reach."""
    if isinstance(function, partial):
        yield from [(f"argument {k}", value) for k, value in enumerate(function.args)]
        yield from function.keywords.items()
        yield from _reached(function.func)
        return
    owner = getattr(function, "__self__", None)
    if owner is None and not hasattr(function, "__code__"):
        owner = function
        function = getattr(type(function), "__call__", function)  # noqa: B004 - the code is wanted, not an answer
    if owner is not None and not isinstance(owner, type(np)):
        yield from [(f"self.{name}", value) for name, value in getattr(owner, "__dict__", {}).items()]
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue
    yield from [(f"default {k}", value) for k, value in enumerate(function.__defaults__ or ())]
    yield from (function.__kwdefaults__ or {}).items()
    yield from [(name, function.__globals__[name]) for name in code.co_names if name in function.__globals__]
