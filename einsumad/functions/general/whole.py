"""Whole numbers of numbers that are constant but for jumps.

Owns this row. Imports the catalogue. Invariant: the value is an integer, which has no derivative; whoever makes the
node sees to it that none is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import TracingError
from einsumad.functions.catalogue import GeneralFunction, register_general
from einsumad.functions.general.local import volume
from einsumad.graph import General, Node, Params, Shape

Array = np.ndarray[Any, Any]


def _infer(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    (name,) = params
    target = np.dtype(str(name))
    if target.kind not in "iu":
        raise TracingError(f"whole numbers have a dtype of integers, not {target}")
    return operands[0].shape, target


def _no_jacobian(_node: General, _position: int) -> tuple[Node, ...]:
    return ()


def whole(x: Array, name: str) -> Array:
    """Numbers cut off behind the point, in the integer dtype of that name: ``x.astype(name)``."""
    return x.astype(name)


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0])


register_general(
    GeneralFunction(
        name="whole",
        arity=1,
        infer=_infer,
        jacobian=_no_jacobian,
        kernel=whole,
        cost=_cost,
        symbol="whole",
        domain="numbers that the integer dtype holds",
        doc=f"{whole.__doc__} An integer: it has no derivative.",
        gives_index=True,
    )
)
