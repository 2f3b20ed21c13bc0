"""Traced calls made again: the nodes that a call gave, over other operands of the same forms.

Owns what was seen of earlier calls. Imports the graph, the registry and lifting. Invariant: a call is made again only
if the handler looked at nothing but forms, which arguments are traced, and the numbers among them, never at a value or
a mark of a leaf; what it gives then is the node that the handler would give.

Handlers read traced values through functions that count (:mod:`einsumad.frontend.looks`). An array of NumPy could be
read by anyone, as axes, orders or coefficients are; so calls with such arrays are made again only for functions whose
handlers take them as nodes, which is noted where these are registered.

A loop that is traced anew on every call makes the same nodes over fresh leaves: here they are made without asking NumPy
for dtypes, lining axes up or looking for a canonical form again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from einsumad.frontend.lifting import as_node, is_traceable
from einsumad.frontend.looks import looks
from einsumad.frontend.plain import plain_key
from einsumad.frontend.recipes import Cast, Recipe, went_by
from einsumad.frontend.registry import calls_handlers, takes_arrays_as_nodes
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Leaf, Node, mould_of, recorded

_MOST_RECIPES = 4096
_MOST_NODES = 24

Key: TypeAlias = tuple[Any, ...]
_recipes: dict[Key, Recipe | None] = {}


@calls_handlers
def replayed(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], handler: Callable[..., Any]) -> Any:
    """What the handler gives for the arguments of a function: found by what it gave for others of the same forms."""
    nodes: list[Node] = []
    key: list[Any] = [function]
    for option, x in (*[(None, x) for x in args], *kwargs.items()):
        key.append(option)
        if not _entered(function, args, x, key, nodes):
            result = handler(*args, **kwargs)
            went_by(None)
            return result
    name = tuple(key)
    if name not in _recipes:
        return _recorded(name, nodes, [*args, *kwargs.values()], partial(handler, *args, **kwargs))
    recipe = _recipes.get(name)
    result = handler(*args, **kwargs) if recipe is None else recipe.cast(nodes)
    went_by(recipe)
    return result


def _entered(function: Any, args: Sequence[Any], x: Any, key: list[Any], nodes: list[Node]) -> bool:
    """Add an argument to the key: a node by its form, a plain value as it is; whether it is of such a kind."""
    kind = type(x)
    if kind is Tensor:
        node = x.entries.node
    elif kind is np.ndarray:
        if not takes_arrays_as_nodes(function, args) or not is_traceable(x.dtype):
            return False
        node = as_node(x)
    else:
        own = plain_key(x)
        if own is None and kind in (list, tuple):
            key.append((kind, len(x)))
            return all(_entered(function, args, part, key, nodes) for part in x)
        key.append(own)
        return own is not None
    key.append(kind is Tensor)
    for place, other in enumerate(nodes):
        if other is node:
            key.append(place)
        elif other.form == node.form:  # operands are put in order by their leaves
            if other.leaf_keys == node.leaf_keys:
                return False
            key.append((place, other.leaf_keys < node.leaf_keys))
    key.append(node.form)
    if type(node) is Leaf and node.key[0] == "number":
        key.append(node.key)
    nodes.append(node)
    return True


def _recorded(key: Key, nodes: list[Node], given: Sequence[Any], handle: Callable[[], Any]) -> Any:
    """What the handler gives for what was given, noted for the next time."""
    before = looks()
    with recorded() as made:
        result = handle()
    if len(_recipes) >= _MOST_RECIPES:
        _recipes.clear()
    recipe = _recipes[key] = _recipe(_node_of(result, given), nodes, made) if looks() == before else None
    went_by(recipe)
    return result


def _node_of(result: Any, given: Sequence[Any]) -> Any:
    """The node of a tensor that shares its entries with none that was given; other results as they are."""
    if type(result) is not Tensor:
        return result
    memory = result.entries.memory
    shared = any(x is result or (memory is not None and x.entries.memory is memory) for x in _tensors(given))
    return result if shared else result.node


def _tensors(given: Sequence[Any]) -> Iterator[Tensor]:
    for x in given:
        if isinstance(x, Tensor):
            yield x
        elif type(x) in (list, tuple):
            yield from _tensors(x)


def _recipe(result: Any, nodes: Sequence[Node], made: Sequence[Node]) -> Recipe | None:
    """How the result was made of the nodes; None where it was not made of them and of constants alone."""
    places: dict[Node, int] = {node: place for place, node in enumerate(nodes)}
    if not isinstance(result, Node) or len(made) > _MOST_NODES:
        return None
    needed = {result}
    for node in reversed(made):
        if node in needed and node not in places:
            needed.update(node.operands)
    casts: list[Cast] = []
    for node in dict.fromkeys(made):
        if node not in needed or node in places:
            continue
        operands = tuple([places.get(operand, operand) for operand in node.operands])
        if not all(isinstance(operand, int) or _is_constant(operand) for operand in operands):
            return None
        places[node] = len(nodes) + len(casts)
        casts.append((mould_of(node), operands))
    return Recipe(tuple(casts), places[result]) if result in places else None


def _is_constant(node: Node) -> bool:
    """Whether the node depends on no array: it is the same in every call."""
    return not node.leaf_keys or (isinstance(node, Leaf) and node.key[0] == "number")
