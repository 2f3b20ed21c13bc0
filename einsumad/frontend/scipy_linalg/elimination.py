"""LU: elimination with row exchanges, and systems that are solved by its factors.

Owns these functions. Imports the rows and the reading of matrices. Invariant: the order of the rows is an integer array
of known values, which has no derivative; the factors have that of elimination in this order.
"""

# ruff: noqa: ARG001 (functions have SciPy's signatures)
from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.axes import drop_axes, insert_axes
from einsumad.frontend.broadcasting import broadcast_shape, spread
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.scipy_linalg.dispatch import (
    choice,
    floating,
    in_common,
    matrices,
    rectangular,
    supports_tracing,
)
from einsumad.frontend.scipy_linalg.equations import adjoint
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.graph import Node, einsum, selection


@supports_tracing
def lu(
    a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True, p_indices: Any = False
) -> Any:
    """The order of the rows and the factors L and U, or L with its rows where those of the matrix are, and U."""
    matrix = rectangular("lu", a)
    *batch, rows, columns = matrix.shape
    count = min(rows, columns)
    factors: Any = Tensor(call("lu", matrix))
    lower = np.tril(factors[..., :count], -1) + np.eye(rows, count, dtype=factors.dtype)
    upper = np.triu(factors[..., :count, :])
    if 0 in matrix.shape:
        sides, dtype = ([0], np.int32) if p_indices else ([0, 0], factors.dtype)
        return (lower, upper) if permute_l else (Tensor(as_node(np.zeros([*batch, *sides], dtype))), lower, upper)
    order = _order(call("lu_pivots", matrix), rows)
    if permute_l:
        return Tensor(_moved(order, lower.node, back=True)), upper
    if p_indices:
        places = in_dtype(call("argsort", order), np.int64 if (rows, columns) == (1, 1) else np.int32)
        return Tensor(places), lower, upper
    return np.swapaxes(Tensor(selection(order, rows, factors.dtype)), -1, -2), lower, upper


@supports_tracing
def lu_factor(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """Both factors in one matrix and LAPACK's pivots, for `lu_solve`."""
    matrix = rectangular("lu_factor", a)
    return Tensor(call("lu", matrix)), Tensor(call("lu_pivots", matrix))


@supports_tracing
def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0, overwrite_b: Any = False, check_finite: Any = True) -> Node:
    """The solution of ``a x = b``, or ``aᵀ x = b``, by the factors and pivots of a; NaN where a pivot is zero."""
    choice("lu_solve", "trans", trans, (0, 1, 2))
    factors, right = matrices("lu_solve", lu_and_piv[0]), floating("lu_solve", b)
    pivots = as_node(lu_and_piv[1])
    vector, size = len(right.shape) == 1, factors.shape[-1]
    solved = insert_axes(right, [1]) if vector else right
    if pivots.dtype.kind not in "iu" or pivots.shape[-1:] != (size,) or solved.shape[-2:-1] != (size,):
        raise ShapeError(
            f"scipy.linalg.lu_solve of factors {factors.shape}, pivots {pivots.shape} of dtype {pivots.dtype} and a "
            f"right side {right.shape}: they need {size} integers and {size} rows"
        )
    factors, solved = in_common(factors, solved)
    batch = broadcast_shape(factors.shape[:-2], pivots.shape[:-1])
    factors, solved = (spread(node, (*batch, *node.shape[-2:])) for node in (factors, solved))
    order = _order(spread(pivots, (*batch, size)), size)
    lower, upper = (1, 1, 1), (0, 0, 1)
    if trans:
        for params in (upper, lower):
            solved = call("solve_triangular", adjoint(factors), solved, params=(1 - params[0], *params[1:]))
        solved = _moved(order, solved, back=True)
    else:
        solved = _moved(order, solved)
        for params in (lower, upper):
            solved = call("solve_triangular", factors, solved, params=params)
    return drop_axes(solved, [len(solved.shape) - 1]) if vector else solved


def _order(pivots: Node, rows: int) -> Node:
    """Which row of the matrix each row of the product of the factors is."""
    return call("pivot_order", pivots, params=(rows,))


def _moved(order: Node, matrix: Node, *, back: bool = False) -> Node:
    """The rows in this order, or rows of this order back where they were."""
    rank, rows = len(matrix.shape), matrix.shape[-2]
    batch, column, old, new = tuple(range(rank - 2)), rank - 2, rank - 1, rank
    source, target = (new, old) if back else (old, new)
    factors = [selection(order, rows, matrix.dtype), matrix]
    return einsum(factors, [(*batch, new, old), (*batch, source, column)], (*batch, target, column), 1, matrix.dtype)
