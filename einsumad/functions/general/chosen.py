"""Some of the eigenvalues or singular values of a matrix, as parameters of rows: the first place, the step, how many.

Owns that choice. Imports graph spelling. Invariant: what is not chosen has no part in a derivative, so it may be equal
to others there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from einsumad.functions.rows import whole
from einsumad.graph import Node, Params, affine, einsum

Array = np.ndarray[Any, Any]


class Chosen(NamedTuple):
    """The places ``start + step * i`` for ``i`` below `number`."""

    start: int
    step: int
    number: int

    def among(self, places: Chosen) -> Chosen:
        """These of the places that were chosen before."""
        return Chosen(places.start + places.step * self.start, places.step * self.step, self.number)


def chosen(params: Params, position: int, size: int) -> Chosen:
    """The choice that begins at a position of the params; all of them where these end before."""
    if len(params) <= position:
        return Chosen(0, 1, size)
    return Chosen(*[whole(params, position + k) for k in range(3)])


def pick(node: Node, places: Chosen) -> Node:
    """The chosen entries of the last axis."""
    size = node.shape[-1]
    if places == (0, 1, size):
        return node
    axes = range(len(node.shape))
    own = len(axes)
    reading = affine(size, (places.number,), (places.step,), places.start, node.dtype)
    return einsum([node, reading], [axes, (axes[-1], own)], (*axes[:-1], own), 1, node.dtype)


def pick_entries(array: Array, places: Chosen) -> Array:
    """The chosen entries of the last axis of an array."""
    return array[..., places.start + places.step * np.arange(places.number)]
