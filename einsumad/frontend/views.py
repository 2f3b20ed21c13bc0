"""Which traced arrays share their entries, as NumPy's do: a write into one is seen in the others.

Owns entries, views of them and the order of a write. Imports the registry and the graph. Invariant: after a
write each array has the entries that NumPy would give it; where that depends on an order in memory, which traced values
do not have, it raises. A write that raises changes nothing.

A view remembers the call that made it: after a write elsewhere the call is made again. The same call of an array of
positions tells to where in its base the entries of a view go.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from inspect import signature
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from einsumad.errors import TracingError
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.met import OnWalk
from einsumad.frontend.registry import call_function
from einsumad.graph import Einsum, Labels, Node
from einsumad.records import record

_BY_ORDER = frozenset([np.reshape, np.ravel, np.astype])
"""Functions that copy or not as the order in memory makes them."""
_READ_ONLY = frozenset([np.diagonal, np.linalg.diagonal, np.diag, np.broadcast_to, sliding_window_view])
_OF_EACH = frozenset([np.atleast_1d, np.atleast_2d, np.atleast_3d])
_OF_ALL = frozenset([np.broadcast_arrays, np.meshgrid])
"""Functions of which each part is a view of the argument in its place, of a shape that all arguments decide."""
_UNCHANGED = {np.diff: 0, np.linalg.matrix_power: 1}
"""Functions that give their argument itself where their second one is this number."""
_VIEWS = (
    _READ_ONLY
    | _OF_EACH
    | _OF_ALL
    | _UNCHANGED.keys()
    | {np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.matrix_transpose, np.squeeze, np.expand_dims, np.real}
    | {np.real_if_close}
    | {np.linalg.matrix_transpose, np.flip, np.fliplr, np.flipud, np.rot90, np.einsum, operator.getitem}
    | {np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.unstack}
)
_STALE = (
    "it was made by numpy.{name} of an array that was written to since, and whether NumPy would show the change "
    "depends on the order in memory, which traced values do not have: take a copy before, as in x.{name}(...).copy()"
)
_SHARED = (
    "it was made by numpy.{name} of an array that is still in use, and whether NumPy would change that too depends on "
    "the order in memory, which traced values do not have: write into a copy, x.{name}(...).copy()"
)
_OF_NUMBER = (
    "it was made by {name} of a value without axes that is still in use: of a number NumPy makes a new array, of an "
    "array without axes a view, and traced values are both: write into a copy, as by np.copy(...)"
)


@record(frozen=False, repr=True)
class Memory:
    """What arrays share: how often it was written to, and which of them are alive."""

    version: int = 0
    members: WeakSet[Entries] = field(default_factory=WeakSet)


@record(repr=True)
class View:
    """How an array was made of its base, which stood at `place` among the arguments; no base where nobody knows."""

    base: Any
    place: int | str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: Mapping[str, Any]
    part: int | None = None

    def again(self) -> Node:
        """The node that the call gives now."""
        node: Node = self._part(call_function(self.function, *self._call(self.base)))
        return node

    def of_array(self, array: np.ndarray) -> Any:
        """What NumPy's own function gives for an array in the place of the base."""
        args, options = self._call(array)
        return self._part(self.function(*args, **options))

    def written(self, node: Node) -> Node:
        """The base with new entries where the view has them."""
        new = type(self.base)(node)
        function: Callable[..., Any] = operator.setitem
        shape, where = self.base.shape, self.args[-1] if self.args else None
        if self.function is not operator.getitem:
            function = np.put
            where = self.of_array(np.arange(int(np.prod(shape, dtype=int))).reshape(shape))
        after: Node = call_function(function, (self.base, where, new), {})
        return after

    def _call(self, base: Any) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        args = tuple([base if k == self.place else arg for k, arg in enumerate(self.args)])
        return args, {name: base if name == self.place else option for name, option in self.options.items()}

    def _part(self, result: Any) -> Any:
        return result if self.part is None else result[self.part]


def attach(result: Any, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """The result of a call, each part of which remembers what it is a view of."""
    if (function not in _BY_ORDER and function not in _VIEWS) or _changes(function, args, options):
        return result
    parts = result if isinstance(result, (list, tuple)) else [result]
    given: dict[int | str, Any] = dict(enumerate(args))
    given.update(options)
    kind = type(parts[0]) if parts else object
    where = [place for place, arg in given.items() if isinstance(arg, kind)]
    if function in _OF_EACH and len(where) == len(parts):
        for part, place in zip(parts, where, strict=True):
            _share(part, View(given[place], 0, function, (given[place],), {}))
        return result
    if function in _OF_ALL:
        _attach_each(parts, kind, function, args, options)
        return result
    if function is not np.einsum and len(where) > 1:  # traced numbers are among the other arguments
        first = 0 if args else next(iter(signature(function).parameters))
        where = [place for place in where if place == first]
    if len(where) == 1:
        base = given[where[0]]
        if function is not operator.getitem:
            args = [arg if place == where[0] else _number_of(arg) for place, arg in enumerate(args)]
            options = {name: arg if name == where[0] else _number_of(arg) for name, arg in options.items()}
        for k, part in enumerate(parts):
            _share(part, View(base, where[0], function, tuple(args), options, None if part is result else k))
    return result


def attach_again(
    result: Any, place: int | str, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """The result of a call as a view of the argument at a place, where the same call gave such a view before."""
    base = args[place] if isinstance(place, int) else options[place]
    unknown = function in _BY_ORDER or _may_be_number(base)
    view = View(None, place, function, (), {}) if unknown else View(base, place, function, tuple(args), options)
    result.entries.share(view, base.entries)
    return result


def _may_be_number(base: Any) -> bool:
    """Whether NumPy may have a number where the array is traced, which has no views."""
    return not base.shape and base.entries.view is None


def _changes(function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Whether a function that may give its argument itself does not with this number."""
    number = _UNCHANGED.get(function)
    return number is not None and (args[1] if len(args) > 1 else options.get("n", 1)) != number


def _attach_each(
    parts: Sequence[Any], kind: type, function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> None:
    for k in [k for k in range(min(len(args), len(parts))) if isinstance(args[k], kind)]:
        shapes = [_of_shape(arg) if place != k else arg for place, arg in enumerate(args)]
        _share(parts[k], View(args[k], k, function, tuple(shapes), options, k))


def _share(part: Any, view: View) -> None:
    owner = view.base.entries
    unknown = View(None, view.place, view.function, (), {})
    if view.function in _BY_ORDER:
        if not view.options.get("copy", view.function is np.astype):
            part.entries.share(unknown, owner)
    elif view.function is np.einsum:
        labels = _layout(part.node, view.base.node)
        if labels is not None:
            again = (view.base, list(labels), list(range(part.ndim)))
            known = View(view.base, 0, np.einsum, again, {})
            part.entries.share(unknown if _may_be_number(view.base) else known, owner)
    elif (view.function is not operator.getitem or is_basic(view.args[1])) and _is_view(view):
        part.entries.share(unknown if _may_be_number(view.base) else view, owner)


def _layout(node: Node, base: Node) -> Labels | None:
    """The labels of the axes of the base where the node only permutes them or takes diagonals; None elsewhere."""
    if node is base:
        return tuple(range(len(base.shape)))
    if not isinstance(node, Einsum) or node.operands != (base,) or node.coefficient != 1 or node.dtype != base.dtype:
        return None
    return node.inputs[0] if all(label < len(node.shape) for label in node.inputs[0]) else None


def is_basic(index: Any) -> bool:
    """Whether an index has slices, numbers, new axes and an ellipsis only: NumPy then makes a view."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is Ellipsis or isinstance(item, slice) or _is_number(item) for item in items)


def _is_number(item: Any) -> bool:
    """Whether it is one for NumPy, whose functions give numbers where traced ones have no axes."""
    if isinstance(item, (int, np.integer)):
        return True
    return hasattr(item, "__index__") and (not hasattr(item, "shape") or _is_traced_number(item))


def _is_traced_number(item: Any) -> bool:
    return hasattr(item, "node") and not item.shape and item.dtype.kind in "iu"


def _is_view(view: View) -> bool:
    """Whether NumPy makes a view, found without an array of that size."""
    array = np.broadcast_to(np.zeros(()), view.base.shape)
    if view.function is operator.getitem:
        return np.may_share_memory(array[_anywhere(view.args[1])], array)
    return np.may_share_memory(view.of_array(array), array)


def _of_shape(arg: Any) -> np.ndarray:
    """Zeros of the shape of an argument that decides on nothing but the shape."""
    return np.broadcast_to(np.zeros(()), np.shape(arg) if not hasattr(arg, "node") else arg.shape)


def _number_of(option: Any) -> Any:
    """An option with numbers in the place of traced ones, which are known: the call was made."""
    if isinstance(option, (list, tuple)):
        return type(option)([_number_of(part) for part in option])
    value = concrete(option.node) if hasattr(option, "node") else None
    return option if value is None else value[()]


def _anywhere(index: Any) -> Any:
    """The index with zero for traced numbers, which may not be known."""
    if isinstance(index, tuple):
        return tuple([_anywhere(item) for item in index])
    return 0 if _is_traced_number(index) else index


def _unknown(view: View, by_order: str) -> TracingError:
    """The error where nobody knows what NumPy would change."""
    text = by_order if view.function in _BY_ORDER else _OF_NUMBER
    name = "indexing" if view.function is operator.getitem else view.function.__name__
    return TracingError(text.format(name=name))


class Entries:
    """The node of an array as last seen, what it is a view of, and the memory that it shares.

    On a walk the node is not made before it is asked for: there is the place at which it stands.
    """

    __slots__ = ("__weakref__", "last", "memory", "place", "version", "view", "walk")

    def __init__(self, node: Node | None, walk: OnWalk | None = None, place: int = -1) -> None:
        self.last = node
        self.walk, self.place = walk, place
        self.view: View | None = None
        self.memory: Memory | None = None
        self.version = 0

    @property
    def node(self) -> Node:
        """The expression of the entries, also after writes to what they are shared with."""
        if self.memory is not None and self.version != self.memory.version:
            self._refresh(self.memory)
        last = self.last
        if last is None:
            assert self.walk is not None
            last = self.last = self.walk.node(self.place)
        return last

    @property
    def form(self) -> Any:
        """What has the shape and dtype."""
        return self.walk.form(self.place) if self.last is None and self.walk is not None else self.node

    def share(self, view: View, owner: Entries) -> None:
        """Become a view of another array."""
        if owner.memory is None:
            owner.memory = Memory()
            owner.memory.members.add(owner)
        self.view, self.memory, self.version = view, owner.memory, owner.memory.version
        self.memory.members.add(self)

    def _refresh(self, memory: Memory) -> None:
        stale: list[tuple[Entries, View]] = []
        current = self
        while current.view is not None and current.version != memory.version:
            if current.view.base is None:
                raise _unknown(current.view, _STALE)
            stale.append((current, current.view))
            current = current.view.base.entries
        for each, view in reversed(stale):
            each.last, each.version = view.again(), memory.version

    def write(self, new: Node, may_write: Callable[[Node], None]) -> None:
        """Take a new node, and write it to what this is a view of. `may_write` raises where an owner may not."""
        steps = [(self, new)]
        owner = self
        while owner.view is not None and owner.view.base is not None:
            view = owner.view
            if view.function in _READ_ONLY:
                raise ValueError("assignment destination is read-only")
            owner = view.base.entries
            steps.append((owner, view.written(steps[-1][1])))
        may_write(owner.node)
        memory = owner.memory
        if memory is not None:
            if owner.view is not None and not all(other.stands_on(owner) for other in memory.members):
                raise _unknown(owner.view, _SHARED)
            memory.version += 1
        for each, node in steps:
            each.last = node
            if memory is not None:
                each.version = memory.version

    def stands_on(self, owner: Entries) -> bool:
        """Whether this is the owner or a view of it."""
        current: Entries | None = self
        while current is not None and current is not owner:
            view = current.view
            current = None if view is None or view.base is None else view.base.entries
        return current is owner
