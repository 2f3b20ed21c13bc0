"""Traces that go the way of earlier ones: calls found by what was called before, nodes made only if they are asked for.

Owns the tree of the ways that traces have gone, and the walk of one trace along it. Imports the graph, recipes, and
the tables of values and variables. Invariant: a step is found by the function, by the places of its arguments among all
that the trace has met, by the forms of new arrays, or the content of those that the handler may look at, and by numbers
and other plain options. The handler looked at nothing else when the step was noted, so a walk stands for the nodes that
the handlers would make, and these are made by the same recipes when they are asked for.

The user's function runs on every call. What it does that is no known step ends the walk: its nodes are made, and the
trace goes on as one that was on no walk. Whatever reaches for a node or for the arrays that were met ends it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import Any, TypeAlias

import numpy as np

from einsumad.frontend.cache import cleared_too
from einsumad.frontend.lifting import PLAIN_DTYPES
from einsumad.frontend.met import Met, Seen, same_bits
from einsumad.frontend.plain import array_key, plain_key
from einsumad.frontend.recipes import Recipe, last_recipe, went_by
from einsumad.frontend.registry import takes_arrays_as_nodes
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.values import share, snapshot
from einsumad.frontend.variables import Lifetime, mark_constant, mark_variable
from einsumad.frontend.views import Entries, View, attach, attach_again
from einsumad.graph import Leaf, Node, fresh_leaf
from einsumad.locks import module_lock

_MOST_STEPS = 2**14
"""Steps that are kept, where the end of a way counts as many; with more of them all are forgotten."""
_END = 16
_MOST_MISSED = 16
_FLOATING = frozenset([dtype for dtype in PLAIN_DTYPES if dtype.kind == "f"])
_NUMBERS = (float, np.floating)

Key: TypeAlias = tuple[Any, ...]
Called: TypeAlias = tuple[Any, Sequence[Any], Mapping[str, Any]]
Call: TypeAlias = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


_new = object.__new__
"""Makes a tensor that is given its entries: one call for each step of a walk, where its class makes three."""


class Start:
    """Where ways begin, over variables of given forms: the steps from there, what ended there, what was missed once."""

    __slots__ = ("ends", "missed", "nexts")

    def __init__(self) -> None:
        self.nexts: dict[Key, Step] = {}
        self.ends: dict[Key, Any] = {}
        self.missed: frozenset[Key] = frozenset()

    def is_missed_again(self, key: Key) -> bool:
        """Whether a call was missed here before: one that is never made again is not worth a step."""
        before = self.missed
        again = key in before
        kept = before if len(before) < _MOST_MISSED else frozenset[Key]()
        self.missed = before - {key} if again else kept | {key}
        return again

    def keep(self, question: Key, end: Any) -> None:
        """Keep what was found out for those who come here and end, if it was."""
        if end is not None:
            _count(_END)
            self.ends[question] = end


class Step(Start):
    """A call on a way: its recipe over places, its results, whether these are views, and where ways lead from it."""

    __slots__ = ("base", "is_view", "operands", "pack", "recipe", "results")

    def __init__(self, recipe: Recipe, operands: tuple[int, ...], results: Sequence[Entries], called: Called) -> None:
        super().__init__()
        self.recipe, self.operands, self.pack = recipe, operands, recipe.pack
        self.results = tuple([Result(self, number, entries.node) for number, entries in enumerate(results)])
        views = [entries.view for entries in results if entries.view is not None]
        self.is_view = bool(views)
        self.base = _place_of_base(views[0], called) if views and recipe.pack is None else None


class Result:
    """One of the results of a step, and its form."""

    __slots__ = ("dtype", "number", "shape", "step")

    def __init__(self, step: Step, number: int, node: Node) -> None:
        self.step, self.number, self.shape, self.dtype = step, number, node.shape, node.dtype


def _place_of_base(view: View, called: Called) -> int | str | None:
    """The place of the base of a view among the arguments, if the view is the same call of it and of plain options."""
    function, args, options = called
    base = view.base
    if base is None:
        base = args[view.place] if isinstance(view.place, int) else options[view.place]
    others = [plain_key(x) is not None for x in (*args, *options.values()) if x is not base]
    same = view.part is None and view.function is function is not np.einsum
    return view.place if same and all(others) and len(others) == len(args) + len(options) - 1 else None


def _attached(result: Any, step: Step, called: Called) -> Any:
    """The result of a call as a view of what its step is a view of."""
    return attach(result, *called) if step.base is None else attach_again(result, step.base, *called)


def _operands(given: Sequence[Any], *, with_arrays: bool) -> list[Any]:
    """The tensors among arguments, and the arrays if they are nodes, within lists and tuples too."""
    found: list[Any] = []
    for x in given:
        if type(x) in (list, tuple):
            found += _operands(x, with_arrays=with_arrays)
        elif type(x) is Tensor or (with_arrays and type(x) is np.ndarray):
            found.append(x)
    return found


_starts: dict[Key, Start] = {}
_kept = 0
_lock = module_lock()


@cleared_too
def forget() -> None:
    """Forget all ways."""
    global _kept  # noqa: PLW0603 (the size of the table above)
    with _lock:
        _starts.clear()
        _kept = 0


def _count(size: int) -> None:
    """Count what is kept now; forget all before it would be too much."""
    global _kept  # noqa: PLW0603 (the size of the table above)
    with _lock:
        if _kept > _MOST_STEPS:
            forget()
        _kept += size


def _new_start(key: Key) -> Start:
    _count(1)
    return _starts.setdefault(key, Start())


class Walk(Met):
    """One trace along the tree. `at` is where it is, None once it has ended.

    At the places stand, in the order in which the trace has met them, its variables and arrays with their snapshots,
    and the results of steps.
    """

    __slots__ = ("_count", "_names", "_nodes", "_notes", "_ordered", "_parts", "_thread", "at", "lifetime")

    handle: type = Tensor

    def __init__(self, at: Start, variables: list[Seen], names: Callable[[], Sequence[str]]) -> None:
        self.at: Start | None = at
        self._parts: list[Any] = variables
        self._count, self._names = len(variables), names
        self._nodes: list[Node] = []
        self._notes, self._ordered = False, True
        self._thread = get_ident()
        self.lifetime = Lifetime()
        self.arrays: dict[int | bytes, Seen] = {}

    def call(self, function: Any, args: Sequence[Any], options: Mapping[str, Any], ordinary: Call) -> Any:
        """What a call gives: found if it is a known step, otherwise by the ordinary way, which may become a step."""
        at = self.at
        if at is None or get_ident() != self._thread:
            return ordinary(function, args, options)
        self.at = None  # until the call has come to its end, whatever happens on the way
        parts = self._parts
        key: Any = [function]
        for x in (*args, *options.values()) if options else args:
            if type(x) is Tensor and x.entries.walk is self:
                key.append(x.entries.place)
            elif not self._enter(x, function, args, key):
                key = None
                break
        if options and key is not None:
            key.append(tuple(options))
        step = None if key is None else at.nexts.get(key := tuple(key))
        if step is None:
            return self._missed(at, key, (function, args, options), ordinary)
        if step.pack is None:
            result = _new(Tensor)
            result.entries = Entries(None, self, len(parts))
        else:
            result = step.pack([Tensor(None, self, len(parts) + k) for k in range(len(step.results))])
        parts += step.results
        self.at = step
        return _attached(result, step, (function, args, options)) if step.is_view else result

    def place_of(self, x: Any) -> int | None:
        """The place of a tensor of this walk, None of all else."""
        return x.entries.place if type(x) is Tensor and x.entries.walk is self else None

    def places_of(self, outputs: Sequence[Any]) -> tuple[int, ...] | None:
        """The places of tensors of this walk; None where one is something else."""
        found = [place for x in outputs if (place := self.place_of(x)) is not None]
        return tuple(found) if len(found) == len(outputs) else None

    def values(self, places: Sequence[int | np.ndarray], directions: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The values at the places of variables and arrays, and of directions, at -1 and below; others as they are."""
        parts = self._parts
        return [x if type(x) is not int else parts[x].value if x >= 0 else directions[~x] for x in places]  # type: ignore[misc]

    def form(self, place: int) -> Any:
        """What has the shape and dtype of what stands at a place."""
        part = self._parts[place]
        return part if type(part) is Result else part.value

    def places(self) -> dict[Node, int]:
        """The places of the leaves of variables and arrays."""
        return {self._nodes[k]: k for k, part in enumerate(self._parts) if type(part) is Seen}

    def constants(self) -> dict[Node, np.ndarray]:
        """The arrays by their leaves that calls have made of what their keys say: they belong to the way."""
        return {x.leaf: x.value for key, x in self.arrays.items() if type(key) is bytes and x.leaf is not None}

    def variables(self, count: int) -> tuple[Leaf, ...]:
        """The leaves of the variables."""
        self.leave()
        self._make()
        return tuple(self._nodes[:count])  # type: ignore[arg-type]  # variables come first

    def stop(self) -> Start | None:
        """End the walk, and say where it has come to."""
        at, self.at = self.at, None
        return at

    def leave(self) -> None:
        """End the walk: nodes are made from here on, those of what it has met first. One that has ended stays so."""
        if self.at is not None:
            self.at = None
            self._make()

    def node(self, place: int) -> Node:
        """The node at a place, which ends the walk."""
        self.leave()
        if place >= len(self._nodes):  # what another thread asked for
            self._make()
        return self._nodes[place]

    def _enter(self, x: Any, function: Any, args: Sequence[Any], key: list[Any]) -> bool:
        """Add an argument to the key of a call, and give a new array its place; whether the key tells all of it."""
        kind = type(x)
        if kind is Tensor:
            entries = x.entries
            key.append(entries.place)
            return entries.walk is self
        if kind is np.ndarray:
            if not takes_arrays_as_nodes(function, args):
                own = array_key(x)
                key.append(own)
                return own is not None
            seen = self.arrays.get(id(x))
            if seen is not None and not same_bits(x, seen.value):
                seen = None
            if seen is not None and seen.place >= 0:
                key.append(seen.place)
                return True
            dtype = x.dtype
            if dtype not in PLAIN_DTYPES:
                return False
            if seen is None:
                seen = self.arrays[id(x)] = Seen(x, snapshot(x))
            seen.place = len(self._parts)
            self._parts.append(seen)
            key.append((x.shape, dtype))
            return True
        plain = plain_key(x)
        if plain is None and kind in (list, tuple):
            key.append((kind, len(x)))
            return all(self._enter(part, function, args, key) for part in x)
        key.append(plain)
        return plain is not None

    def _missed(self, at: Start, key: Key | None, called: Called, ordinary: Call) -> Any:
        """Go the ordinary way; it is noted if it was missed before, and so are those that follow it."""
        self._make()
        if key is None or not (self._notes or at.is_missed_again(key)):
            return ordinary(*called)
        self._notes = True
        return self._explored(at, key, called, ordinary)

    def _explored(self, at: Start, key: Key, called: Called, ordinary: Call) -> Any:
        """Go the ordinary way, and note it as a step if it has a recipe."""
        went_by(None)
        result = ordinary(*called)
        recipe = last_recipe()
        parts = list(result) if isinstance(result, (list, tuple)) else [result]
        if recipe is None or any(type(part) is not Tensor for part in parts) or not self._ordered:
            return result
        by_node = takes_arrays_as_nodes(called[0], called[1])
        given = _operands([*called[1], *called[2].values()], with_arrays=by_node)
        operands = tuple([x.entries.place if type(x) is Tensor else self.arrays[id(x)].place for x in given])
        results = [part.entries for part in parts]
        nodes = [entries.last for entries in results]
        made = recipe.cast([self._nodes[k] for k in operands], self)
        if len(made) != len(nodes) or any(one is not other for one, other in zip(made, nodes, strict=True)):
            return result
        step = Step(recipe, operands, results, called)
        _count(len(results))
        step = at.nexts.setdefault(key, step)
        with _lock:
            for place, entries in enumerate(results, len(self._parts)):
                entries.walk, entries.place = self, place
            self._parts += step.results
            self._nodes += made
            self.at = step
        return result

    def _make(self) -> None:
        """Make the nodes of all that the walk has met so far, in that order."""
        with _lock:
            names: Sequence[str] = () if self._nodes else self._names()
            made: list[Node] = []
            for place in range(len(self._nodes), len(self._parts)):
                part = self._parts[place]
                if isinstance(part, Result):
                    if part.number == 0:
                        made = part.step.recipe.cast([self._nodes[k] for k in part.step.operands], self)
                    node = made[part.number]
                elif part.leaf is None:
                    name = names[place] if place < len(names) else None
                    node = _leaf_of(part, name, self.lifetime if place < self._count else None)
                else:  # made by another thread, before those of arrays that were met earlier
                    node, self._ordered = part.leaf, False
                self._nodes.append(node)


def walk_of(originals: Sequence[Any], names: Callable[[], Sequence[str]]) -> Walk | None:
    """A walk with private copies of arrays and numbers as its variables; None where some are of other kinds."""
    variables: list[Seen] = []
    key = []
    for x in originals:
        if not (x.dtype in _FLOATING if type(x) is np.ndarray else isinstance(x, _NUMBERS)):
            return None
        value = snapshot(x)
        variables.append(Seen(None, value, None, None, len(variables)))
        key.append((value.shape, value.dtype))
    forms = tuple(key)
    return Walk(_starts.get(forms) or _new_start(forms), variables, names)


def _leaf_of(seen: Seen, name: str | None, lifetime: Lifetime | None) -> Leaf:
    """The leaf of a variable of a call that has a lifetime, or of an array."""
    new = fresh_leaf(seen.value.shape, seen.value.dtype, name)
    leaf = seen.leaf = mark_constant(new) if lifetime is None else mark_variable(new, lifetime)
    share(leaf, seen.value)
    return leaf
