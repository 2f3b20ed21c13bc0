"""From a traced graph and a request to arrays, or to tensors where the answer depends on an outer trace.

Owns that step. Imports the cache of derivations, tracing and the value store. Invariant: arrays come back only if every
leaf the answer depends on has a value and none is a variable of another trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from einsumad.errors import ShapeError
from einsumad.frontend.cache import Derivation, find_or_derive, run
from einsumad.frontend.derived import Given, note
from einsumad.frontend.lifting import as_node
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.tracing import Variables, further_orders
from einsumad.frontend.trees import other_structure
from einsumad.frontend.values import home_among, known_value, share
from einsumad.frontend.variables import check_in_use, is_variable, mark_constant
from einsumad.graph import Leaf, Node, fresh_leaf, structural_key, substitute, with_slots
from einsumad.planning import Kept, Request, derive
from einsumad.records import record, replace


@record(eq=True, repr=True)
class Asked:
    """A request on a graph: roots, the variables of this call, and directions (tangents or cotangents) as nodes."""

    request: Request
    roots: tuple[Node, ...]
    variables: Variables
    directions: tuple[Node, ...] = ()


Builder: TypeAlias = Callable[[Request, tuple[Node, ...], tuple[Leaf, ...], tuple[int, int]], Derivation]
"""Makes the derivation of a request on roots, sources and directions given one after the other, and their slots."""


class Ready(NamedTuple):
    """A derivation, and the leaves that stand for its slots."""

    derivation: Derivation
    found: tuple[Leaf, ...]


def answer(asked: Asked, memory_limit: int | None) -> tuple[Any, ...]:
    """The outputs of the request, as arrays or as tensors of the enclosing trace."""
    return answer_and_source(asked, memory_limit)[0]


def answer_and_source(asked: Asked, memory_limit: int | None) -> tuple[tuple[Any, ...], Ready | None]:
    """The outputs of the request, and what they were computed from if the graph alone says it."""
    derivation, found = derivation_of(asked)
    outer = outer_nodes(asked, derivation, found)
    if outer is not None:
        return tuple([Tensor(node) for node in substitute(derivation.outputs, outer)]), None
    home = home_among(found)
    outputs = run(derivation, found, known_value, memory_limit, home=home)
    return outputs, Ready(derivation, found) if home is None and not derivation.rules else None


def outer_nodes(asked: Asked, derivation: Derivation, found: Sequence[Leaf]) -> dict[Node, Node] | None:
    """What the slots stand for in the enclosing trace; None if the answer does not depend on one."""
    own = asked.variables.arguments()
    if not depends_on_outer(found, own):
        return None
    stand = tuple([outer_node(leaf, own) for leaf in found])
    note(Given(derivation.outputs, derivation.slots, stand))
    return dict(zip(derivation.slots, stand, strict=True))


def derivation_of(asked: Asked, builder: Builder | None = None) -> tuple[Derivation, tuple[Leaf, ...]]:
    """The cached derivation of the request, and the leaves of this call in the order of its slots.

    `builder` makes it, if not :func:`build_derivation` does.
    """
    make = build_derivation if builder is None else builder
    graph = (*asked.roots, *asked.variables.leaves, *asked.directions)
    structure, found = structural_key(graph)
    counts = (len(asked.roots), len(asked.variables.leaves))
    nested = depends_on_outer(found, asked.variables.arguments())
    request = replace(asked.request, further=further_orders()) if nested else asked.request

    def build() -> Derivation:
        over_slots, slots = with_slots(graph, found)
        return make(request, over_slots, slots, counts)

    derivation, captured = find_or_derive((request, structure, counts, make), build)
    return derivation, found + captured


def build_derivation(
    request: Request,
    graph: tuple[Node, ...],
    slots: tuple[Leaf, ...],
    counts: tuple[int, int],
    kept: Kept | None = None,
) -> Derivation:
    """Derive the request on roots, sources and directions given one after the other.

    `kept` is that of :func:`einsumad.planning.derive`.
    """
    roots, sources = graph[: counts[0]], graph[counts[0] : sum(counts)]
    derived = derive(request, roots, sources, graph[sum(counts) :], kept)
    return Derivation(slots, derived.outputs, derived.choices)


def depends_on_outer(found: Sequence[Leaf], own: dict[Leaf, Any]) -> bool:
    """Whether the answer belongs to an outer trace: an argument is a tensor, or a captured value is a variable.

    Raises :class:`TracingError` where that is a variable of a call that is over.
    """
    captured = [leaf for leaf in found if leaf not in own and is_variable(leaf)]
    for leaf in captured:
        check_in_use(leaf)
    return bool(captured) or any(isinstance(original, Tensor) for original in own.values())


def outer_node(leaf: Leaf, own: dict[Leaf, Any]) -> Node:
    """What a leaf of this call stands for in the enclosing trace."""
    if leaf not in own:
        return leaf
    original = own[leaf]
    if isinstance(original, Tensor):
        return original.node
    constant = mark_constant(fresh_leaf(leaf.shape, leaf.dtype))
    share(constant, known_value(leaf))
    return constant


def direction_nodes(tree: Any, like: Sequence[Node], what: str, spec: Any) -> tuple[Node, ...]:
    """Tangents or cotangents as nodes, checked against the shapes of what they belong to."""
    from_tree, found = tree
    if found != spec:
        raise other_structure(what, tree, spec)
    nodes = []
    for position, (value, node) in enumerate(zip(from_tree, like, strict=True)):
        given = as_node(value, node.dtype)
        if given.shape != node.shape:
            raise ShapeError(f"{what} {position} has shape {given.shape}, expected {node.shape}")
        nodes.append(given)
    return tuple(nodes)
