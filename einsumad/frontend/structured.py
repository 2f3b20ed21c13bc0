"""Derivatives that are kept in their structure.

Owns the way from a request to structured tensors, and what they are within ``ea.compile``. Imports requests, the cache
and the structured tensors. Invariant: the arrays of a block are computed when they are first needed, by one plan for
all that is needed then, from the values that the arguments had.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from einsumad.compressed import BlockTensor, CompressedTensor, Form, Layout, Structured, compress, transposed
from einsumad.errors import InternalError
from einsumad.frontend.cache import Derivation, Part, run
from einsumad.frontend.requests import Asked, build_derivation, derivation_of, outer_nodes
from einsumad.frontend.tensor import Tensor
from einsumad.frontend.tracing import Trace
from einsumad.frontend.trees import flatten
from einsumad.frontend.values import known_value
from einsumad.graph import Leaf, Node, substitute
from einsumad.planning import Request


class Results:
    """The results of a request on derivatives, whose arrays are computed when they are asked for."""

    def __init__(self, asked: Asked, memory_limit: int | None) -> None:
        self._derivation, self._found = derivation_of(asked, structured_derivation)
        self._outer = outer_nodes(asked, self._derivation, self._found)
        self._memory_limit = memory_limit

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
        """For each of these results its arrays, by one plan for all of them."""
        parts = [self._derivation.parts[k] for k in positions]
        which = tuple(dict.fromkeys([place for part in parts for place in part.places if place >= 0]))
        computed = dict(zip(which, self._outputs(which), strict=True))
        return [
            tuple([computed[place] if place >= 0 else self._given(~place) for place in part.places]) for part in parts
        ]

    def dense(self, positions: Sequence[int]) -> list[Any]:
        """The results at these positions, which are of an order that is not kept in structure."""
        return [array if isinstance(array, Tensor) else np.array(array)[()] for (array,) in self.arrays(positions)]

    def _outputs(self, which: tuple[int, ...]) -> Sequence[Any]:
        if self._outer is None:
            return run(self._derivation, self._found, known_value, self._memory_limit, which)
        return [Tensor(node) for node in substitute(self._derivation.chosen(which), self._outer)]

    def _given(self, slot: int) -> Any:
        if self._outer is None:
            return known_value(self._found[slot])
        return Tensor(self._outer[self._derivation.slots[slot]])


def structured_derivation(
    request: Request, graph: tuple[Node, ...], slots: tuple[Leaf, ...], counts: tuple[int, int]
) -> Derivation:
    """The derivation of the arrays that are stored, and the forms over them; orders below two of a scalar are dense.

    By Schwarz's theorem the block of two variables is the transpose of that with the variables exchanged.
    """
    roots, sources = graph[: counts[0]], graph[counts[0] : sum(counts)]
    derived = build_derivation(request, graph, slots, counts)
    places: dict[Node, int] = {slot: ~k for k, slot in enumerate(slots)}
    outputs: list[Node] = []

    def place(core: Node) -> int:
        if core not in places:
            places[core] = len(outputs)
            outputs.append(core)
        return places[core]

    parts: list[Part] = []
    kinds = [(root, order) for root in roots for order in request.orders]
    nodes = iter(derived.outputs)
    for root, order in kinds:
        known: dict[tuple[int, ...], Part] = {}
        for which in product(range(len(sources)), repeat=order):
            node = next(nodes)
            turned = known.get(which[::-1])
            if order < max(request.orders):
                known[which] = Part(None, (place(node),))
            elif turned is not None and turned.form is not None and order == 2 and not root.shape:
                known[which] = Part(transposed(turned.form), turned.places)
            else:
                rows = len(node.shape) - (len(sources[which[-1]].shape) if which else 0)
                symmetric = order == 2 and not root.shape and which[0] == which[1]
                found = compress(node, rows, symmetric)
                known[which] = Part(found.form, tuple([place(core) for core in found.cores]))
            parts.append(known[which])
    return Derivation(slots, tuple(outputs), derived.choices, parts=tuple(parts))


def arranged(results: Results) -> list[CompressedTensor]:
    """All results as structured tensors."""
    positions = range(len(results.parts))
    found = results.arrays(positions)
    return [CompressedTensor(Structured(results.form(k), arrays)) for k, arrays in zip(positions, found, strict=True)]


def hessian_of(found: Trace, results: Results, start: int = 0) -> CompressedTensor | BlockTensor:
    """The Hessian that begins at a position of the results: of a single array a tensor, otherwise one of blocks."""
    leaves = found.variables.leaves
    count = len(leaves)
    if found.variables.tree.is_leaf():
        return CompressedTensor(Structured(results.form(start), results.arrays([start])[0]))
    layout = Layout(
        tuple([leaf.name or f"x{k}" for k, leaf in enumerate(leaves)]),
        tuple([leaf.shape for leaf in leaves]),
        tuple([leaf.dtype for leaf in leaves]),
        partial(_leaves_of, found.variables.tree),
        found.variables.unflatten,
    )
    pairs = [(i, j) for i in range(count) for j in range(count)]
    forms = {pair: results.form(start + k) for k, pair in enumerate(pairs)}
    return BlockTensor(layout, forms, lambda wanted: results.arrays([start + pairs.index(pair) for pair in wanted]))


def _leaves_of(tree: Any, given: Any) -> list[Any]:
    """The leaves of a tree that has to be like the arguments."""
    leaves, spec = flatten(given)
    if spec != tree:
        raise TypeError(f"a vector has to have the structure of the arguments, {tree}, got {spec}")
    return leaves
