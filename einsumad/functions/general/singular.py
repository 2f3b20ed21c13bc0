"""Singular values and vectors.

Owns these rows. Imports the catalogue and graph spelling. Invariant: local Jacobians are products of factors; singular
vectors of values that are too close to each other or to zero have the derivative NaN.
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
from einsumad.functions.general.chosen import Chosen, chosen, pick
from einsumad.functions.general.local import axes_of, block, row_of, term, volume
from einsumad.functions.general.symmetric import only_in_plans
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape

Inferred = tuple[Shape, np.dtype[Any]]
Factors = list[tuple[Node, Labels]]
SHARING_VECTORS = frozenset(
    {"svd_left", "svd_right", "singular_map", "singular_square", "singular_projections", "singular_resolvents"}
)
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
    return (*batch, chosen(params, 0, min(rows, columns)).number), linear_algebra((operands[0].dtype,), params)


def _infer_vectors(side: int, full: bool) -> Callable[[tuple[Node, ...], Params], Inferred]:
    def infer(operands: tuple[Node, ...], params: Params) -> Inferred:
        batch, *sizes = matrices("a singular value decomposition", operands[0])
        count = sizes[side] if full else chosen(params, 0, min(sizes)).number
        return (*batch, sizes[side], count), linear_algebra((operands[0].dtype,), params)

    return infer


def _infer_packed(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns = matrices("a singular value decomposition", operands[0])
    width = max(rows, columns) if whole(params) else min(rows, columns)
    return (*batch, 1 + rows + columns, width), linear_algebra((operands[0].dtype,), params)


def _values_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``ds_k = u_k^T dA v_k``; equal singular values share the derivative of their places equally.

    ``J[b k, b' p q] = [s[k] > 0] P[k p q] delta[b b']``, P the projections of
    :mod:`einsumad.functions.general.singular_resolvents`: 0 for a singular value that is 0, as for a norm; the second
    derivative is NaN where values are equal or 0.
    """
    axes = axes_of(node, position, len(node.shape) - 1)
    (k,), (p, q) = axes.out, axes.into
    projections = call("singular_projections", node.operands[0], params=(1, *places_of(node)))
    return (term(node, axes, [(apply("sign", node), (*axes.batch, k)), (projections, (*axes.batch, k, p, q))]),)


def places_of(node: General) -> Chosen:
    """The singular values that values or vectors are of."""
    return chosen(node.params, 0, min(node.operands[0].shape[-2:]))


def _left_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``du_k = S11_k dA v_k + S12_k dA^T u_k`` with reduced resolvents; NaN where the singular value is not simple.

    ``J[b r k, b' p q] = (S11[k r p] V[q k] + S12[k r q] U[p k]) delta[b b']``, the blocks S of
    :mod:`einsumad.functions.general.singular_resolvents` (equal to equation 20 of J. Townsend, *Differentiating the
    singular value decomposition*, 2016).
    """
    return _vectors_jacobian(node, position, ((0, False), (1, False)))


def _right_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dv_k = S12_k^T dA v_k + S22_k dA^T u_k`` with reduced resolvents; NaN where the singular value is not simple.

    ``J[b r k, b' p q] = (S12[k p r] V[q k] + S22[k r q] U[p k]) delta[b b']`` (equal to Townsend 2016, equation 21).
    """
    return _vectors_jacobian(node, position, ((1, True), (2, False)))


def _completed_jacobian(node: General, _position: int) -> tuple[Node, ...]:
    """The vectors that complete a basis are any that do, and the signs of the others belong to them: no derivative."""
    raise DifferentiationError(
        f"the singular vectors that full_matrices=True adds for the shape {node.operands[0].shape[-2:]} are any "
        "that complete a basis and have no derivative: use full_matrices=False, or only the singular values"
    )


def _vectors_jacobian(node: General, position: int, blocks: tuple[tuple[int, bool], ...]) -> tuple[Node, ...]:
    """The products with the blocks, each transposed or not, of which the first is with dA and the second with dA^T."""
    axes = axes_of(node, position, len(node.shape) - 2)
    (r, k), (p, q) = axes.out, axes.into
    terms = []
    for (which, turned), name, inner, end in zip(blocks, ("svd_right", "svd_left"), (p, q), (q, p), strict=True):
        resolvents = call("singular_resolvents", node.operands[0], params=(which, *places_of(node), 1, 1))
        places = (k, inner, r) if turned else (k, r, inner)
        vectors = call(name, node.operands[0], params=node.params)
        terms.append(term(node, axes, [(resolvents, (*axes.batch, *places)), (vectors, (*axes.batch, end, k))]))
    return tuple(terms)


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
    return pick(planned_values(node.operands[0], beside), places_of(node))


def _part(place: int, full: int) -> Callable[[General, AbstractSet[str]], Node]:
    def part(node: General, _beside: AbstractSet[str]) -> Node:
        found = packed_parts(node.operands[0], full)[place]
        return found if full else pick(found, places_of(node))

    return part


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
