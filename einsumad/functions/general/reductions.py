"""Reductions over the last axis that are no sums: product, maximum, minimum, logsumexp, and what is left of it.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the product's derivatives are
division-free and right at zeros to every order; equal entries share the derivative of a maximum equally.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, apply, call, register_general
from einsumad.functions.dtypes import floating_one, of_product
from einsumad.functions.general import kernels
from einsumad.functions.general.local import axes_of, last_axis, term, volume
from einsumad.functions.rows import whole
from einsumad.graph import General, Node, Params, Shape, broadcast, einsum, negate, ones, total, unit

Inferred = tuple[Shape, np.dtype[Any]]


def _infer_product(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, _ = last_axis("product", operands[0])
    return batch, of_product((operands[0].dtype,), params)


def _infer_others(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, size = last_axis("product_of_others", operands[0])
    order = whole(params)
    if order < 1:
        raise ShapeError(f"product_of_others leaves 1, 2, ... entries out, not {order}")
    return (*batch, *(size,) * order), of_product((operands[0].dtype,), params)


def _extremum_axes(params: Params) -> int:
    """Over how many of the last axes: one, where nothing is said."""
    return whole(params) if params else 1


def _infer_extremum(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, axes = operands[0].shape, _extremum_axes(params)
    if not 1 <= axes <= len(shape):
        raise ShapeError(f"a maximum or minimum over the last {axes} axes does not exist for shape {shape}")
    if volume(shape[-axes:]) == 0:
        raise ShapeError(f"a maximum or minimum over no entry does not exist: last {axes} axes of {shape}")
    return shape[:-axes], operands[0].dtype


def _infer_logsumexp(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, _ = last_axis("logsumexp", operands[0])
    return batch, floating_one((operands[0].dtype,), params)


def _product_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b, b' i] = P1[b i] delta[b b']``, P1 the product of all other entries."""
    axes = axes_of(node, position, len(node.shape))
    others = call("product_of_others", node.operands[0], params=(1,))
    return (term(node, axes, [(others, (*axes.batch, *axes.into))]),)


def _others_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``P_k[b, i1 ... ik] = prod of x[b l] over l not in {i1 ... ik}`` where all i differ, else 0.

    ``J[b i1 ... ik, b' j] = P_(k+1)[b i1 ... ik j] delta[b b']``; zero for k > n.
    """
    order = whole(node.params)
    axes = axes_of(node, position, len(node.shape) - order)
    higher = call("product_of_others", node.operands[0], params=(order + 1,))
    return (term(node, axes, [(higher, (*axes.batch, *axes.out, *axes.into))]),)


def _shares(node: General, position: int, beaten: str) -> tuple[Node, ...]:
    """Entries that are not beaten by the extremum share it equally; their mask is true at NaN."""
    x = node.operands[0]
    batch = len(node.shape)
    spread = broadcast(node, range(batch), x.shape)
    reached = apply("logical_not", apply(beaten, x, spread))
    count = einsum([reached], [range(len(x.shape))], range(batch), 1, node.dtype)
    axes = axes_of(node, position, batch)
    share = (apply("reciprocal", count), axes.batch)
    return (term(node, axes, [(reached, (*axes.batch, *axes.into)), share]),)


def _maximum_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b, b' i] = [x[b i] = m[b]] / count[b] delta[b b']``: equal split at ties, no second derivative.

    i are the indices of the last axis, or of as many of the last axes as the parameter says.
    """
    return _shares(node, position, "less")


def _minimum_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b, b' i] = [x[b i] = m[b]] / count[b] delta[b b']``: equal split at ties, no second derivative.

    i are the indices of the last axis, or of as many of the last axes as the parameter says.
    """
    return _shares(node, position, "greater")


def _without_nan_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b, b' i] = [x[b i] = m[b]] / count[b] delta[b b']``: as that of the extremum, and 0 for NaN.

    i are the indices of the last axis, or of as many of the last axes as the parameter says.
    """
    x = node.operands[0]
    batch = len(node.shape)
    reached = apply("equal", x, broadcast(node, range(batch), x.shape))
    count = einsum([reached], [range(len(x.shape))], range(batch), 1, node.dtype)
    axes = axes_of(node, position, batch)
    share = (apply("reciprocal", count), axes.batch)
    return (term(node, axes, [(reached, (*axes.batch, *axes.into)), share]),)


def _logsumexp_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b, b' i] = exp(x[b i] - L[b]) delta[b b']``, L the value: the softmax of x, which never overflows.

    Entries of -inf have derivative 0. Where L itself is infinite (all entries -inf, or one of them inf) the
    softmax does not exist and the derivative is NaN; no entry at all gives L = -inf and an empty derivative.
    """
    x = node.operands[0]
    axes = axes_of(node, position, len(node.shape))
    level = broadcast(node, range(len(node.shape)), x.shape)
    softmax = apply("exp", total(x, negate(level)))
    return (term(node, axes, [(softmax, (*axes.batch, *axes.into))]),)


def _infer_log_softmax(operands: tuple[Node, ...], params: Params) -> Inferred:
    last_axis("log_softmax", operands[0])
    return operands[0].shape, floating_one((operands[0].dtype,), params)


def _log_softmax_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b i, b' j] = (delta[i j] - exp(Y[b j])) delta[b b']``, Y the value.

    It is planned where an operand stands beside its logsumexp, once nothing is differentiated any more.
    """
    axes = axes_of(node, position, len(node.shape) - 1)
    size = node.shape[-1]
    own = (unit(size, 2, node.dtype), (*axes.out, *axes.into))
    shares = [(apply("exp", node), (*axes.batch, *axes.into)), (ones((size,), node.dtype), axes.out)]
    return term(node, axes, [own]), term(node, axes, shares, -1)


def _linear_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0])


def _others_cost(shapes: tuple[Shape, ...], params: Params) -> int:
    size, order = shapes[0][-1], whole(params)
    return volume(shapes[0][:-1]) * (2 * size + (size**2 if order > 1 else 0) + order * volume((size,) * order))


def _logsumexp_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 16 * volume(shapes[0])


register_general(
    GeneralFunction(
        name="product",
        arity=1,
        infer=_infer_product,
        jacobian=_product_jacobian,
        kernel=kernels.product,
        cost=_linear_cost,
        symbol="prod",
        domain="all numbers",
        doc=_product_jacobian.__doc__ or "",
        item_rank=0,
    )
)
register_general(
    GeneralFunction(
        name="product_of_others",
        arity=1,
        infer=_infer_others,
        jacobian=_others_jacobian,
        kernel=kernels.product_of_others,
        cost=_others_cost,
        symbol="others",
        domain="all numbers",
        doc=_others_jacobian.__doc__ or "",
    )
)
register_general(
    GeneralFunction(
        name="max_reduce",
        arity=1,
        infer=_infer_extremum,
        jacobian=_maximum_jacobian,
        kernel=kernels.maximum,
        cost=_linear_cost,
        symbol="max",
        domain="all numbers, at least one",
        doc=_maximum_jacobian.__doc__ or "",
        item_rank=0,
    )
)
register_general(
    GeneralFunction(
        name="min_reduce",
        arity=1,
        infer=_infer_extremum,
        jacobian=_minimum_jacobian,
        kernel=kernels.minimum,
        cost=_linear_cost,
        symbol="min",
        domain="all numbers, at least one",
        doc=_minimum_jacobian.__doc__ or "",
        item_rank=0,
    )
)
for _name, _kernel, _symbol in (("fmax_reduce", kernels.fmax, "fmax"), ("fmin_reduce", kernels.fmin, "fmin")):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer_extremum,
            jacobian=_without_nan_jacobian,
            kernel=_kernel,
            cost=_linear_cost,
            symbol=_symbol,
            domain="all numbers, at least one",
            doc=f"{_kernel.__doc__} {_without_nan_jacobian.__doc__}",
            item_rank=0,
        )
    )
register_general(
    GeneralFunction(
        name="logsumexp",
        arity=1,
        infer=_infer_logsumexp,
        jacobian=_logsumexp_jacobian,
        kernel=kernels.logsumexp,
        cost=_logsumexp_cost,
        symbol="logsumexp",
        domain="all numbers",
        doc=_logsumexp_jacobian.__doc__ or "",
        item_rank=0,
    )
)
register_general(
    GeneralFunction(
        name="log_softmax",
        arity=1,
        infer=_infer_log_softmax,
        jacobian=_log_softmax_jacobian,
        kernel=kernels.log_softmax,
        cost=_logsumexp_cost,
        symbol="log_softmax",
        domain="all numbers",
        doc=_log_softmax_jacobian.__doc__ or "",
        item_rank=1,
    )
)
