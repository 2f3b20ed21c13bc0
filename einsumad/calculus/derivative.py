"""Derivatives of a node with respect to leaves, in a given mode.

Owns the choice of seeds and the shape of what is missing. Imports the modes. Invariant: the derivative with respect to
``x`` has the axes of the root, then those of ``x``; a leaf that the root does not depend on gives a structural zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from einsumad.calculus.elimination import Choice, Simplify, eliminate
from einsumad.calculus.local import as_node, identity
from einsumad.calculus.modes import pull, push
from einsumad.graph import Node, zero

Mode: TypeAlias = Literal["forward", "reverse", "cross-country"]


def derivative(
    root: Node,
    sources: Sequence[Node],
    mode: Mode = "reverse",
    order: Iterable[Node] | Choice = (),
    simplify: Simplify = as_node,
) -> tuple[Node, ...]:
    """The derivative of the root with respect to each source, as expressions that are not yet rewritten.

    `order` and `simplify` are those of :func:`einsumad.calculus.elimination.eliminate` and matter to "cross-country"
    only.
    """
    found: list[Node | None]
    if mode == "forward":
        found = [push([root], {source: identity(source.shape, source.dtype)})[0] for source in sources]
    elif mode == "reverse":
        found = list(pull({root: identity(root.shape, root.dtype)}, sources))
    else:
        found = [
            identity(root.shape, root.dtype) if source is root else edge
            for source, edge in zip(sources, eliminate(root, sources, order, simplify), strict=True)
        ]
    return tuple(
        [
            zero((*root.shape, *source.shape), root.dtype) if node is None else node
            for node, source in zip(found, sources, strict=True)
        ]
    )
