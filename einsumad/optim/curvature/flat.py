"""Lists of arrays as one vector, within plans and outside of them.

Owns both ways. Imports NumPy. Invariant: arrays stand one after the other, each in C order; parts come back in the
shapes and dtypes of the arrays that they are parts like.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np


def joined(arrays: Sequence[Any]) -> Any:
    """The entries of all arrays, plain or traced, in one vector."""
    return np.concatenate([np.reshape(array, -1) for array in arrays])


def parted(vector: Any, like: Sequence[Any]) -> list[Any]:
    """The parts of a vector, plain or traced, in the shapes and dtypes of these arrays."""
    return [
        np.reshape(vector[place], array.shape).astype(array.dtype)
        for place, array in zip(places_of([array.shape for array in like]), like, strict=True)
    ]


def places_of(shapes: Sequence[tuple[int, ...]]) -> list[slice]:
    """Where the entries of each array stand in the vector of all."""
    sizes = [prod(shape) for shape in shapes]
    return [slice(end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def moved(values: Sequence[np.ndarray], vector: np.ndarray) -> list[np.ndarray]:
    """The arrays plus the parts of a vector, which is rounded to their dtypes."""
    return [value + part for value, part in zip(values, parted(vector, values), strict=True)]
