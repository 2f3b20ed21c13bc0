"""numpy.linalg: inverse, solve, determinants.

Owns these functions. Imports the registry, promotion and the catalogue. Invariant: the catalogue's functions
are given matrices in the last two axes and equal batch axes before them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.axes import drop_axes, insert_axes
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements
from einsumad.functions import call
from einsumad.graph import Node

_SLOGDET_RESULT: Any = type(np.linalg.slogdet(np.eye(1)))


def square_matrices(name: str, a: Any) -> Node:
    """The operand as square matrices of a dtype that LAPACK has."""
    node = floating_matrix(name, as_node(a))
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"numpy.linalg.{name} needs square matrices in the last two axes, got shape {node.shape}")
    return node


def floating_matrix(name: str, node: Node) -> Node:
    """The operand in a dtype that LAPACK has: float32, float64, or float64 for integers."""
    if node.dtype in (np.float32, np.float64):
        return node
    if node.dtype.kind == "f":
        raise TracingError(f"numpy.linalg.{name} does not exist for {node.dtype}: convert to float32 or float64 first")
    return in_dtype(node, np.float64)


@implements(np.linalg.inv)
def _inv(a: Any) -> Node:
    return call("inverse", square_matrices("inv", a))


@implements(np.linalg.solve)
def _solve(a: Any, b: Any) -> Node:
    matrix, right = square_matrices("solve", a), floating_matrix("solve", as_node(b))
    dtype = np.result_type(matrix.dtype, right.dtype)
    matrix, right = in_dtype(matrix, dtype), in_dtype(right, dtype)
    if not right.shape:
        raise ShapeError("numpy.linalg.solve needs a right side with axes, got a scalar")
    vector = len(right.shape) == 1
    if vector:
        right = insert_axes(right, [1])
    if right.shape[-2] != matrix.shape[-1]:
        raise ShapeError(
            f"numpy.linalg.solve of matrices {matrix.shape} with a right side of {right.shape[-2]} rows "
            "where there must be "
            f"{matrix.shape[-1]}; a right side is a vector only if it has one axis, otherwise its last two "
            "are a matrix"
        )
    batch = broadcast_shape(matrix.shape[:-2], right.shape[:-2])
    result = call("solve", spread(matrix, batch + matrix.shape[-2:]), spread(right, batch + right.shape[-2:]))
    return drop_axes(result, [len(result.shape) - 1]) if vector else result


@implements(np.linalg.det)
def _det(a: Any) -> Node:
    return call("determinant", square_matrices("det", a))


@implements(np.linalg.slogdet)
def _slogdet(a: Any) -> Any:
    node = square_matrices("slogdet", a)
    return _SLOGDET_RESULT(call("sign_determinant", node), call("logabsdet", node))
