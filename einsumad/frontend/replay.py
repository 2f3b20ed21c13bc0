"""Traced calls made again: the nodes that a call gave, over other operands of the same forms.

Owns what was seen of earlier calls. Imports the graph, the registry and lifting. Invariant: a call is made again only
if the handler looked at nothing but forms, which arguments are traced, and the numbers among them, never at a value or
a mark of a leaf; what it gives then is the node that the handler would give.

Handlers read traced values through functions that count (:mod:`einsumad.frontend.looks`). An array of NumPy could be
read by anyone, as axes, orders or coefficients are; so it is a node only for functions whose handlers take it as one,
which is noted where these are registered. For others a small array counts by its content, and calls with larger ones
are not made again.

What a handler makes by itself of all that, such as places or grids, is the same whenever it is made: its arrays are
constants of the recipe. A call with an array that is taken as a node has none, since a constant may be made of that.

A form tells nothing of the numbers in a node. So a node that is made of numbers alone counts by itself, and where a
handler happens to make one of its operands the call is not noted: nobody could tell which of the two is meant.

A loop that is traced anew on every call makes the same nodes over fresh leaves: here they are made without asking NumPy
for dtypes, lining axes up or looking for a canonical form again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from einsumad.frontend.lifting import as_node, is_traceable, noting_arrays
from einsumad.frontend.looks import looks
from einsumad.frontend.met import met_in_trace
from einsumad.frontend.overlays import is_overlaid
from einsumad.frontend.plain import MOST_CONTENT, array_key, plain_key
from einsumad.frontend.recipes import Cast, Pack, Recipe, went_by
from einsumad.frontend.registry import calls_handlers, takes_arrays_as_nodes
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Leaf, Node, mould_of, recorded

_MOST_RECIPES = 4096
_MOST_NODES = 256

Key: TypeAlias = tuple[Any, ...]
_recipes: dict[Key, Recipe | None] = {}
_missed: set[int] = set()
"""Hashes of keys with the content of arrays that were missed: one that is never met again is not worth a recipe."""


@calls_handlers
def replayed(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], handler: Callable[..., Any]) -> Any:
    """What the handler gives for the arguments of a function: found by what it gave for others of the same forms."""
    nodes: list[Node] = []
    key: list[Any] = [function]
    by_node = takes_arrays_as_nodes(function, args)
    for option, x in (*[(None, x) for x in args], *kwargs.items()):
        key.append(option)
        if not _entered(x, key, nodes, by_node=by_node):
            result = handler(*args, **kwargs)
            went_by(None)
            return result
    name = tuple(key)
    if name not in _recipes and (by_node or _is_missed_again(name)):
        given = [*args, *kwargs.values()]
        return _recorded(name, nodes, partial(handler, *args, **kwargs), given, by_node=by_node)
    recipe = _recipes.get(name)
    result = handler(*args, **kwargs) if recipe is None else recipe.packed(recipe.cast(nodes, met_in_trace()))
    went_by(recipe)
    return result


def _is_missed_again(key: Key) -> bool:
    """Whether the key has no content of arrays, or was missed before."""
    if not any(type(part) is tuple and part and part[0] is np.ndarray for part in key):
        return True
    again = hash(key) in _missed
    if len(_missed) >= _MOST_RECIPES:
        _missed.clear()
    _missed.add(hash(key))
    return again


def _entered(x: Any, key: list[Any], nodes: list[Node], *, by_node: bool) -> bool:
    """Add an argument to the key: a node by its form, a plain value as it is; whether it is of such a kind."""
    kind = type(x)
    if kind is Tensor:
        return _node_entered(x.entries.node, key, nodes, traced=True)
    if kind is np.ndarray and by_node:
        return is_traceable(x.dtype) and _node_entered(as_node(x), key, nodes, traced=False)
    own = array_key(x) if kind is np.ndarray else plain_key(x)
    if own is None and kind in (list, tuple):
        key.append((kind, len(x)))
        return all(_entered(part, key, nodes, by_node=by_node) for part in x)
    key.append(own)
    return own is not None


def _node_entered(node: Node, key: list[Any], nodes: list[Node], *, traced: bool) -> bool:
    if is_overlaid(node):
        return False
    key.append(traced)
    for place, other in enumerate(nodes):
        if other is node:
            key.append(place)
        elif other.form == node.form:  # operands are put in order by their leaves
            if other.leaf_keys == node.leaf_keys:
                return False
            key.append((place, other.leaf_keys < node.leaf_keys))
    key.append(node.form)
    if node.leaf_keys and all(of_leaf[0] == "number" for of_leaf in node.leaf_keys):
        key.append(node.digest)
    nodes.append(node)
    return True


def _recorded(key: Key, nodes: list[Node], handle: Callable[[], Any], given: Sequence[Any], *, by_node: bool) -> Any:
    """What the handler gives for what was given, noted for the next time."""
    before = looks()
    with recorded() as made, noting_arrays() as arrays:
        result = handle()
    results = _results(result, given)
    if by_node and any(isinstance(x, np.ndarray) for x in _flat(given)):
        arrays.clear()
    if not {*made, *arrays}.isdisjoint(nodes):
        went_by(None)
        return result
    recipe = None if results is None or looks() != before else _recipe(*results, nodes, made, arrays)
    if len(_recipes) >= _MOST_RECIPES:
        _recipes.clear()
    _recipes[key] = recipe
    if recipe is not None and recipe.constants:  # they are the same leaves from the first time on
        result = recipe.packed(recipe.cast(nodes, met_in_trace()))
    went_by(recipe)
    return result


def _results(result: Any, given: Sequence[Any]) -> tuple[list[Node], Pack] | None:
    """The nodes of results, and what packs them; None of other objects, and of tensors that share their entries."""
    kind = type(result)
    several = kind in (list, tuple) or (isinstance(result, tuple) and hasattr(result, "_fields"))
    parts = list(result) if several else [result]
    tensors = [part for part in parts if type(part) is Tensor]
    if not parts or not all(isinstance(part, Node) or type(part) is Tensor for part in parts):
        return None
    alone = {id(x): x for x in _flat(given) if isinstance(x, Tensor)}
    memories = [x.entries.memory for x in alone.values()]
    for x in tensors:
        memory = x.entries.memory
        if id(x) in alone or (memory is not None and any(memory is other for other in memories)):
            return None
        alone[id(x)] = x
        memories.append(memory)
    nodes = [part.node if type(part) is Tensor else part for part in parts]
    if not several:
        return nodes, None
    return nodes, (lambda found: kind(*found)) if hasattr(result, "_fields") else kind


def _flat(given: Sequence[Any]) -> Iterator[Any]:
    """What was given, and what is in lists and tuples of it."""
    for x in given:
        if type(x) in (list, tuple):
            yield from _flat(x)
        else:
            yield x


def _recipe(
    results: Sequence[Node], pack: Pack, nodes: Sequence[Node], made: Sequence[Node], arrays: Mapping[Node, np.ndarray]
) -> Recipe | None:
    """How the results were made of the nodes; None where they were not made of them and of constants alone."""
    places: dict[Node, int] = {node: place for place, node in enumerate(nodes)}
    if len(made) > _MOST_NODES:
        return None
    needed = dict.fromkeys(results)
    for node in reversed(made):
        if node in needed and node not in places:
            needed.update(dict.fromkeys(node.operands))
    constants = [node for node in needed if node in arrays and node not in places]
    if any(arrays[node].nbytes > MOST_CONTENT for node in constants):
        return None
    places |= {node: len(nodes) + k for k, node in enumerate(constants)}
    casts: list[Cast] = []
    for node in dict.fromkeys(made):
        if node not in needed or node in places:
            continue
        operands = tuple([places.get(operand, operand) for operand in node.operands])
        if not all(isinstance(operand, int) or _is_constant(operand) for operand in operands):
            return None
        places[node] = len(nodes) + len(constants) + len(casts)
        casts.append((mould_of(node), operands))
    if not all(node in places for node in results):
        return None
    own = tuple([_private(arrays[node]) for node in constants])
    return Recipe(own, tuple(casts), tuple([places[node] for node in results]), pack)


def _private(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def _is_constant(node: Node) -> bool:
    """Whether the node depends on no array: it is the same in every call."""
    return not node.leaf_keys or (isinstance(node, Leaf) and node.key[0] == "number")
