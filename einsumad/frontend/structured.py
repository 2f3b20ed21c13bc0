"""Derivatives that are kept in their structure.

Owns the way from a request to structured tensors, and what they are within ``ea.compile``. Imports requests, the cache
and the structured tensors. Invariant: the arrays of a block are computed when they are first needed, by one plan for
all that is needed then, from the values that the arguments had.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from einsumad import compressed
from einsumad.errors import InternalError, ShapeError, TracingError
from einsumad.execution.backends import Home
from einsumad.frontend.cache import Derivation, Part, compiled
from einsumad.frontend.requests import Asked, Ready, build_derivation, derivation_of, outer_nodes
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.tracing import Trace
from einsumad.frontend.trees import Tree, flatten, flatten_in, other_structure, register
from einsumad.frontend.values import home_among, known_value
from einsumad.graph import Leaf, Node, substitute
from einsumad.planning import Request, planner_options

if TYPE_CHECKING:
    from einsumad.compressed import BlockTensor, CompressedTensor, Form, Terms

_CONTAINERS = "einsumad.structured"


class Results:
    """The results of a derivation, whose arrays are computed when they are asked for, from the values of its slots.

    With `outer` they are tensors: what the slots stand for in an enclosing trace.
    """

    def __init__(
        self,
        derivation: Derivation,
        value: Callable[[int], Any],
        memory_limit: int | None,
        outer: Mapping[Node, Node] | None = None,
    ) -> None:
        self._derivation, self._value, self._memory_limit, self._outer = derivation, value, memory_limit, outer
        self._known: dict[int, tuple[Any, ...]] = {}

    @property
    def parts(self) -> tuple[Part, ...]:
        """What the results are made of."""
        return self._derivation.parts

    def form(self, position: int) -> Form:
        """The form of the result at a position."""
        form = self.parts[position].form
        if form is None:
            raise InternalError(f"result {position} has no structure")
        return form

    def arrays(self, positions: Sequence[int]) -> list[tuple[Any, ...]]:
        """For each of these results its arrays, by one plan for all that are not known yet."""
        parts = {k: self.parts[k] for k in positions if k not in self._known}
        which = tuple(dict.fromkeys([place for part in parts.values() for place in part.places if place >= 0]))
        computed = dict(zip(which, self._outputs(which), strict=True))
        for k, part in parts.items():
            arrays = [computed[place] if place >= 0 else self._given(~place) for place in part.places]
            self._known[k] = tuple(arrays)
        return [self._known[k] for k in positions]

    def dense(self, positions: Sequence[int]) -> list[Any]:
        """The results at these positions, which are of an order that is not kept in structure."""
        return [array if isinstance(array, Tensor) else np.array(array)[()] for (array,) in self.arrays(positions)]

    def _outputs(self, which: tuple[int, ...]) -> Sequence[Any]:
        if self._outer is None:
            plan, read = compiled(self._derivation, self._memory_limit, which)
            return plan(*[self._value(slot) for slot in read])
        return [Tensor(node) for node in substitute(self._derivation.chosen(which), self._outer)]

    def _given(self, slot: int) -> Any:
        if self._outer is None:
            return self._value(slot)
        return Tensor(self._outer[self._derivation.slots[slot]])


def results_of(asked: Asked, memory_limit: int | None) -> tuple[Results, Ready | None]:
    """The results of a request on derivatives, and what they are made of if the graph alone says it."""
    derivation, found = derivation_of(asked, structured_derivation)
    outer = outer_nodes(asked, derivation, found)
    refuse_elsewhere(home_among(found))
    ready = None if outer is not None or derivation.rules else Ready(derivation, found)
    return Results(derivation, lambda slot: known_value(found[slot]), memory_limit, outer), ready


def refuse_elsewhere(home: Home | None) -> None:
    """Derivatives are kept in their structure over NumPy arrays only: what solves with them is SciPy's."""
    if home is not None:
        raise TracingError(
            f"derivatives of arrays of {home.name} are not kept in their structure (compressed=True): leave that out, "
            "or give NumPy arrays"
        )


def structured_derivation(
    request: Request, graph: tuple[Node, ...], slots: tuple[Leaf, ...], counts: tuple[int, int]
) -> Derivation:
    """The derivation of the arrays that are stored, and the forms over them; orders below two of a scalar are dense.

    By Schwarz's theorem the block of two variables is the transpose of that with the variables exchanged.
    """
    roots, sources = graph[: counts[0]], graph[counts[0] : sum(counts)]
    stored = _Stored(slots)
    with planner_options(compression=True):
        derived = build_derivation(request, graph, slots, counts, stored.cores)
    parts: list[Part] = []
    highest = max(request.orders, default=2)
    nodes = iter(derived.outputs)
    for scalar, order in _kinds(request, roots):
        known: dict[tuple[int, ...], Part] = {}
        for which in product(range(len(sources)), repeat=order):
            node = next(nodes)
            turned = known.get(which[::-1])
            if order < highest:
                known[which] = Part(None, (stored.place(node),))
            elif turned is not None and turned.form is not None and order == 2 and scalar:
                known[which] = Part(compressed.transposed(turned.form), turned.places)
            else:
                rows = len(node.shape) - (len(sources[which[-1]].shape) if which else 0)
                symmetric = order == 2 and scalar and which[0] == which[1]
                known[which] = stored.part(node, rows, symmetric)
            parts.append(known[which])
    return Derivation(slots, tuple(stored.outputs), derived.choices, parts=tuple(parts))


class _Stored:
    """The arrays of several results: each slot, and each expression that is computed, once."""

    def __init__(self, slots: Sequence[Leaf]) -> None:
        self.outputs: list[Node] = []
        self._places: dict[Node, int] = {slot: ~k for k, slot in enumerate(slots)}
        self._taken_apart: dict[tuple[Node, int], Terms] = {}

    def cores(self, node: Node, rows: int) -> tuple[Node, ...]:
        """The expressions that are stored for a result with so many axes of rows, if it is."""
        return self._terms(node, rows).cores

    def _terms(self, node: Node, rows: int) -> Terms:
        known = self._taken_apart.get((node, rows))
        if known is None:
            known = self._taken_apart[node, rows] = compressed.terms_of(node, rows)
        return known

    def place(self, core: Node) -> int:
        """Where the value of an expression is found, as in :class:`Part`."""
        if core not in self._places:
            self._places[core] = len(self.outputs)
            self.outputs.append(core)
        return self._places[core]

    def part(self, node: Node, rows: int, symmetric: bool) -> Part:
        """A result in its structure."""
        found = self._terms(node, rows)
        return Part(found.form(symmetric), tuple([self.place(core) for core in found.cores]))


def in_structure(nodes: Sequence[Node], slots: tuple[Leaf, ...], rows: int | None) -> Derivation:
    """The derivation of what is stored for expressions, with so many axes of rows, or half of the axes."""
    stored = _Stored(slots)
    parts: list[Part] = []
    for node in nodes:
        count = len(node.shape) // 2 if rows is None else rows
        if isinstance(rows, bool) or not 0 <= count <= len(node.shape):
            raise ShapeError(f"rows must be a number of axes from 0 to {len(node.shape)}, got {rows!r}")
        parts.append(stored.part(node, count, symmetric=False))
    return Derivation(slots, tuple(stored.outputs), parts=tuple(parts))


def from_parts(derivation: Derivation, computed: Sequence[Any], given: Callable[[int], Any]) -> list[CompressedTensor]:
    """The results that are kept in their structure, from what was computed for them and private values of the slots."""
    found: list[CompressedTensor] = []
    for form, places in derivation.parts:
        if form is None:
            raise InternalError("a result has no structure")
        arrays = tuple([computed[place] if place >= 0 else given(~place) for place in places])
        found.append(compressed.CompressedTensor(compressed.Structured(form, arrays)))
    return found


def _kinds(request: Request, roots: Sequence[Node]) -> list[tuple[bool, int]]:
    """For each group of results whether they belong to a scalar, and the order of derivative."""
    if request.kind == "gauss-newton":
        return [(True, 2)]
    return [(not root.shape, order) for root in roots for order in request.orders]


def arranged(results: Results) -> list[CompressedTensor]:
    """All results as structured tensors."""
    positions = range(len(results.parts))
    found = results.arrays(positions)
    return [
        compressed.CompressedTensor(compressed.Structured(results.form(k), arrays))
        for k, arrays in zip(positions, found, strict=True)
    ]


def hessian_of(found: Trace, results: Results, start: int = 0) -> CompressedTensor | BlockTensor:
    """The Hessian that begins at a position of the results: of a single array a tensor, otherwise one of blocks."""
    leaves = found.variables.leaves
    count = len(leaves)
    if found.variables.tree.is_leaf():
        return compressed.CompressedTensor(compressed.Structured(results.form(start), results.arrays([start])[0]))
    layout = compressed.Layout(
        tuple([leaf.name or f"x{k}" for k, leaf in enumerate(leaves)]),
        tuple([leaf.shape for leaf in leaves]),
        tuple([leaf.dtype for leaf in leaves]),
        partial(_leaves_of, found.variables.tree),
        found.variables.unflatten,
    )
    pairs = [(i, j) for i in range(count) for j in range(count)]
    forms = {pair: results.form(start + k) for k, pair in enumerate(pairs)}
    return compressed.BlockTensor(
        layout, forms, lambda wanted: results.arrays([start + pairs.index(pair) for pair in wanted])
    )


def flatten_structured(tree: Any) -> tuple[list[Any], Tree]:
    """The leaves of a tree and its shape, where structured tensors are containers of their arrays.

    Whether there may be any is asked when a tree is there: the first may have been made by the call that gave it.
    """
    _kinds_of_containers()
    return flatten_in(_CONTAINERS, tree)


def holds_structured(tree: Any) -> bool:
    """Whether a tree has a structured tensor in it."""
    kinds = _kinds_of_containers()
    stack = [tree] if kinds else []
    while stack:
        part = stack.pop()
        if part.type in kinds:
            return True
        stack.extend(part.children())
    return False


def _kinds_of_containers() -> tuple[type, ...]:
    """The classes of structured tensors: none before these are loaded, as nothing can be one of them."""
    return _registered() if "einsumad.compressed.tensor" in sys.modules else ()


@cache
def _registered() -> tuple[type, ...]:
    register(_CONTAINERS, compressed.CompressedTensor, _arrays_of, _tensor_of)
    register(_CONTAINERS, compressed.BlockTensor, _arrays_of_blocks, _blocks_of)
    return compressed.CompressedTensor, compressed.BlockTensor


def _arrays_of(tensor: CompressedTensor) -> tuple[tuple[Any, ...], Form]:
    return tensor.held.arrays, tensor.held.form


def _tensor_of(form: Form, arrays: Any) -> CompressedTensor:
    return compressed.CompressedTensor(compressed.Structured(form, tuple(arrays)))


def _arrays_of_blocks(tensor: BlockTensor) -> tuple[list[Any], Any]:
    blocks = tensor.blocks()
    forms = {pair: (held.form, len(held.arrays)) for pair, held in blocks.items()}
    return [array for held in blocks.values() for array in held.arrays], (tensor.layout, forms, tensor.symmetric)


def _blocks_of(made_of: Any, arrays: Any) -> BlockTensor:
    layout, forms, symmetric = made_of
    waiting = iter(arrays)
    held = {pair: compressed.Structured(form, tuple(islice(waiting, count))) for pair, (form, count) in forms.items()}
    return compressed.BlockTensor(layout, {}, lambda _: (), held, symmetric)


def _leaves_of(tree: Any, given: Any) -> list[Any]:
    """The leaves of a tree that has to be like the arguments."""
    leaves, spec = flatten(given)
    if spec != tree:
        raise other_structure("vector", (leaves, spec), tree)
    return leaves
