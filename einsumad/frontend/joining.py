"""Arrays put side by side.

Owns concatenation. Imports maps and the catalogue. Invariant: each part is padded to its place with zeros and added, so
its entries meet no arithmetic but a zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.errors import ShapeError
from einsumad.frontend.maps import padded
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, add


def concatenated(nodes: Sequence[Node], axis: int) -> Node:
    """Nodes of one dtype one behind the other along an axis."""
    first = nodes[0].shape
    for node in nodes[1:]:
        shape = node.shape
        if len(shape) != len(first) or any(
            a != b for k, (a, b) in enumerate(zip(first, shape, strict=True)) if k != axis
        ):
            raise ShapeError(f"shapes {first} and {shape} do not fit along axis {axis}: all other sizes must be equal")
    total = sum(node.shape[axis] for node in nodes)
    placed: list[Node] = []
    start = 0
    for node in nodes:
        size = node.shape[axis]
        if size or len(nodes) == 1:
            placed.append(padded(node, axis, start, total - start - size))
        start += size
    if not placed:
        return nodes[0]
    if len(placed) == 1:
        return placed[0]
    if nodes[0].dtype != BOOL:
        return add(placed, nodes[0].dtype)
    result = placed[0]
    for node in placed[1:]:
        result = apply("logical_or", result, node)
    return result
