"""Matrix equations: Sylvester's, and triangular systems.

Owns these rows. Imports the catalogue, operator rows and graph spelling. Invariant: local Jacobians are products of
matrices and of the operator that solves the equation, which a product with a direction never forms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import matrix_kernels
from einsumad.functions.general.local import axes_of, square_matrices, term, volume
from einsumad.functions.general.operators import open_pairs
from einsumad.graph import General, Labels, Node, Params, Shape, affine, unit


def _infer_sylvester(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    batch, rows = square_matrices("solve_sylvester", operands[0])
    other, columns = square_matrices("solve_sylvester", operands[1])
    pair = (rows, columns)
    right = operands[2].shape if len(operands) == 3 else (*batch, *pair)
    if other != batch or right != (*batch, *pair) or len(operands) + open_pairs(params) != 3:
        raise ShapeError(
            f"A X + X B = Q with A {operands[0].shape} and B {operands[1].shape} needs Q of shape "
            f"{(*batch, *pair)}, got {right}: batch axes have to be equal"
        )
    dtype = linear_algebra(tuple([operand.dtype for operand in operands]), params)
    return (*batch, *pair * (1 + open_pairs(params))), dtype


def _sylvester_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``A dX + dX B = dQ - dA X - X dB``, S the operator from a right side to the solution.

    In A: ``J[b i j, b' k l] = -S[b i j k c] X[b l c] delta[b b']``.
    In B: ``J[b i j, b' k l] = -S[b i j c l] X[b c k] delta[b b']``.
    In Q: ``J[b i j, b' k l] = S[b i j k l] delta[b b']``.
    Where Q is open, X has its axes too.
    """
    batch = len(node.operands[0].shape) - 2
    axes = axes_of(node, position, batch)
    operator = call("sylvester", *node.operands[:2], params=(1,))
    (i, j, *opened), (k, m) = axes.out, axes.into
    inner = 1 + max(axes.into)
    if position == 2:
        return (term(node, axes, [(operator, (*axes.batch, i, j, k, m))]),)
    direction, place = ((k, inner), (m, inner)) if position == 0 else ((inner, m), (inner, k))
    return (
        term(node, axes, [(operator, (*axes.batch, i, j, *direction)), (node, (*axes.batch, *place, *opened))], -1),
    )


def _sylvester_cost(shapes: tuple[Shape, ...], params: Params) -> int:
    rows, columns = shapes[0][-1], shapes[1][-1]
    solve = 4 * (rows + columns) * (rows * columns) * (rows * columns if open_pairs(params) else 1)
    return 25 * (volume(shapes[0]) * rows + volume(shapes[1]) * columns) + volume(shapes[0][:-2]) * solve


register_general(
    GeneralFunction(
        name="sylvester",
        arity=2,
        infer=_infer_sylvester,
        jacobian=_sylvester_jacobian,
        kernel=matrix_kernels.sylvester,
        cost=_sylvester_cost,
        symbol="sylvester",
        domain="no eigenvalue of A is minus one of B; otherwise numpy.linalg.LinAlgError is raised",
        doc=_sylvester_jacobian.__doc__ or "",
        is_operator=True,
    )
)


def _triangle(node: General, row: int, column: int, fresh: int) -> tuple[Node, Labels]:
    """One where an entry is read: ``Σ_d [d = row - column]``, d from 0 on, or from 1 if the diagonal is ones."""
    size = node.operands[0].shape[-1]
    lower, unit_diagonal = node.params[:2]
    strides = (1, -1) if lower else (-1, 1)
    return affine(size, (size, size), strides, -int(bool(unit_diagonal)), node.dtype), (fresh, row, column)


def _infer_inverse(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    square_matrices("inverse_triangular", operands[0])
    return operands[0].shape, linear_algebra((operands[0].dtype,), params)


def _inverse_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dY = -Y dT Y``: ``J[b i j, b' k l] = -Y[b i k] Y[b l j] [k >= l] delta[b b']``; other entries are not read.

    With a third parameter 1 the inverse of a singular triangle is NaN instead of an error.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, j), (k, m) = axes.out, axes.into
    factors = [
        (node, (*axes.batch, i, k)),
        (node, (*axes.batch, m, j)),
        _triangle(node, k, m, 1 + max(axes.into)),
    ]
    return (term(node, axes, factors, -1),)


def _infer_solve(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    matrix, right = operands
    batch, size = square_matrices("solve_triangular", matrix)
    if right.shape[:-1] != (*batch, size):
        raise ShapeError(
            f"solve_triangular needs right-hand sides of shape {(*batch, size, 'm')} for matrices {matrix.shape}, "
            f"got {right.shape}: batch axes have to be equal and columns stand last"
        )
    return right.shape, linear_algebra((matrix.dtype, right.dtype), params)


def _solve_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``X = inv(T) B``, ``dX = inv(T) dB - inv(T) dT X``, T the triangle of A that is read.

    In A: ``J[b i m, b' k l] = -inv(T)[b i k] X[b l m] [k >= l] delta[b b']``, ``k <= l`` for an upper triangle, without
    the diagonal if it is ones.
    In B: ``J[b i m, b' k n] = inv(T)[b i k] delta[m n] delta[b b']``.
    With a third parameter 1 the solution for a singular triangle is NaN instead of an error.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, column), (k, last) = axes.out, axes.into
    inverse = (call("inverse_triangular", node.operands[0], params=node.params), (*axes.batch, i, k))
    if position == 1:
        return (term(node, axes, [inverse, (unit(node.shape[-1], 2, node.dtype), (column, last))]),)
    triangle = _triangle(node, k, last, 1 + max(axes.into))
    return (term(node, axes, [inverse, (node, (*axes.batch, last, column)), triangle], -1),)


def _inverse_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) * shapes[0][-1]


def _solve_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) * shapes[1][-1]


register_general(
    GeneralFunction(
        name="inverse_triangular",
        arity=1,
        infer=_infer_inverse,
        jacobian=_inverse_jacobian,
        kernel=matrix_kernels.inverse_triangular,
        cost=_inverse_cost,
        symbol="inv_triangle",
        domain="a triangle without zeros on its diagonal; a singular one raises numpy.linalg.LinAlgError",
        doc=_inverse_jacobian.__doc__ or "",
    )
)
register_general(
    GeneralFunction(
        name="solve_triangular",
        arity=2,
        infer=_infer_solve,
        jacobian=_solve_jacobian,
        kernel=matrix_kernels.solve_triangular,
        cost=_solve_cost,
        symbol="solve_triangle",
        domain="a triangle without zeros on its diagonal; a singular one raises numpy.linalg.LinAlgError",
        doc=_solve_jacobian.__doc__ or "",
    )
)
