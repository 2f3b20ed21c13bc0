"""Inverse and solve.

Owns these rows. Imports the catalogue and graph spelling. Invariant: local Jacobians are products of
matrices; nothing of order four is formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import positive
from einsumad.functions.general.local import axes_of, square_matrices, term, volume
from einsumad.graph import General, Node, Params, Shape, unit

QUIET = (1,)
"""The parameter of a row that gives NaN for singular matrices instead of an error."""


def _infer_inverse(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    square_matrices("inverse", operands[0])
    return operands[0].shape, linear_algebra((operands[0].dtype,), params)


def _inverse_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dY = -Y dA Y``: ``J[b i j, b' k l] = -Y[b i k] Y[b l j] delta[b b']``.

    With the parameter 1 the inverse of a singular matrix is NaN instead of an error, with 2 that of a triangular one
    which is singular to rounding.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, j), (k, m) = axes.out, axes.into
    return (term(node, axes, [(node, (*axes.batch, i, k)), (node, (*axes.batch, m, j))], -1),)


def _cubic(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 2 * volume(shapes[0]) * shapes[0][-1]


register_general(
    GeneralFunction(
        name="inverse",
        arity=1,
        infer=_infer_inverse,
        jacobian=_inverse_jacobian,
        kernel=positive.inverse,
        cost=_cubic,
        symbol="inv",
        domain="invertible matrices; a singular one raises numpy.linalg.LinAlgError",
        doc=_inverse_jacobian.__doc__ or "",
        item_rank=2,
    )
)


def _infer_solve(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    matrix, right = operands
    batch, size = square_matrices("solve", matrix)
    if right.shape[:-1] != (*batch, size):
        raise ShapeError(
            f"solve needs right-hand sides of shape {(*batch, size, 'm')} for matrices {matrix.shape}, "
            f"got {right.shape}: batch axes have to be equal and columns stand last"
        )
    return right.shape, linear_algebra((matrix.dtype, right.dtype), params)


def _solve_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``X = inv(A) B``, ``dX = inv(A) dB - inv(A) dA X``.

    In A: ``J[b i m, b' k l] = -inv(A)[b i k] X[b l m] delta[b b']``.
    In B: ``J[b i m, b' k n] = inv(A)[b i k] delta[m n] delta[b b']``.

    With the parameter 1 the solutions with a singular matrix are NaN instead of an error. Derivatives are: then the
    inverse is the one that the logarithm of the determinant has for its own.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, column), (k, last) = axes.out, axes.into
    inverse = (call("inverse", node.operands[0], params=QUIET), (*axes.batch, i, k))
    if position == 0:
        return (term(node, axes, [inverse, (node, (*axes.batch, last, column))], -1),)
    return (term(node, axes, [inverse, (unit(node.shape[-1], 2, node.dtype), (column, last))]),)


def _solve_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) * shapes[0][-1] * 2 // 3 + 2 * volume(shapes[0]) * shapes[1][-1]


register_general(
    GeneralFunction(
        name="solve",
        arity=2,
        infer=_infer_solve,
        jacobian=_solve_jacobian,
        kernel=positive.solve,
        cost=_solve_cost,
        symbol="solve",
        domain="invertible matrices; a singular one raises numpy.linalg.LinAlgError",
        doc=_solve_jacobian.__doc__ or "",
        item_rank=2,
    )
)
