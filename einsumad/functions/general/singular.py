"""Singular values and vectors, and the pseudo-inverse.

Owns these rows. Imports the catalogue and graph spelling. Invariant: local Jacobians are products of factors; singular
vectors of values that are equal or zero to rounding have the derivative NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError
from einsumad.functions.catalogue import GeneralFunction, apply, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.local import Axes, axes_of, block, fresh, row_of, term, volume
from einsumad.functions.general.symmetric import equal_shares, only_in_plans
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape, unit

Inferred = tuple[Shape, np.dtype[Any]]
Factors = list[tuple[Node, Labels]]
SHARING_VECTORS = frozenset({"svd_left", "svd_right", "singular_map"})
"""Functions that need the singular vectors: beside one of them the values come from the same decomposition."""
_COMPLETED = frozenset({"svd_left_full", "svd_right_full"})


def matrices(name: str, operand: Node) -> tuple[Shape, int, int]:
    """The batch shape, the rows and the columns of the operand, which has to hold matrices in its last two axes."""
    if len(operand.shape) < 2:
        raise ShapeError(f"{name} needs matrices in the last two axes, got shape {operand.shape}: add an axis")
    *batch, rows, columns = operand.shape
    return tuple(batch), rows, columns


def _infer_values(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns = matrices("a singular value decomposition", operands[0])
    return (*batch, min(rows, columns)), linear_algebra((operands[0].dtype,), params)


def _infer_vectors(side: int, full: bool) -> Callable[[tuple[Node, ...], Params], Inferred]:
    def infer(operands: tuple[Node, ...], params: Params) -> Inferred:
        batch, *sizes = matrices("a singular value decomposition", operands[0])
        count = sizes[side] if full else min(sizes)
        return (*batch, sizes[side], count), linear_algebra((operands[0].dtype,), params)

    return infer


def _infer_packed(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns = matrices("a singular value decomposition", operands[0])
    width = max(rows, columns) if whole(params) else min(rows, columns)
    return (*batch, 1 + rows + columns, width), linear_algebra((operands[0].dtype,), params)


def _infer_pinv(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns = matrices("pinv", operands[0])
    return (*batch, columns, rows), linear_algebra((operands[0].dtype,), params)


def _values_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``ds[i] = U[k i] dA[k l] V[l i]``; equal singular values share the derivative of their places equally.

    ``J[b i, b' k l] = [s[i] = s[a]] / count[i] [s[a] > 0] U[k a] V[l a] delta[b b']``: 0 for a singular value that is
    0, as for a norm; the second derivative is NaN where values are equal or 0.
    """
    axes = axes_of(node, position, len(node.shape) - 1)
    (i,), (k, m) = axes.out, axes.into
    a, group = fresh(axes, 2)
    left, right = (call(name, node.operands[0]) for name in ("svd_left", "svd_right"))
    positive = apply("sign", node)
    factors = [(positive, (*axes.batch, a)), (left, (*axes.batch, k, a)), (right, (*axes.batch, m, a))]
    return (term(node, axes, [*equal_shares(node, axes, i, a, group), *factors]),)


def _left_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dU = U (F o (P + P^T) + E o (P - P^T)) / 2 + (I - U U^T) dA V / s``, ``P = U^T dA V``.

    ``F[i j] = 1 / (s[j] - s[i])`` and ``E[i j] = 1 / (s[j] + s[i])`` off the diagonal and 0 on it; the last term, of
    the space that U does not span, is there for matrices with more rows than columns only.
    (J. Townsend, *Differentiating the singular value decomposition*, 2016, equations 20 and 22).
    """
    return _vectors_jacobian(node, position, 0)


def _right_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dV = V (F o (P + P^T) - E o (P - P^T)) / 2 + (I - V V^T) dA^T U / s``, ``P = U^T dA V``.

    With F and E as for the left vectors; the last term is there for matrices with more columns than rows only.
    (Townsend 2016, equations 21 and 23).
    """
    return _vectors_jacobian(node, position, 1)


def _completed_jacobian(node: General, _position: int) -> tuple[Node, ...]:
    """The vectors that complete a basis are any that do, and the signs of the others belong to them: no derivative."""
    raise DifferentiationError(
        f"the singular vectors that full_matrices=True adds for the shape {node.operands[0].shape[-2:]} are any "
        "that complete a basis and have no derivative: use full_matrices=False, or only the singular values"
    )


def _vectors_jacobian(node: General, position: int, side: int) -> tuple[Node, ...]:
    matrix = node.operands[0]
    _, *sizes = matrices("a singular value decomposition", matrix)
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (r, j), (k, m) = axes.batch, axes.out, axes.into
    (i,) = fresh(axes, 1)
    values = call("svd_values", matrix)
    left, right = (call(name, matrix) for name in ("svd_left", "svd_right"))
    differences, sums = (call("gaps", values, params=(sign,)) for sign in (-1, 1))
    terms = []
    for first, second, sign in ((i, j, 1), (j, i, -1)):
        projected: Factors = [(node, (*batch, r, i)), (left, (*batch, k, first)), (right, (*batch, m, second))]
        own = sign if side == 0 else -sign
        terms += [term(node, axes, [*projected, (differences, (*batch, i, j))], 0.5)]
        terms += [term(node, axes, [*projected, (sums, (*batch, i, j))], 0.5 * own)]
    if sizes[side] > sizes[1 - side]:
        along, other = (k, (right, (*batch, m, j))) if side == 0 else (m, (left, (*batch, k, j)))
        scaled: Factors = [other, (apply("reciprocal", values), (*batch, j))]
        terms += outside(node, axes, node, (r, along), scaled)
    return tuple(terms)


def outside(node: General, axes: Axes, basis: Node, places: tuple[int, int], factors: Factors) -> list[Node]:
    """``(delta[r k] - Q[r a] Q[k a])`` times the factors: the projector on what the columns of Q do not span."""
    row, column = places
    a = fresh(axes, 2)[1]
    spanned = [(basis, (*axes.batch, row, a)), (basis, (*axes.batch, column, a))]
    delta = unit(basis.shape[-2], 2, node.dtype)
    return [term(node, axes, [*factors, (delta, places)]), term(node, axes, [*factors, *spanned], -1)]


def _pinv_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dY = -Y dA Y + Y Y^T dA^T (I - A Y) + (I - Y A) dA^T Y^T Y``, the rank fixed.

    ``J[b i j, b' k l] = (-Y[i k] Y[l j] + Y[i a] Y[l a] (delta[k j] - A[k c] Y[c j])
    + (delta[i l] - Y[i c] A[c l]) Y[a k] Y[a j]) delta[b b']``
    (G. H. Golub and V. Pereyra, SIAM J. Numer. Anal. 10, 1973, equation 4.12).
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (i, j), (k, m) = axes.batch, axes.out, axes.into
    a, c = fresh(axes, 2)
    matrix = node.operands[0]
    rows, columns = matrix.shape[-2:]

    def delta(size: int, first: int, second: int) -> tuple[Node, Labels]:
        return unit(size, 2, node.dtype), (first, second)

    def own(first: int, second: int) -> tuple[Node, Labels]:
        return node, (*batch, first, second)

    inside = (matrix, (*batch, k, c)), (matrix, (*batch, c, m))
    return (
        term(node, axes, [own(i, k), own(m, j)], -1),
        term(node, axes, [own(i, a), own(m, a), delta(rows, k, j)]),
        term(node, axes, [own(i, a), own(m, a), inside[0], own(c, j)], -1),
        term(node, axes, [own(a, k), own(a, j), delta(columns, i, m)]),
        term(node, axes, [own(i, c), inside[1], own(a, k), own(a, j)], -1),
    )


def packed_parts(matrix: Node, full: int = 0) -> tuple[Node, Node, Node]:
    """Left vectors, values and right vectors as parts of one decomposition."""
    packed = call("svd_packed", matrix, params=(full,))
    rows, columns = matrix.shape[-2:]
    count = min(rows, columns)
    left = block(packed, (1, rows), rows if full else count)
    right = block(packed, (1 + rows, columns), columns if full else count)
    return left, row_of(packed, 0, count), right


def planned_values(matrix: Node, beside: AbstractSet[str]) -> Node:
    """The singular values for a plan: alone, or with the vectors where they are computed too."""
    if not SHARING_VECTORS.isdisjoint(beside):
        return packed_parts(matrix)[1]
    return call("svd_alone", matrix) if _COMPLETED.isdisjoint(beside) else packed_parts(matrix, 1)[1]


def _expand_values(node: General, beside: AbstractSet[str]) -> Node:
    return planned_values(node.operands[0], beside)


def _part(place: int, full: int) -> Callable[[General, AbstractSet[str]], Node]:
    return lambda node, _: packed_parts(node.operands[0], full)[place]


def _values_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0]) * min(shapes[0][-2:]) + 1


def _vectors_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 14 * volume(shapes[0]) * max(shapes[0][-2:]) + 1


def _register(
    name: str,
    symbol: str,
    domain: str,
    *,
    infer: Callable[[tuple[Node, ...], Params], Inferred],
    jacobian: Callable[[General, int], tuple[Node, ...]],
    expansion: Callable[[General, AbstractSet[str]], Node | None] | None = None,
) -> None:
    kernel = factor_kernels.svd_values if name == "svd_alone" else getattr(factor_kernels, name)
    register_general(
        GeneralFunction(
            name=name,
            arity=1,
            infer=infer,
            jacobian=jacobian,
            kernel=kernel,
            cost=_values_cost if kernel is factor_kernels.svd_values else _vectors_cost,
            symbol=symbol,
            domain=domain,
            doc=f"{kernel.__doc__} {jacobian.__doc__}",
            expansion=expansion,
        )
    )


_ANY = "all matrices; equal singular values share their derivative, that of 0 is 0"
_DISTINCT = "matrices of full rank with distinct singular values; the derivative is NaN elsewhere"
_FIXED_RANK = "matrices of any rank; the derivative keeps the rank"
_register("svd_values", "svdvals", _ANY, infer=_infer_values, jacobian=_values_jacobian, expansion=_expand_values)
for _side, (_name, _rule) in enumerate((("svd_left", _left_jacobian), ("svd_right", _right_jacobian))):
    _register(
        _name,
        _name.replace("_", ""),
        _DISTINCT,
        infer=_infer_vectors(_side, full=False),
        jacobian=_rule,
        expansion=_part(2 * _side, 0),
    )
    _register(
        f"{_name}_full",
        f"{_name.replace('_', '')}full",
        "all matrices; no derivative",
        infer=_infer_vectors(_side, full=True),
        jacobian=_completed_jacobian,
        expansion=_part(2 * _side, 1),
    )
_register("svd_alone", "svdvals", "all matrices", infer=_infer_values, jacobian=only_in_plans)
_register("svd_packed", "svd", "all matrices", infer=_infer_packed, jacobian=only_in_plans)
_register("pinv", "pinv", _FIXED_RANK, infer=_infer_pinv, jacobian=_pinv_jacobian)
