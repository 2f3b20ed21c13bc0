"""Elimination with row exchanges: the factors L and U in one matrix, and the pivots.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the order of the rows is an integer and locally
constant, as that of sorting is; where a pivot that others are divided by is zero the derivative is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import pivoted_kernels
from einsumad.functions.general.local import axes_of, block, fresh, term, volume
from einsumad.functions.general.singular import Factors, Inferred, matrices
from einsumad.functions.general.symmetric import no_jacobian, only_in_plans
from einsumad.graph import General, Node, Params, Shape, add, affine, broadcast, einsum, multiply, selection, unit

_INDEX = np.dtype(np.int64)


def _infer_factors(operands: tuple[Node, ...], params: Params) -> Inferred:
    matrices("an LU factorisation", operands[0])
    return operands[0].shape, linear_algebra((operands[0].dtype,), params)


def _infer_pivots(operands: tuple[Node, ...], _params: Params) -> Inferred:
    batch, rows, columns = matrices("an LU factorisation", operands[0])
    return (*batch, min(rows, columns)), pivoted_kernels.PIVOT


def _infer_packed(operands: tuple[Node, ...], params: Params) -> Inferred:
    (*batch, columns), dtype = _infer_factors(operands, params)
    return (*batch, columns + 1), dtype


def _infer_unpacked(operands: tuple[Node, ...], _params: Params) -> Inferred:
    batch, rows, columns = matrices("an LU factorisation", operands[0])
    return (*batch, min(rows, columns - 1)), pivoted_kernels.PIVOT


def _infer_order(operands: tuple[Node, ...], params: Params) -> Inferred:
    (rows,) = params
    assert isinstance(rows, int)
    if operands[0].dtype.kind not in "iu" or not operands[0].shape or operands[0].shape[-1] > rows:
        raise ShapeError(
            f"pivots are integers, at most one for each of {rows} rows, got shape {operands[0].shape} and dtype "
            f"{operands[0].dtype}"
        )
    return (*operands[0].shape[:-1], rows), _INDEX


def _infer_batch(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, dtype = _infer_factors(operands, params)
    return shape[:-2], dtype


def _factors_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dF = L S + triu(Y - S U)``, ``Y = inv(L) P^T dA``, ``S = stril(Y inv(U))``, P the order of the rows.

    For the factors ``P^T A = L U`` in ``F = stril(L) + triu(U)`` it says ``dL = L stril(inv(L) P^T dA inv(U))`` and
    ``dU = triu(inv(L) P^T dA inv(U)) U`` (S. F. Walter, L. Lehmann, *Algorithmic differentiation of linear algebra
    functions*, 2010, section 3), where L is completed to a square matrix by columns of the unit matrix. S has the c
    columns that have entries below the diagonal, and needs no more of ``inv(U)`` than its first c rows and columns: so
    the last pivot may be zero. ``J[b i j, b' k l]`` is, with ``one`` 1 or NaN, p the order and q below c,
    ``L[i a] [a > q] inv(L)[a r] [p[r] = k] inv(U)[l q] [j = q]``
    ``+ [i <= j] inv(L)[i r] [p[r] = k] delta[l j] - [i <= j] [i > q] inv(L)[i r] [p[r] = k] inv(U)[l q] U[q j]``,
    each times ``one[b] delta[b b']``.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (i, j), (k, m) = axes.batch, axes.out, axes.into
    a, q, r, e = fresh(axes, 4)
    rows, columns = node.shape[-2:]
    count = max(min(rows - 1, columns), 0)
    lower, inverse = _unit_lower(node)
    leading = block(node, (0, count), count)
    upper = call("inverse_triangular", leading, params=(0, 0, 1))
    order = call("pivot_order", call("lu_pivots", node.operands[0]), params=(rows,))
    shared: Factors = [
        (selection(order, rows, node.dtype), (*batch, r, k)),
        (call("one_if_pivots", node), batch),
    ]
    divided: Factors = [
        (upper, (*batch, e, q)),
        (affine(columns, (count,), (1,), 0, node.dtype), (m, e)),
        *shared,
    ]
    above = (call("triangle_weights", node, params=(0, 1, 1)), (i, j))
    below = call("triangle_weights", block(node, (0, rows), count), params=(1, 0, 0))
    placed = (affine(columns, (count,), (1,), 0, node.dtype), (j, q))
    first = [(lower, (*batch, i, a)), (below, (a, q)), (inverse, (*batch, a, r)), placed, *divided]
    second = [above, (inverse, (*batch, i, r)), (unit(columns, 2, node.dtype), (m, j)), *shared]
    third = [above, (below, (i, q)), (inverse, (*batch, i, r)), (_upper_rows(node, count), (*batch, q, j)), *divided]
    return term(node, axes, first), term(node, axes, second), term(node, axes, third, -1)


def _unit_lower(node: General) -> tuple[Node, Node]:
    """L completed to a square matrix, and its inverse."""
    rows, columns = node.shape[-2:]
    *batch, row, column = range(len(node.shape))
    place = len(node.shape)
    shape = (*node.shape[:-1], rows)
    square = einsum(
        [node, affine(columns, (rows,), (1,), 0, node.dtype)],
        [(*batch, row, column), (column, place)],
        (*batch, row, place),
        1,
        node.dtype,
    )
    below = call("triangle_weights", square, params=(1, 0, 0))
    strict = multiply(square, broadcast(below, (len(batch), len(batch) + 1), shape))
    ones = broadcast(unit(rows, 2, node.dtype), (len(batch), len(batch) + 1), shape)
    return add([strict, ones], node.dtype), call("inverse_triangular", square, params=(1, 1))


def _upper_rows(node: General, count: int) -> Node:
    """So many of the first rows of U."""
    rows = block(node, (0, count), node.shape[-1])
    above = call("triangle_weights", rows, params=(0, 1, 1))
    rank = len(rows.shape)
    return multiply(rows, broadcast(above, (rank - 2, rank - 1), rows.shape))


def _expand_factors(node: General, beside: AbstractSet[str]) -> Node | None:
    """A part of the factorisation, where the pivots are needed too."""
    if "lu_pivots" not in beside:
        return None
    return block(call("lu_with_pivots", node.operands[0]), (0, node.shape[-2]), node.shape[-1])


def _expand_pivots(node: General, beside: AbstractSet[str]) -> Node | None:
    """The pivots out of the factorisation, where that is needed too."""
    return call("pivots_of_lu", call("lu_with_pivots", node.operands[0])) if "lu" in beside else None


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) * min(shapes[0][-2:]) + 1


def _entries(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) + 1


def _register(
    name: str,
    symbol: str,
    *,
    infer: Callable[[tuple[Node, ...], Params], Inferred],
    jacobian: Callable[[General, int], tuple[Node, ...]] = no_jacobian,
    cost: Callable[[tuple[Shape, ...], Params], int] = _entries,
    expansion: Callable[[General, AbstractSet[str]], Node | None] | None = None,
    gives_index: bool = False,
) -> None:
    kernel: Any = getattr(pivoted_kernels, name)
    register_general(
        GeneralFunction(
            name=name,
            arity=1,
            infer=infer,
            jacobian=jacobian,
            kernel=kernel,
            cost=cost,
            symbol=symbol,
            domain="all matrices; where a pivot that others are divided by is zero the derivative is NaN",
            doc=f"{kernel.__doc__} {jacobian.__doc__}",
            expansion=expansion,
            gives_index=gives_index,
        )
    )


_register("lu", "lu", infer=_infer_factors, jacobian=_factors_jacobian, cost=_cost, expansion=_expand_factors)
_register("lu_pivots", "pivots", infer=_infer_pivots, cost=_cost, expansion=_expand_pivots, gives_index=True)
_register("lu_with_pivots", "lu", infer=_infer_packed, jacobian=only_in_plans, cost=_cost)
_register("pivots_of_lu", "pivots", infer=_infer_unpacked, gives_index=True)
_register("pivot_order", "order", infer=_infer_order, gives_index=True)
_register("one_if_pivots", "regular", infer=_infer_batch)
