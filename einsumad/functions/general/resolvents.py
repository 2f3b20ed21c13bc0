"""Projections on single eigenvectors of a symmetric matrix and reduced resolvents: their derivatives are written so.

Owns these rows and the quotients that they take in a plan. Imports the catalogue and graph spelling. Invariant: only
differences to the eigenvalue at hand are divided by, never those of two others; so a simple eigenvalue has derivatives
of every order where others are equal. All factors of a term are of the same eigenvalue.

``P_k = v_k v_k^T``, the mean of these over equal eigenvalues, and ``S_k = sum_{j != k} v_j v_j^T / (w_k - w_j)``, for
which ``(w_k - A) S_k = I - P_k`` and ``S_k P_k = 0`` if w_k is simple; S_k is NaN if it is not
(T. Kato, *Perturbation Theory for Linear Operators*, 1995, section I.5.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.chosen import Chosen, chosen, pick, pick_entries
from einsumad.functions.general.local import axes_of, last_axis, square_matrices, term, volume
from einsumad.functions.general.symmetric import only_in_plans, packed_values, packed_vectors
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape, einsum

Array = np.ndarray[Any, Any]
Inferred = tuple[Shape, np.dtype[Any]]
Factor = tuple[Node, Labels]


def power_of(node: General, order: int) -> Node:
    """The same resolvents to another power."""
    return call(node.function, *node.operands, params=(*node.params[:-2], order, order))


def _infer_tensors(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, size = square_matrices("a projection", operands[0])
    return (*batch, chosen(params, 1, size).number, size, size), operands[0].dtype


def _infer_pairs(operands: tuple[Node, ...], _params: Params) -> Inferred:
    batch, size = last_axis("pairs of eigenvalues", operands[0])
    return (*batch, size, size), operands[0].dtype


def _infer_same(operands: tuple[Node, ...], _params: Params) -> Inferred:
    last_axis("inverse_values", operands[0])
    return operands[0].shape, operands[0].dtype


def _projections_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dP_k = S_k dA P_k + P_k dA S_k``; NaN where the eigenvalue is not simple.

    ``J[b k r c, b' p q] = (S[k r p] P[k q c] + P[k r p] S[k q c]) delta[b b']``.
    """
    axes = axes_of(node, position, len(node.shape) - 3)
    (k, r, c), (p, q) = axes.out, axes.into
    resolvents = call("reduced_resolvents", node.operands[0], params=(*node.params, 1, 1))
    return tuple(
        [
            term(node, axes, [(left, (*axes.batch, k, r, p)), (right, (*axes.batch, k, q, c))])
            for left, right in ((resolvents, node), (node, resolvents))
        ]
    )


def _resolvents_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``d(S**m) = sum_{a + b = m + 1} S**a dA S**b - m dw S**(m+1) - S**(m+1) dA P - P dA S**(m+1)``, all of one k.

    From ``(w - A) S = I - P`` with ``dw = tr(P dA)`` and dP above; a and b are 1 or more.
    """
    axes = axes_of(node, position, len(node.shape) - 3)
    order = whole(node.params, -2)
    (k, r, c), (p, q) = axes.out, axes.into
    powers = {m: power_of(node, m) for m in range(1, order + 2)}
    projections = call("eigenprojections", node.operands[0], params=node.params[:4])
    highest = powers[order + 1]

    def at(tensor: Node, row: int, column: int) -> Factor:
        return tensor, (*axes.batch, k, row, column)

    return (
        *[term(node, axes, [at(powers[a], r, p), at(powers[order + 1 - a], q, c)]) for a in range(1, order + 1)],
        term(node, axes, [at(projections, p, q), at(highest, r, c)], -order),
        term(node, axes, [at(highest, r, p), at(projections, q, c)], -1),
        term(node, axes, [at(projections, r, p), at(highest, q, c)], -1),
    )


def product_of(factors: Sequence[Factor], node: Node) -> Node:
    """The product of the factors with the axes of the node."""
    output = range(len(node.shape))
    return einsum([factor for factor, _ in factors], [labels for _, labels in factors], output, 1, node.dtype)


def _expand_projections(node: General, _beside: AbstractSet[str]) -> Node:
    """``P[k r c] = V[r j] V[c j] W[j k]``, W the equal shares of eigenvalues that are equal."""
    return _expanded(node, call("equal_shares", packed_values(node.operands[0], node.params[:1])))


def _expand_resolvents(node: General, _beside: AbstractSet[str]) -> Node:
    """``S[k r c] = V[r j] V[c j] F[j k]``, F the quotients of differences of eigenvalues."""
    values = packed_values(node.operands[0], node.params[:1])
    return _expanded(node, call("gaps", values, params=node.params[-2:]))


def _expanded(node: General, weights: Node) -> Node:
    """``V[r j] V[c j] F[j k]`` for the chosen k, contracted with what stands around it."""
    vectors = packed_vectors(node.operands[0], node.params[:1])
    some = pick(weights, chosen(node.params, 1, weights.shape[-1]))
    *batch, k, r, c = range(len(node.shape))
    j = len(node.shape)
    return product_of([(vectors, (*batch, r, j)), (vectors, (*batch, c, j)), (some, (*batch, j, k))], node)


def eigenprojections(a: Array, upper: int, *places: int) -> Array:
    """``P[b k r c]``, for each chosen eigenvalue the mean of the projections on the vectors of those equal to it."""
    packed = factor_kernels.eigh_packed(a, upper)
    return _tensor(packed[..., 1:, :], factor_kernels.equal_shares(packed[..., 0, :]), Chosen(*places))


def reduced_resolvents(a: Array, upper: int, *numbers: int) -> Array:
    """``S[b k r c]``, the reduced resolvent to a power for each chosen eigenvalue."""
    packed = factor_kernels.eigh_packed(a, upper)
    quotients = factor_kernels.gaps(packed[..., 0, :], *numbers[3:])
    return _tensor(packed[..., 1:, :], quotients, Chosen(*numbers[:3]))


def _tensor(vectors: Array, weights: Array, places: Chosen) -> Array:
    return np.asarray(np.einsum("...rj,...cj,...jk->...krc", vectors, vectors, pick_entries(weights, places)))


def _tensor_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    size = max(shapes[0][-1], 1)
    return volume(shapes[0]) * size * (9 + 2 * size)


def _pairs_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0]) * max(shapes[0][-1], 1)


def _entries(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0])


for _name, _kernel, _jacobian, _expansion in (
    ("eigenprojections", eigenprojections, _projections_jacobian, _expand_projections),
    ("reduced_resolvents", reduced_resolvents, _resolvents_jacobian, _expand_resolvents),
):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer_tensors,
            jacobian=_jacobian,
            kernel=_kernel,
            cost=_tensor_cost,
            symbol=_name.replace("_", ""),
            domain="symmetric matrices; the derivative needs simple eigenvalues and is NaN elsewhere",
            doc=f"{_kernel.__doc__} {_jacobian.__doc__}",
            expansion=_expansion,
            divides=_name == "reduced_resolvents",
        )
    )
for _quotient, _of_values, _infer, _cost in (
    ("equal_shares", factor_kernels.equal_shares, _infer_pairs, _pairs_cost),
    ("gaps", factor_kernels.gaps, _infer_pairs, _pairs_cost),
    ("singular_gaps", factor_kernels.singular_gaps, _infer_pairs, _pairs_cost),
    ("inverse_values", factor_kernels.inverse_values, _infer_same, _entries),
):
    register_general(
        GeneralFunction(
            name=_quotient,
            arity=1,
            infer=_infer,
            jacobian=only_in_plans,
            kernel=_of_values,
            cost=_cost,
            symbol=_quotient.replace("_", ""),
            domain="numbers in order, far enough apart and from 0; others give NaN",
            doc=str(_of_values.__doc__),
        )
    )
