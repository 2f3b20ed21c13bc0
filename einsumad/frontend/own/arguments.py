"""The arguments of a call taken apart: arrays, which become operands, and everything else, which stays what it is.

Owns the layout of a call. Imports lifting and trees. Invariant: a layout gives the function its arguments back in the
kinds in which they were written: a float as a float, a value without axes as a NumPy scalar, an array as a new one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.frontend.lifting import as_node
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.trees import Tree, flatten, unflatten
from einsumad.graph import Node
from einsumad.records import record


@record(eq=True, repr=True)
class Static:
    """An argument, or a part of one, that is no array of the graph."""

    kind: type
    value: Hashable


@record(eq=True, repr=True)
class Number:
    """The place of a float of Python."""


@record(eq=True, repr=True)
class Array:
    """The place of an array."""


Place = Static | Number | Array


@record(eq=True, repr=True)
class Layout:
    """The tree of the positional arguments, and what stands at each of its leaves."""

    tree: Tree
    places: tuple[Place, ...]

    def arguments(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments with these values at the places of arrays and floats."""
        return self.filled(operands, lambda place: place.value)

    def filled(self, operands: Sequence[Any], other: Callable[[Static], Any]) -> tuple[Any, ...]:
        """The tree of the arguments with values for the operands and for what is none."""
        given = iter(operands)
        parts = [other(place) if isinstance(place, Static) else next(given) for place in self.places]
        filled: tuple[Any, ...] = unflatten(self.tree, parts)
        return filled

    def plain(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments for the function itself, which may write to them."""
        places = [place for place in self.places if not isinstance(place, Static)]
        return self.arguments([_own_copy(a, place) for a, place in zip(arrays, places, strict=True)])

    def weak_dtype(self, dtypes: Sequence[np.dtype]) -> np.dtype:
        """The dtype that a float of Python takes on beside the arrays of the call."""
        places = [place for place in self.places if not isinstance(place, Static)]
        floats = [d for d, place in zip(dtypes, places, strict=True) if isinstance(place, Array) and d.kind == "f"]
        return np.result_type(*floats) if floats else np.dtype(np.float64)

    def text(self, objects: dict[Static, int]) -> str:
        """What tells the layout from others of the same function, the same in every run for plain values."""
        parts = []
        for place in self.places:
            if not isinstance(place, Static):
                parts.append(type(place).__name__)
            elif place.kind in (int, bool, str, bytes):
                parts.append(f"{place.kind.__name__} {place.value!r}")
            else:
                parts.append(f"object {objects.setdefault(place, len(objects))}")
        return f"{self.tree} {parts}"


def _own_copy(array: Any, place: Place) -> Any:
    if isinstance(place, Number):
        return float(array)
    copy = np.array(array, order="C")
    return copy if copy.shape else copy[()]


def positional(function: Callable[..., Any], name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """All arguments by position, with the defaults of a function of Python; what is keyword-only keeps its default."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        if kwargs:
            raise TracingError(f"{name} has no signature that can be read: pass its arguments by position") from None
        return list(args)
    bound = signature.bind(*args, **kwargs)
    if any(signature.parameters[key].kind is inspect.Parameter.KEYWORD_ONLY for key in bound.arguments):
        raise TracingError(
            f"{name} was given keyword-only arguments ({', '.join(kwargs)}), which push and pull would not see: "
            "let them be passed by position"
        )
    if hasattr(function, "__code__") or hasattr(function, "__func__"):
        bound.apply_defaults()
    return list(bound.args)


def take_apart(name: str, args: Sequence[Any]) -> tuple[Layout, tuple[Node, ...]]:
    """The layout of a call and its operands."""
    leaves, tree = flatten(tuple(args))
    operands: list[Node] = []
    places: list[Place] = []
    for leaf in leaves:
        place = _place(name, leaf)
        places.append(place)
        if not isinstance(place, Static):
            operands.append(as_node(leaf))
    return Layout(tree, tuple(places)), tuple(operands)


def _place(name: str, leaf: Any) -> Place:
    if isinstance(leaf, (Tensor, np.ndarray, np.floating)):
        return Array()
    if isinstance(leaf, float):
        return Number()
    try:
        hash(leaf)
    except TypeError:
        raise TracingError(
            f"{name} was given a {type(leaf).__name__}, which is no array and has no hash: pass arrays, numbers, "
            "texts, functions or containers of them, or let the function capture the object"
        ) from None
    return Static(type(leaf), leaf)


def holds_traced(values: Any) -> bool:
    """Whether a tree has a traced value in it."""
    return any(isinstance(leaf, Tensor) for leaf in flatten(values)[0])
