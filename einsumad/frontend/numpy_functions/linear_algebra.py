"""numpy.linalg: norms, inverse, solve, determinants.

Owns these functions. Imports the registry, promotion and the catalogue. Invariant: the catalogue's functions
are given matrices in the last two axes and equal batch axes before them.
"""

# ruff: noqa: A002 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import math
from typing import Any

import numpy as np

from einsumad.errors import ShapeError, TracingError
from einsumad.frontend.axes import drop_axes, flag, insert_axes, some_axes
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.lifting import as_node
from einsumad.frontend.numpy_functions.reductions import extremum, summed
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements
from einsumad.functions import apply, call
from einsumad.graph import Node

_SLOGDET_RESULT: Any = type(np.linalg.slogdet(np.eye(1)))


def _matrices(name: str, a: Any) -> Node:
    node = _floating(name, as_node(a))
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"numpy.linalg.{name} needs square matrices in the last two axes, got shape {node.shape}")
    return node


def _floating(name: str, node: Node) -> Node:
    if node.dtype in (np.float32, np.float64):
        return node
    if node.dtype.kind == "f":
        raise TracingError(f"numpy.linalg.{name} does not exist for {node.dtype}: convert to float32 or float64 first")
    return in_dtype(node, np.float64)


@implements(np.linalg.inv)
def _inv(a: Any) -> Node:
    return call("inverse", _matrices("inv", a))


@implements(np.linalg.solve)
def _solve(a: Any, b: Any) -> Node:
    matrix, right = _matrices("solve", a), _floating("solve", as_node(b))
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
    return call("determinant", _matrices("det", a))


@implements(np.linalg.slogdet)
def _slogdet(a: Any) -> Any:
    node = _matrices("slogdet", a)
    return _SLOGDET_RESULT(call("sign_determinant", node), call("logabsdet", node))


@implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Node:
    node = as_node(x)
    if node.dtype.kind != "f":
        node = in_dtype(node, np.float64)
    axes = some_axes(axis, len(node.shape))
    if axis is None and ord is not None and len(axes) not in (1, 2):
        raise ShapeError(
            f"numpy.linalg.norm with ord needs one or two axes, got shape {node.shape}: name them with axis="
        )
    if ord is None or (ord == 2 and len(axes) == 1) or (ord == "fro" and len(axes) == 2):
        squares = apply("power", node, params=(2,))
        return apply("norm_root", summed(squares, axes, keepdims, node.dtype))
    if len(axes) == 1 and ord == 1:
        return summed(apply("abs", node), axes, keepdims, node.dtype)
    if len(axes) == 1 and ord in (math.inf, -math.inf):
        name = "max_reduce" if ord > 0 else "min_reduce"
        return extremum(name, apply("abs", node), axes, flag("keepdims", keepdims))
    raise TracingError(
        f"numpy.linalg.norm(ord={ord!r}) over {len(axes)} axes is not supported yet on traced values: "
        "vectors have the orders "
        "None, 2, 1, inf and -inf, matrices None and 'fro'"
    )
