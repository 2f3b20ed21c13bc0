"""Indices and slices of a structured tensor.

Owns their meaning. Imports errors only. Invariant: as NumPy's basic indexing; what is no basic index is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index as as_index
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import ShapeError

Place: TypeAlias = int | tuple[int, int, int]
"""An index, or the start, the step and the number of the indices of a slice."""


def places_of(index: Any, shape: Sequence[int]) -> tuple[Place, ...]:
    """The place on each axis."""
    parts = list(index) if isinstance(index, tuple) else [index]
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = len(shape) - (len(parts) - len(dots))
    if missing < 0:
        raise IndexError(f"too many indices: the tensor has {len(shape)} axes, {len(parts)} were indexed")
    at = dots[0] if dots else len(parts)
    parts[at : at + len(dots)] = [slice(None)] * missing
    return tuple([_place(part, size, axis) for axis, (part, size) in enumerate(zip(parts, shape, strict=True))])


def _place(part: Any, size: int, axis: int) -> Place:
    if isinstance(part, slice):
        start, stop, step = part.indices(size)
        return start, step, len(range(start, stop, step))
    if isinstance(part, (bool, np.bool_)) or np.ndim(part) != 0 or part is None:
        raise ShapeError(
            f"axis {axis} is indexed by {part!r}: a structured tensor takes whole numbers and slices; "
            "use dense() for other indices"
        )
    try:
        number = as_index(part)
    except TypeError as error:
        raise ShapeError(f"axis {axis} is indexed by {part!r}, which is neither a whole number nor a slice") from error
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for axis {axis} with size {size}")
    return number % size
