"""The QR factorisation of matrices with at least as many rows as columns.

Owns these rows. Imports the catalogue and graph spelling. Invariant: columns are independent where it is
differentiated; local Jacobians are products of factors.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.local import Axes, axes_of, block, fresh, term, volume
from einsumad.functions.general.singular import Factors, Inferred, matrices
from einsumad.functions.general.symmetric import only_in_plans
from einsumad.graph import General, Node, Params, Shape, unit


def _tall(operands: tuple[Node, ...], params: Params) -> tuple[Shape, int, int, np.dtype[Any]]:
    batch, rows, columns = matrices("a QR factorisation", operands[0])
    if rows < columns:
        raise ShapeError(
            f"a QR factorisation needs at least as many rows as columns, got shape {operands[0].shape}: "
            "factorise the first columns and multiply the others by the transpose of Q"
        )
    return batch, rows, columns, linear_algebra((operands[0].dtype,), params)


def _infer_orthogonal(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns, dtype = _tall(operands, params)
    return (*batch, rows, columns), dtype


def _infer_triangular(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, _, columns, dtype = _tall(operands, params)
    return (*batch, columns, columns), dtype


def _infer_packed(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns, dtype = _tall(operands, params)
    return (*batch, rows + columns, columns), dtype


def _orthogonal_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dQ = (I - Q Q^T) dA inv(R) + Q (T o C - (T o C)^T)``, ``C = Q^T dA inv(R)``, T one below the diagonal.

    (S. F. Walter, L. Lehmann, *Algorithmic differentiation of linear algebra functions*, 2010, section 4).
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (r, j), (k, m) = axes.batch, axes.out, axes.into
    (i,) = fresh(axes, 1)
    inverse = call("inverse", call("qr_triangular", node.operands[0]), params=(2,))
    below = call("triangle_weights", inverse, params=(1, 0, 0))
    terms = []
    for first, second, sign in ((i, j, 1), (j, i, -1)):
        factors: Factors = [(node, (*batch, r, i)), (below, (first, second))]
        factors += [(node, (*batch, k, first)), (inverse, (*batch, m, second))]
        terms.append(term(node, axes, factors, sign))
    if node.shape[-2] > node.shape[-1]:
        terms += _outside(node, axes, node, (r, k), [(inverse, (*batch, m, j))])
    return tuple(terms)


def _triangular_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dR = (C - T o C + (T o C)^T) R``, ``C = Q^T dA inv(R)``, T one below the diagonal.

    (Walter and Lehmann 2010, section 4).
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (i, j), (k, m) = axes.batch, axes.out, axes.into
    (a,) = fresh(axes, 1)
    orthogonal, inverse = call("qr_orthogonal", node.operands[0]), call("inverse", node, params=(2,))

    def product(weights: Node, first: int, second: int) -> Node:
        projected = [(orthogonal, (*batch, k, first)), (inverse, (*batch, m, second))]
        return term(node, axes, [(weights, (first, second)), *projected, (node, (*batch, a, j))])

    above, below = (call("triangle_weights", node, params=params) for params in ((0, 1, 1), (1, 0, 0)))
    return product(above, i, a), product(below, a, i)


def _outside(node: General, axes: Axes, basis: Node, places: tuple[int, int], factors: Factors) -> list[Node]:
    """``(delta[r k] - Q[r a] Q[k a])`` times the factors: the projector on what the columns of Q do not span."""
    row, column = places
    a = fresh(axes, 2)[1]
    spanned = [(basis, (*axes.batch, row, a)), (basis, (*axes.batch, column, a))]
    delta = unit(basis.shape[-2], 2, node.dtype)
    return [term(node, axes, [*factors, (delta, places)]), term(node, axes, [*factors, *spanned], -1)]


def _expand_orthogonal(node: General, beside: AbstractSet[str]) -> Node | None:
    return _part(node, beside, "qr_triangular", 0)


def _expand_triangular(node: General, beside: AbstractSet[str]) -> Node | None:
    return _part(node, beside, "qr_orthogonal", node.operands[0].shape[-2])


def _part(node: General, beside: AbstractSet[str], other: str, first: int) -> Node | None:
    """A part of the factorisation, where the other one is computed too."""
    if other not in beside:
        return None
    return block(call("qr_packed", node.operands[0]), (first, node.shape[-2]), node.shape[-1])


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0]) * shapes[0][-1] + 1


def _register(
    name: str,
    symbol: str,
    *,
    infer: Callable[[tuple[Node, ...], Params], Inferred],
    jacobian: Callable[[General, int], tuple[Node, ...]],
    expansion: Callable[[General, AbstractSet[str]], Node | None] | None = None,
) -> None:
    kernel = getattr(factor_kernels, name)
    register_general(
        GeneralFunction(
            name=name,
            arity=1,
            infer=infer,
            jacobian=jacobian,
            kernel=kernel,
            cost=_cost,
            symbol=symbol,
            domain="matrices with independent columns; the derivative at others is NaN",
            doc=f"{kernel.__doc__} {jacobian.__doc__}",
            expansion=expansion,
        )
    )


_register(
    "qr_orthogonal",
    "qrq",
    infer=_infer_orthogonal,
    jacobian=_orthogonal_jacobian,
    expansion=_expand_orthogonal,
)
_register(
    "qr_triangular",
    "qrr",
    infer=_infer_triangular,
    jacobian=_triangular_jacobian,
    expansion=_expand_triangular,
)
_register("qr_packed", "qr", infer=_infer_packed, jacobian=only_in_plans)
