"""Functions of a matrix by its singular values: ``sum_i h(s_i)``, and ``sum_i h(s_i) x_i y_i^T`` with its vectors x, y.

Owns these rows. Imports the catalogue, the templates and the spectral rows. Invariant: derivatives are those of
spectral functions of the symmetric matrix ``[[0, A], [A^T, 0]]``, whose eigenvalues are the singular values with both
signs and zeros; so equal singular values are no exception. At a singular value that is 0 a function that is not even
has the derivative 0, as the absolute value has, and no second one: NaN.
(R. A. Horn, C. R. Johnson, *Matrix Analysis*, 2013, theorem 7.3.3; V. Noferini, *A formula for the Fréchet derivative
of a generalized matrix function*, SIAM J. Matrix Anal. Appl. 38, 2017.)
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.local import Axes, axes_of, fresh, term, volume
from einsumad.functions.general.singular import matrices, packed_parts, planned_values
from einsumad.functions.general.spectral import in_parameters, same_batch, spectral_factors, spread_over, with_template
from einsumad.functions.general.templates import evaluate, extended, instantiate, reflected, slope_of_length
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape, add, affine, einsum, sum_axes

Array = np.ndarray[Any, Any]
Inferred = tuple[Shape, np.dtype[Any]]


def augmented(matrix: Node) -> Node:
    """``[[0, A], [A^T, 0]]``."""
    *batch, k, m = range(len(matrix.shape))
    rows, columns = matrix.shape[-2:]
    first, second = len(matrix.shape), len(matrix.shape) + 1
    size = rows + columns
    above = affine(size, (rows,), (1,), 0, matrix.dtype)
    below = affine(size, (columns,), (1,), rows, matrix.dtype)
    terms = [
        einsum([matrix, above, below], [(*batch, k, m), (p, k), (q, m)], (*batch, first, second), 1, matrix.dtype)
        for p, q in ((first, second), (second, first))
    ]
    return add(terms, matrix.dtype)


def _block(node: General, axes: Axes, text: str, places: Labels, rows_at: Sequence[bool]) -> tuple[Node, ...]:
    """The term of the derivative tensor of h(augmented matrix) at rows of A for some places, columns for others."""
    matrix, parameters = node.operands
    rows, columns = matrix.shape[-2:]
    labels = tuple(fresh(axes, len(places)))
    params = (1, -rows, text)
    found = spectral_factors((augmented(matrix), parameters), params, axes.batch, labels)
    if found is None:
        return ()
    factors, coefficient = found
    for label, place, is_row in zip(labels, places, rows_at, strict=True):
        first, count = (0, rows) if is_row else (rows, columns)
        factors.append((affine(rows + columns, (count,), (1,), first, node.dtype), (label, place)))
    return (term(node, axes, factors, coefficient),)


def _infer_sum(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, _, _ = matrices("a function of singular values", operands[0])
    same_batch(batch, operands[1])
    return batch, linear_algebra(tuple([operand.dtype for operand in operands]), params)


def _infer_map(operands: tuple[Node, ...], params: Params) -> Inferred:
    _, dtype = _infer_sum(operands, params)
    return operands[0].shape, dtype


def _infer_square(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, dtype = _infer_map(operands, params)
    size = shape[-2 + whole(params)]
    return (*shape[:-2], size, size), dtype


def _sum_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``t = sum_i h(s_i)``: ``J[b, b' k l] = sum_i h'(s_i) U[k i] V[l i] delta[b b']``; 0 for h' where s is 0."""
    axes = axes_of(node, position, len(node.shape))
    if position == 1:
        return in_parameters(node, axes, lambda partial: with_template(node, partial))
    slope = slope_of_length(str(node.params[-1]))
    if slope is None:
        return ()
    return (term(node, axes, [(call("singular_map", *node.operands, params=(slope,)), (*axes.batch, *axes.into))]),)


def _map_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``B = U h(s) V^T``, the upper right block of ``h([[0, A], [A^T, 0]])``, h extended to an odd function.

    J has blocks of its derivative tensor, where rows or columns of dA stand: ``K[i, k, l, j] + K[i, l, k, j]``.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    if position == 1:
        return in_parameters(node, axes, lambda partial: with_template(node, partial))
    (i, j), (k, m) = axes.out, axes.into
    text = extended(str(node.params[-1]))
    straight, crossed = (True, True, False, False), (True, False, True, False)
    return (*_block(node, axes, text, (i, k, m, j), straight), *_block(node, axes, text, (i, m, k, j), crossed))


def _square_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``B = U h(s) U^T`` or ``V h(s) V^T``, a block of ``h([[0, A], [A^T, 0]])``, h extended to an even function.

    J has blocks of its derivative tensor: ``K[i, k, l, j] + K[i, l, k, j]``, i and j both rows or both columns. Where
    the vectors do not span the space h is 0 at the zeros of the rest.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    if position == 1:
        return in_parameters(node, axes, lambda partial: with_template(node, partial))
    (i, j), (k, m) = axes.out, axes.into
    of_rows = whole(node.params) == 0
    rows, columns = node.operands[0].shape[-2:]
    spanned = rows <= columns if of_rows else columns <= rows
    text = reflected(str(node.params[-1]), spanned)
    first, second = (of_rows, True, False, of_rows), (of_rows, False, True, of_rows)
    return (*_block(node, axes, text, (i, k, m, j), first), *_block(node, axes, text, (i, m, k, j), second))


def _expand_sum(node: General, beside: AbstractSet[str]) -> Node:
    values = planned_values(node.operands[0], beside)
    of_each = instantiate(str(node.params[-1]), [values, *spread_over(node.operands[1], values.shape)])
    return sum_axes(of_each, [len(values.shape) - 1])


def _expand_map(node: General, _beside: AbstractSet[str]) -> Node:
    left, values, right = packed_parts(node.operands[0])
    return _expanded(node, left, values, right)


def _expand_square(node: General, _beside: AbstractSet[str]) -> Node:
    left, values, right = packed_parts(node.operands[0])
    vectors = right if whole(node.params) else left
    return _expanded(node, vectors, values, vectors)


def _expanded(node: General, left: Node, values: Node, right: Node) -> Node:
    of_each = instantiate(str(node.params[-1]), [values, *spread_over(node.operands[1], values.shape)])
    rank = len(node.shape)
    *batch, i, j = range(rank)
    inputs = [(*batch, i, rank), (*batch, rank), (*batch, j, rank)]
    return einsum([left, of_each, right], inputs, range(rank), 1, node.dtype)


def _values_of(values: Array, c: Array, text: str) -> Array:
    return evaluate(text, [values, *[c[..., k, None] for k in range(c.shape[-1])]])


def singular_sum(a: Array, c: Array, text: str) -> Array:
    """``sum_i h(s[b, i])`` over the singular values of the matrices."""
    return np.asarray(_values_of(factor_kernels.svd_values(a), c, text).sum(axis=-1), a.dtype)


def singular_map(a: Array, c: Array, text: str) -> Array:
    """``sum_i h(s[b, i]) u_i v_i^T``: the matrices with their singular values replaced."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    return np.asarray((left * _values_of(values, c, text)[..., None, :]) @ right, a.dtype)


def singular_square(a: Array, c: Array, side: int, text: str) -> Array:
    """``sum_i h(s[b, i]) u_i u_i^T`` of the left singular vectors, or of the right ones if the parameter is 1."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    vectors = np.swapaxes(right, -1, -2) if side else left
    return np.asarray((vectors * _values_of(values, c, text)[..., None, :]) @ np.swapaxes(vectors, -1, -2), a.dtype)


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 14 * volume(shapes[0]) * max(shapes[0][-2:]) + 1


for _name, _infer, _jacobian, _kernel, _expansion in (
    ("singular_sum", _infer_sum, _sum_jacobian, singular_sum, _expand_sum),
    ("singular_map", _infer_map, _map_jacobian, singular_map, _expand_map),
    ("singular_square", _infer_square, _square_jacobian, singular_square, _expand_square),
):
    register_general(
        GeneralFunction(
            name=_name,
            arity=2,
            infer=_infer,
            jacobian=_jacobian,
            kernel=_kernel,
            cost=_cost,
            symbol=_name,
            domain="all matrices, equal singular values included, on whose singular values the function is smooth",
            doc=f"{_kernel.__doc__} {_jacobian.__doc__}",
            expansion=_expansion,
        )
    )
