"""What a system that differentiates has to offer, in NumPy arrays.

Owns the record and the flat form of a derivative. Imports points. Invariant: every function here takes a function f
of a few arrays with one array as its value, and NumPy arrays, and gives NumPy arrays in the system's own dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.testing.point import Array, count

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class System:
    """A system by its transforms.

    - `evaluate(f, arrays)`: the value
    - `derivative(f, arrays, order, mode)`: nested tuples, one level for each order and one item for each array, of
      arrays
      with the axes of the value, then those of the arrays in turn
    - `jvp(f, arrays, tangents)`: the value and its tangent
    - `vjp(f, arrays, cotangent)`: the value and a tuple of cotangents
    - `hvp(f, arrays, tangents)`: a tuple of arrays, for a scalar f
    """

    name: str
    modes: tuple[str, ...]
    evaluate: Callable[[Function, Sequence[Array]], Array]
    derivative: Callable[[Function, Sequence[Array], int, str], Any]
    jvp: Callable[[Function, Sequence[Array], Sequence[Array]], tuple[Array, Array]]
    vjp: Callable[[Function, Sequence[Array], Array], tuple[Array, tuple[Array, ...]]]
    hvp: Callable[[Function, Sequence[Array], Sequence[Array]], tuple[Array, ...]]


def flat_tensor(nested: Any, output_shape: Sequence[int], shapes: Sequence[Sequence[int]], order: int) -> Array:
    """A derivative in nested tuples as one array: entries of the value, then of the point, once for each order."""
    if order == 0:
        return np.asarray(nested).reshape(count(output_shape))
    sizes = [count(shape) for shape in shapes]

    def block(part: Any, chosen: tuple[int, ...]) -> Array:
        if len(chosen) == order:
            return np.asarray(part).reshape(count(output_shape), *[sizes[k] for k in chosen])
        items = [block(item, (*chosen, k)) for k, item in enumerate(part)]
        return np.concatenate(items, axis=1 + len(chosen))

    return block(nested, ())
