"""The matrix of a linear map that is known by its values only: column by column.

Owns that matrix as a row of its own. Imports planning, execution and the catalogue's registry. Invariant: the map is
found to be linear whenever the matrix is computed, or an error says that it is not.

A rule may apply its function to the tangent, as linear operators do whose adjoint is another program. No expression for
the Jacobian is known then, but its columns are the values at the unit vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.execution import CompiledPlan, compile_plan
from einsumad.frontend.own.definition import Definition
from einsumad.functions import GeneralFunction, register_own
from einsumad.graph import General, Leaf, Node, Params, Shape, general, leaves, ones, structural_key
from einsumad.locks import module_lock
from einsumad.planning import make_plan

Array = np.ndarray[Any, Any]
_known: set[str] = set()
_lock = module_lock()


def by_columns(definition: Definition, root: Node, seed: Leaf) -> Node:
    """The matrix of a root in a seed, in which it is linear."""
    operands = [leaf for leaf in leaves([root]) if leaf is not seed]
    structure, _ = structural_key([seed, *operands, root])
    name = f"{definition.key}:{structure.hex()}"
    shape = (*root.shape, *seed.shape)
    with _lock:
        if name not in _known:
            register_own(_row(definition.name, name, root, seed, operands))
            _known.add(name)
    return general(name, operands or [ones((), root.dtype)], (), shape, root.dtype)


def _row(title: str, name: str, root: Node, seed: Leaf, operands: list[Leaf]) -> GeneralFunction:
    shape = (*root.shape, *seed.shape)
    plan: list[CompiledPlan] = []

    def infer(_operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
        return shape, root.dtype

    def jacobian(_node: General, _position: int) -> tuple[Node, ...]:
        raise DifferentiationError(
            f"the rule of {title} applies {title} to a tangent or cotangent and depends on the arguments too, so its "
            "own derivative is not known: write what is done with the tangent with NumPy functions"
        )

    def kernel(*arrays: Any) -> Array:
        if not plan:
            plan.append(compile_plan(make_plan([root], [seed, *operands])))
        return _columns(title, lambda value: plan[0](value, *arrays[: len(operands)])[0], root, seed)

    def cost(shapes: tuple[Shape, ...], _params: Params) -> int:
        return 1000 * prod(seed.shape) * (prod(root.shape) + sum(prod(size) for size in shapes))

    return GeneralFunction(name, len(operands) or 1, infer, jacobian, kernel, cost, title, "", "", gives_index=True)


def _columns(title: str, apply: Callable[[Array], Array], root: Node, seed: Leaf) -> Array:
    rank = len(seed.shape)
    unit = np.zeros(seed.shape, seed.dtype)
    matrix = np.empty((*root.shape, *seed.shape), root.dtype)
    nothing = apply(unit.copy())
    for place in np.ndindex(seed.shape):
        unit[place] = 1
        matrix[(..., *place)] = apply(unit.copy())
        unit[place] = 0
    probe = np.cos(np.arange(prod(seed.shape), dtype=seed.dtype)).reshape(seed.shape)
    bound = np.finfo(root.dtype).eps ** 0.5 * np.max(np.abs(matrix), initial=0.0) * max(1, prod(seed.shape))
    gap = np.abs(apply(probe) - np.tensordot(matrix, probe, rank))
    if np.any((nothing != 0) & ~np.isnan(nothing)) or np.any(gap > bound):
        raise DifferentiationError(
            f"the rule of {title} applies {title} to a tangent or cotangent and is not linear in it: a derivative is a "
            "linear map"
        )
    return matrix
