"""Functions of a symmetric matrix by its eigenvalues, ``h(A) = sum_i h(w_i) v_i v_i^T``, and their derivative tensors.

Owns these rows. Imports the catalogue, the templates and graph spelling. Invariant: derivatives are written with
divided differences of h and projectors on eigenspaces, never with derivatives of eigenvectors, so that equal
eigenvalues are no exception. The function is a template in the params, its parameters are the second operand's entries.

With ``P_i = v_i v_i^T`` the tensor of order m is ``K = sum h[w_i0, ..., w_im] P_i0 x P_i1 x ... x P_im``, of 2 (m + 1)
axes; that of order 0 is h(A). Since a resolvent has the derivative ``R dA R``, so has K: each projector in turn is
replaced by two with dA between them, and h by the divided difference at one point more.
Sources: Ju. L. Daleckii, S. G. Krein, AMS Translations (2) 47, 1965; N. J. Higham, *Functions of Matrices*, 2008,
section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from math import factorial
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import factor_kernels, kernels
from einsumad.functions.general.divided import divided_differences
from einsumad.functions.general.local import Axes, axes_of, fresh, last_axis, square_matrices, term, volume
from einsumad.functions.general.symmetric import packed_values, packed_vectors, planned_values
from einsumad.functions.general.templates import (
    FLOAT,
    depends,
    derivative,
    evaluate,
    instantiate,
    nth_derivative,
    root_of,
    sides,
    slot,
    text_of,
)
from einsumad.functions.rows import whole
from einsumad.graph import (
    General,
    Labels,
    Node,
    Params,
    Shape,
    add,
    affine,
    broadcast,
    einsum,
    elementwise,
    multiply,
    negate,
    sum_axes,
    unit,
    zero,
)

Array = np.ndarray[Any, Any]
Inferred = tuple[Shape, np.dtype[Any]]
Factors = list[tuple[Node, Labels]]


def _template(params: Params) -> str:
    return str(params[-1])


def spectral_factors(
    operands: Sequence[Node], params: Params, batch: Labels, labels: Labels
) -> tuple[Factors, float] | None:
    """Factors and number of the tensor with these params (order, triangle, template); None where it is zero.

    Where the derivative of that order is constant the projectors sum to the unit matrix, one for each pair of labels;
    not across a kink.
    """
    matrix, parameters = operands
    order, text = whole(params), _template(params)
    highest = nth_derivative(text, order)
    if sides(text) or (highest is not None and depends(highest, 0)):
        return [(call("spectral", matrix, parameters, params=params), (*batch, *labels))], 1
    if highest is None:
        return None
    values = [zero(parameters.shape[:-1], matrix.dtype), *_entries_of(parameters)]
    delta = unit(matrix.shape[-1], 2, matrix.dtype)
    deltas: Factors = [(delta, pair) for pair in zip(labels[::2], labels[1::2], strict=True)]
    return [(instantiate(highest, values), batch), *deltas], 1 / factorial(order)


def _entries_of(parameters: Node) -> list[Node]:
    """The parameters one by one."""
    count = parameters.shape[-1]
    axes = range(len(parameters.shape))
    own = len(axes)
    return [
        einsum(
            [parameters, affine(count, (1,), (0,), k, parameters.dtype)],
            [axes, (axes[-1], own)],
            axes[:-1],
            1,
            parameters.dtype,
        )
        for k in range(count)
    ]


def stacked(parameters: Sequence[Node], batch: Shape, dtype: Any) -> Node:
    """Nodes of the batch shape along a new last axis."""
    count, rank = len(parameters), len(batch)
    if not parameters:
        return zero((*batch, 0), dtype)
    terms = [
        einsum([node, affine(count, (1,), (0,), k, dtype)], [range(rank), (rank, rank + 1)], range(rank + 1), 1, dtype)
        for k, node in enumerate(parameters)
    ]
    return terms[0] if count == 1 else add(terms)


def spread_over(parameters: Node, shape: Shape) -> list[Node]:
    """The parameters one by one, each spread over axes behind the batch axes."""
    batch = len(parameters.shape) - 1
    return [broadcast(node, range(batch), shape) for node in _entries_of(parameters)]


def in_parameters(node: General, axes: Axes, change: Callable[[str], Node]) -> tuple[Node, ...]:
    """``J[b .., b' r]``: for each parameter r the node for the derivative of the template, at the place r."""
    parameters = node.operands[1]
    terms = []
    for position in range(parameters.shape[-1]):
        partial = derivative(_template(node.params), position + 1)
        if partial is not None:
            (end,) = fresh(axes, 1)
            place = affine(parameters.shape[-1], (1,), (0,), position, node.dtype)
            factors = [(change(partial), (*axes.batch, *axes.out)), (place, (axes.into[0], end))]
            terms.append(term(node, axes, factors))
    return tuple(terms)


def with_template(node: General, text: str) -> Node:
    """The node with another function."""
    return call(node.function, *node.operands, params=(*node.params[:-1], text))


def _infer_sum(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, _ = square_matrices("a spectral function", operands[0])
    same_batch(batch, operands[1])
    return batch, linear_algebra(tuple([operand.dtype for operand in operands]), params)


def _infer_tensor(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, dtype = _infer_sum(operands, params)
    return (*batch, *(operands[0].shape[-1],) * (2 * whole(params) + 2)), dtype


def _infer_differences(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, size = last_axis("divided_differences", operands[0])
    same_batch(batch, operands[1])
    return (*batch, *(size,) * (whole(params) + 1)), operands[0].dtype


def same_batch(batch: Shape, parameters: Node) -> None:
    """Check that there are parameters for each entry of the batch."""
    if parameters.shape[:-1] != batch or not parameters.shape:
        raise ShapeError(f"parameters of a spectral function have shape {(*batch, 'p')}, got {parameters.shape}")


def _sum_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``t = sum_i h(w_i)``: ``J[b, b' k l] = h'(A)[b k l] delta[b b']``, without eigenvectors where h' is constant."""
    axes = axes_of(node, position, len(node.shape))
    if position == 1:
        return in_parameters(node, axes, lambda partial: with_template(node, partial))
    slope = derivative(_template(node.params), 0)
    if slope is None:
        return ()
    found = spectral_factors(node.operands, (0, node.params[0], slope), axes.batch, axes.into)
    return () if found is None else (term(node, axes, *found),)


def _logarithm_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``L = log sum_i exp g(w_i)``: ``J[b, b' k l] = (exp(g - L) g')(A)[b k l] delta[b b']``, L one more parameter."""
    axes = axes_of(node, position, len(node.shape))
    matrix, parameters = node.operands
    exponent = root_of(_template(node.params))
    level = slot(parameters.shape[-1] + 1)
    weight = elementwise("exp", [add([exponent, negate(level)])], (), FLOAT)
    more = stacked([*_entries_of(parameters), node], node.shape, node.dtype)
    if position == 1:

        def change(partial: str) -> Node:
            weighted = text_of(multiply(weight, root_of(partial)))
            return call("spectral_sum", matrix, more, params=(*node.params[:-1], weighted))

        return in_parameters(node, axes, change)
    slope = derivative(_template(node.params), 0)
    if slope is None:
        return ()
    weighted = text_of(multiply(weight, root_of(slope)))
    found = spectral_factors((matrix, more), (0, node.params[0], weighted), axes.batch, axes.into)
    return () if found is None else (term(node, axes, *found),)


def _tensor_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dK = sum_j K(m + 1)`` with ``P_j`` in turn replaced by ``P x dA x P``: J has the axes of dA there."""
    order = whole(node.params)
    axes = axes_of(node, position, len(node.shape) - 2 * order - 2)
    if position == 1:
        return in_parameters(node, axes, lambda partial: with_template(node, partial))
    terms = []
    for j in range(order + 1):
        labels = (*axes.out[: 2 * j + 1], *axes.into, *axes.out[2 * j + 1 :])
        found = spectral_factors(node.operands, (order + 1, *node.params[1:]), axes.batch, labels)
        if found is not None:
            terms.append(term(node, axes, *found))
    return tuple(terms)


def _differences_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``D[i0 .. im] = h[x[i0], .., x[im]]``: ``J[i0 .. im, r] = sum_j D(m + 1)[i0 .. im r] delta[ij r]``."""
    order = whole(node.params)
    axes = axes_of(node, position, len(node.shape) - order - 1)
    if position == 1:
        return in_parameters(node, axes, lambda partial: with_template(node, partial))
    higher = call(node.function, *node.operands, params=(order + 1, _template(node.params)))
    delta = unit(node.shape[-1], 2, node.dtype)
    return tuple(
        [
            term(node, axes, [(higher, (*axes.batch, *axes.out, *axes.into)), (delta, (place, *axes.into))])
            for place in axes.out
        ]
    )


def _expand_sum(node: General, beside: AbstractSet[str]) -> Node:
    values = planned_values(node.operands[0], node.params[:1], beside)
    of_each = instantiate(_template(node.params), [values, *spread_over(node.operands[1], values.shape)])
    return sum_axes(of_each, [len(values.shape) - 1])


def _expand_logarithm(node: General, beside: AbstractSet[str]) -> Node:
    values = planned_values(node.operands[0], node.params[:1], beside)
    return call(
        "logsumexp", instantiate(_template(node.params), [values, *spread_over(node.operands[1], values.shape)])
    )


def _expand_tensor(node: General, _beside: AbstractSet[str]) -> Node:
    """``V[o0 i0] V[o1 i0] .. D[i0 .. im]``: contracted with what stands around it, the tensor itself is not formed."""
    matrix, parameters = node.operands
    order, upper, text = whole(node.params), node.params[1:2], _template(node.params)
    values, vectors = packed_values(matrix, upper), packed_vectors(matrix, upper)
    if order:
        core = call("divided_differences", values, parameters, params=(order, text))
    else:
        core = instantiate(text, [values, *spread_over(parameters, values.shape)])
    rank = len(node.shape)
    batch = range(len(values.shape) - 1)
    own = range(rank, rank + order + 1)
    factors: Factors = [(core, (*batch, *own))]
    factors += [(vectors, (*batch, axis, own[k // 2])) for k, axis in enumerate(range(len(batch), rank))]
    return einsum([factor for factor, _ in factors], [labels for _, labels in factors], range(rank), 1, node.dtype)


def _slots(values: Array, c: Array) -> list[Array]:
    return [values, *[c[..., k, None] for k in range(c.shape[-1])]]


def spectral_sum(a: Array, c: Array, upper: int, text: str) -> Array:
    """``sum_i h(w[b, i])`` over the eigenvalues of the symmetric matrices."""
    values = factor_kernels.eigh_values(a, upper)
    return np.asarray(evaluate(text, _slots(values, c)).sum(axis=-1), a.dtype)


def spectral_logsumexp(a: Array, c: Array, upper: int, text: str) -> Array:
    """``log sum_i exp g(w[b, i])`` over the eigenvalues of the symmetric matrices, without overflow."""
    values = factor_kernels.eigh_values(a, upper)
    return kernels.logsumexp(np.asarray(evaluate(text, _slots(values, c)), a.dtype))


def spectral(a: Array, c: Array, order: int, upper: int, text: str) -> Array:
    """The derivative tensor of some order of h(a), 0 for h(a) itself."""
    packed = factor_kernels.eigh_packed(a, upper)
    result = divided_differences(packed[..., 0, :], c, order, text)
    for _ in range(order + 1):
        pairs = packed[..., 1:, None, :] * packed[..., None, 1:, :]
        first = a.ndim - 2
        moved = np.moveaxis(result, first, -1)
        shape = (*pairs.shape[:first], *[1] * (moved.ndim - first - 1), *pairs.shape[first:])
        result = np.einsum("...i,...pqi->...pq", moved, pairs.reshape(shape))
    return np.asarray(result, a.dtype)


def _eigen_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 9 * volume(shapes[0]) * max(shapes[0][-1], 1)


def _tensor_cost(shapes: tuple[Shape, ...], params: Params) -> int:
    return _eigen_cost(shapes, params) + volume((*shapes[0], *[max(shapes[0][-1], 1)] * (2 * whole(params) + 1)))


def _differences_cost(shapes: tuple[Shape, ...], params: Params) -> int:
    return 50 * volume((*shapes[0], *[max(shapes[0][-1], 1)] * whole(params)))


_SMOOTH = "symmetric matrices, equal eigenvalues included, on whose eigenvalues the function is smooth"
for _name, _infer, _jacobian, _kernel, _cost, _expansion in (
    ("spectral_sum", _infer_sum, _sum_jacobian, spectral_sum, _eigen_cost, _expand_sum),
    ("spectral_logsumexp", _infer_sum, _logarithm_jacobian, spectral_logsumexp, _eigen_cost, _expand_logarithm),
    ("spectral", _infer_tensor, _tensor_jacobian, spectral, _tensor_cost, _expand_tensor),
    ("divided_differences", _infer_differences, _differences_jacobian, divided_differences, _differences_cost, None),
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
            domain=_SMOOTH,
            doc=f"{_kernel.__doc__} {_jacobian.__doc__}",
            expansion=_expansion,
        )
    )
