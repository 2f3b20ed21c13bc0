"""What a system that differentiates has to offer, in NumPy arrays.

Owns the record and the flat form of a derivative. Imports points. Invariant: every function here takes a function f
of a few arrays with one array as its value, and NumPy arrays, and gives NumPy arrays in the system's own dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from einsumad.testing.point import Array, count

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class System:
    """A system by its transforms.

    - `evaluate(f, arrays)`: the value
    - `derivative(f, arrays, order, mode)`: nested tuples, one level for each order and one item for each array, of
      arrays with the axes of the value, then those of the arrays in turn
    - `jvp(f, arrays, tangents)`: the value and its tangent
    - `vjp(f, arrays, cotangent)`: the value and a tuple of cotangents
    - `hvp(f, arrays, tangents)`: a tuple of arrays, for a scalar f
    - `extras`: further transforms by name, each a function of (f, arrays). Known are "gradient", "jacobian", "hessian"
      (nested tuples of arrays, as from `derivative`), "value_and_grad" and "value_grad_and_hessian" (tuples of these),
      "hessian_diagonal" (a tuple of arrays), "laplacian" (a number), "structured_hessian" (a matrix in any form that
      :func:`einsumad.testing.properties.structured_agrees` reads), "graph" (a
      :class:`einsumad.testing.systems.own.Graph`)
    - `any_function`: whether f may be any function, or only the one that the system was made for
    - `bitwise`: whether equal calls are promised to give equal bits
    - `noisy(number)`: the system in an arithmetic with random rounding errors, a different one for each number, for
      those that can compute in one

    A transform that a system does not have raises ``NotImplementedError``.
    """

    name: str
    modes: tuple[str, ...]
    evaluate: Callable[[Function, Sequence[Array]], Array]
    derivative: Callable[[Function, Sequence[Array], int, str], Any]
    jvp: Callable[[Function, Sequence[Array], Sequence[Array]], tuple[Array, Array]]
    vjp: Callable[[Function, Sequence[Array], Array], tuple[Array, tuple[Array, ...]]]
    hvp: Callable[[Function, Sequence[Array], Sequence[Array]], tuple[Array, ...]]
    extras: Mapping[str, Callable[[Function, Sequence[Array]], Any]] = field(default_factory=dict, compare=False)
    any_function: bool = True
    bitwise: bool = False
    noisy: Callable[[int], System] | None = field(default=None, compare=False)


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
