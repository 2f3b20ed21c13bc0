"""Functions of a symmetric matrix: Cholesky, eigenvalues, eigenvectors.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the operand is symmetric, as ``mirrored`` makes it
of a triangle, whose derivative is that on symmetric matrices; so the Jacobians of the others need to be right for
symmetric changes only. What is not defined where eigenvalues are equal is NaN there.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.errors import InternalError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.chosen import chosen, pick
from einsumad.functions.general.local import (
    axes_of,
    block,
    fresh,
    row_of,
    square_matrices,
    term,
    volume,
)
from einsumad.graph import General, Node, Params, Shape, unit

Inferred = tuple[Shape, np.dtype[Any]]
SHARING_VECTORS = frozenset({"eigh_vectors", "eigenprojections", "reduced_resolvents", "spectral"})
"""Functions that need the eigenvectors: beside one of them the eigenvalues come from the same decomposition."""


def _infer_matrix(operands: tuple[Node, ...], params: Params) -> Inferred:
    square_matrices("a factorisation of a symmetric matrix", operands[0])
    return operands[0].shape, linear_algebra((operands[0].dtype,), params)


def _infer_values(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, dtype = _infer_matrix(operands, params)
    return (*shape[:-2], chosen(params, 1, shape[-1]).number), dtype


def _infer_vectors(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, dtype = _infer_matrix(operands, params)
    return (*shape[:-1], chosen(params, 1, shape[-1]).number), dtype


def _infer_packed(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, dtype = _infer_matrix(operands, params)
    return (*shape[:-2], shape[-1] + 1, shape[-1]), dtype


def _infer_batch(operands: tuple[Node, ...], params: Params) -> Inferred:
    shape, dtype = _infer_matrix(operands, params)
    return shape[:-2], dtype


def _infer_weights(operands: tuple[Node, ...], _params: Params) -> Inferred:
    return operands[0].shape[-2:], operands[0].dtype


def _mirrored_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b i j, b' k l] = (delta[i k] delta[j l] + delta[i l] delta[j k]) / 2 one[b] delta[b b']``.

    The derivative on symmetric matrices: it is that of the value for changes that are symmetric, and spreads others
    over both triangles. The value of other matrices has another derivative, so ``one`` is 1 or raises.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, j), (k, m) = axes.out, axes.into
    delta = unit(node.shape[-1], 2, node.dtype)
    one = (call("one_if_symmetric", node.operands[0]), axes.batch)
    return tuple([term(node, axes, [(delta, (i, p)), (delta, (j, q)), one], 0.5) for p, q in ((k, m), (m, k))])


def no_jacobian(_node: General, _position: int) -> tuple[Node, ...]:
    """A constant: derivative 0."""
    return ()


def only_in_plans(node: General, _position: int) -> tuple[Node, ...]:
    """Put in place when a plan is made, after all differentiation."""
    raise InternalError(f"{node.function} was differentiated: it belongs in plans only")


def _cholesky_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dL = L (W o (inv(L) dA inv(L)^T))``, W one below the diagonal and 1/2 on it.

    ``J[b i j, b' k l] = L[b i a] W[a j] inv(L)[b a k] inv(L)[b j l] delta[b b']``
    (S. Särkkä, *Bayesian Filtering and Smoothing*, theorem A.1).
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, j), (k, m) = axes.out, axes.into
    (a,) = fresh(axes, 1)
    inverse = call("inverse", node)
    weights = call("triangle_weights", node, params=(1, 0.5, 0))
    factors = [(node, (*axes.batch, i, a)), (weights, (a, j))]
    factors += [(inverse, (*axes.batch, a, k)), (inverse, (*axes.batch, j, m))]
    return (term(node, axes, factors),)


def _values_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dw_k = tr(P_k dA)``; equal eigenvalues share the derivative of the places that they take equally.

    ``J[b k, b' p q] = P[k p q] delta[b b']``, P the projections of :mod:`einsumad.functions.general.resolvents`. The
    second derivative is NaN at ties (Magnus 1985, theorem 1).
    """
    axes = axes_of(node, position, len(node.shape) - 1)
    (k,), (p, q) = axes.out, axes.into
    places = chosen(node.params, 1, node.operands[0].shape[-1])
    projections = call("eigenprojections", node.operands[0], params=(node.params[0], *places))
    return (term(node, axes, [(projections, (*axes.batch, k, p, q))]),)


def _vectors_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dv_k = S_k dA v_k`` with the reduced resolvent ``S_k`` of the eigenvalue; NaN where it is not a simple one.

    ``J[b r k, b' p q] = S[k r p] V[q k] delta[b b']``, S of :mod:`einsumad.functions.general.resolvents`
    (T. Kato, *Perturbation Theory for Linear Operators*, 1995, section II.4; J. R. Magnus, *On differentiating
    eigenvalues and eigenvectors*, Econometric Theory 1, 1985, theorem 1).
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    (r, k), (p, q) = axes.out, axes.into
    places = chosen(node.params, 1, node.operands[0].shape[-1])
    resolvents = call("reduced_resolvents", node.operands[0], params=(node.params[0], *places, 1, 1))
    return (term(node, axes, [(resolvents, (*axes.batch, k, r, p)), (node, (*axes.batch, q, k))]),)


def packed_values(matrix: Node, params: Params) -> Node:
    """The eigenvalues as a part of the decomposition."""
    return row_of(call("eigh_packed", matrix, params=params), 0, matrix.shape[-1])


def packed_vectors(matrix: Node, params: Params) -> Node:
    """The eigenvectors as a part of the decomposition."""
    size = matrix.shape[-1]
    return block(call("eigh_packed", matrix, params=params), (1, size), size)


def planned_values(matrix: Node, params: Params, beside: AbstractSet[str]) -> Node:
    """The eigenvalues for a plan: alone, or with the vectors where they are computed too."""
    if SHARING_VECTORS.isdisjoint(beside):
        return call("eigh_alone", matrix, params=params)
    return packed_values(matrix, params)


def _expand_values(node: General, beside: AbstractSet[str]) -> Node:
    values = planned_values(node.operands[0], node.params[:1], beside)
    return pick(values, chosen(node.params, 1, values.shape[-1]))


def _expand_vectors(node: General, _beside: AbstractSet[str]) -> Node:
    vectors = packed_vectors(node.operands[0], node.params[:1])
    return pick(vectors, chosen(node.params, 1, vectors.shape[-1]))


def _eigen_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 9 * volume(shapes[0]) * max(shapes[0][-1], 1)


def _values_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 3 * volume(shapes[0]) * max(shapes[0][-1], 1)


def _cholesky_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) * max(shapes[0][-1], 1) // 3 + 1


def _entries(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) + 1


def _register(
    name: str,
    symbol: str,
    domain: str,
    *,
    infer: Callable[[tuple[Node, ...], Params], Inferred],
    jacobian: Callable[[General, int], tuple[Node, ...]],
    cost: Callable[[tuple[Shape, ...], Params], int],
    expansion: Callable[[General, AbstractSet[str]], Node | None] | None = None,
) -> None:
    kernel = factor_kernels.eigh_values if name == "eigh_alone" else getattr(factor_kernels, name)
    register_general(
        GeneralFunction(
            name=name,
            arity=1,
            infer=infer,
            jacobian=jacobian,
            kernel=kernel,
            cost=cost,
            symbol=symbol,
            domain=domain,
            doc=f"{kernel.__doc__} {jacobian.__doc__}",
            expansion=expansion,
        )
    )


_SYMMETRIC = "symmetric matrices"
_DISTINCT = "symmetric matrices; the derivative needs simple eigenvalues and is NaN elsewhere"
_DEFINITE = "symmetric positive definite matrices; others raise numpy.linalg.LinAlgError"
_register("mirrored", "sym", "square matrices", infer=_infer_matrix, jacobian=_mirrored_jacobian, cost=_entries)
_register("one_if_symmetric", "symmetric", _SYMMETRIC, infer=_infer_batch, jacobian=no_jacobian, cost=_entries)
_register("triangle_weights", "triangle", "matrices", infer=_infer_weights, jacobian=no_jacobian, cost=_entries)
_register("cholesky", "chol", _DEFINITE, infer=_infer_matrix, jacobian=_cholesky_jacobian, cost=_cholesky_cost)
_register(
    "eigh_values",
    "eigvalsh",
    _SYMMETRIC,
    infer=_infer_values,
    jacobian=_values_jacobian,
    cost=_values_cost,
    expansion=_expand_values,
)
_register(
    "eigh_vectors",
    "eigvecsh",
    _DISTINCT,
    infer=_infer_vectors,
    jacobian=_vectors_jacobian,
    cost=_eigen_cost,
    expansion=_expand_vectors,
)
_register("eigh_packed", "eigh", _SYMMETRIC, infer=_infer_packed, jacobian=only_in_plans, cost=_eigen_cost)
_register("eigh_alone", "eigvalsh", _SYMMETRIC, infer=_infer_values, jacobian=only_in_plans, cost=_values_cost)
