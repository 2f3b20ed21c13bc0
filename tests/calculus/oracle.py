"""Derivative tensors in every mode, and finite differences to compare them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from einsumad.calculus import Mode, Term, active_nodes, as_node, derivative
from einsumad.execution.reference import evaluate
from einsumad.graph import Leaf, Node
from einsumad.graph.verify import verify
from einsumad.rewriting import normalise

Array = np.ndarray[Any, Any]
MODES: tuple[Mode, ...] = ("forward", "reverse", "cross-country")


def normal(term: Term) -> Node:
    return normalise([as_node(term)])[0]


def jacobians(
    root: Node, sources: Sequence[Leaf], mode: Mode, *, seed: int = 0, simplify: bool = True
) -> tuple[Node, ...]:
    """The derivative in each source, checked for legality; cross-country in a random order of elimination."""
    active = active_nodes([root], sources)
    vertices = [active[k] for k in np.random.default_rng(seed).permutation(len(active))]
    keep = normal if simplify else as_node
    found = derivative(root, sources, mode, vertices, keep)
    for node, source in zip(found, sources, strict=True):
        assert node.shape == root.shape + source.shape
        assert node.dtype == root.dtype == source.dtype
    verify(found)
    return normalise(found) if simplify else found


def tower(
    root: Node, sources: Sequence[Leaf], mode: Mode, order: int, *, seed: int = 0, simplify: bool = True
) -> list[dict[tuple[Leaf, ...], Node]]:
    """The derivatives of order 0, 1, ..., one for each tuple of sources."""
    levels: list[dict[tuple[Leaf, ...], Node]] = [{(): root}]
    for _ in range(order):
        following: dict[tuple[Leaf, ...], Node] = {}
        for which, node in levels[-1].items():
            found = jacobians(node, sources, mode, seed=seed, simplify=simplify)
            following.update({(*which, source): d for source, d in zip(sources, found, strict=True)})
        levels.append(following)
    return levels


def contract(tensor: Array, directions: Sequence[Array]) -> Any:
    """The tensor applied to one direction for each of the last groups of axes."""
    for direction in reversed(directions):
        tensor = np.tensordot(tensor, direction, axes=direction.ndim) if direction.ndim else tensor * direction
    return tensor


def along(
    level: Mapping[tuple[Leaf, ...], Node],
    values: Mapping[Leaf, Array],
    directions: Mapping[Leaf, Array],
    exact: bool = False,
) -> Any:
    """The directional derivative from all tensors of one order."""
    tensors = evaluate(list(level.values()), values, exact)
    return sum(
        contract(tensor, [directions[source] for source in which]) for which, tensor in zip(level, tensors, strict=True)
    )


def difference(
    roots: Sequence[Node], values: Mapping[Leaf, Array], directions: Mapping[Leaf, Array], step: float
) -> list[Array]:
    """The derivatives of the roots along a line, by central differences of order four."""
    total = [np.zeros(root.shape) for root in roots]
    for k, weight in ((1, 2 / 3), (-1, -2 / 3), (2, -1 / 12), (-2, 1 / 12)):
        moved = dict(values)
        for source, direction in directions.items():
            moved[source] = values[source] + k * step * direction
        for n, value in enumerate(evaluate(roots, moved)):
            total[n] = total[n] + weight / step * value
    return total


def jacobian_by_differences(root: Node, source: Leaf, values: Mapping[Leaf, Array], step: float = 1e-3) -> Array:
    """The whole Jacobian, one entry of the source at a time."""
    result = np.zeros(root.shape + source.shape)
    for position in np.ndindex(*source.shape):
        direction = np.zeros(source.shape)
        direction[position] = 1
        result[(..., *position)] = difference([root], values, {source: direction}, step)[0]
    return result
