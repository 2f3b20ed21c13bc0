"""Reduced resolvents of a symmetric matrix, by which single eigenvectors and their derivatives are written.

Owns that row and the quotients that it takes in a plan. Imports the catalogue and graph spelling. Invariant: only
differences to the eigenvalue at hand are divided by, never those of two others; so a simple eigenvalue has derivatives
of every order where others are equal.

``S_k = sum_{j != k} v_j v_j^T / (w_k - w_j)``, for which ``(w_k - A) S_k = I - P_k`` and ``S_k P_k = 0``,
``P_k = v_k v_k^T`` (T. Kato, *Perturbation Theory for Linear Operators*, 1995, section I.5.3).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.local import axes_of, last_axis, square_matrices, term, volume
from einsumad.functions.general.symmetric import only_in_plans, packed_values, packed_vectors
from einsumad.functions.rows import whole
from einsumad.graph import General, Node, Params, Shape, einsum

Array = np.ndarray[Any, Any]
Inferred = tuple[Shape, np.dtype[Any]]


def power_of(node: General, order: int) -> Node:
    """The same resolvents to another power."""
    return call(node.function, *node.operands, params=(*node.params[:-2], order, order))


def _infer_resolvents(operands: tuple[Node, ...], _params: Params) -> Inferred:
    batch, size = square_matrices("a reduced resolvent", operands[0])
    return (*batch, size, size, size), operands[0].dtype


def infer_gaps(operands: tuple[Node, ...], _params: Params) -> Inferred:
    """Differences or sums of all pairs of the last axis."""
    batch, size = last_axis("gaps", operands[0])
    return (*batch, size, size), operands[0].dtype


def _infer_same(operands: tuple[Node, ...], _params: Params) -> Inferred:
    last_axis("inverse_values", operands[0])
    return operands[0].shape, operands[0].dtype


def _resolvents_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``d(S**m) = sum_{a + b = m + 1} S**a dA S**b - m dw S**(m+1) - S**(m+1) dA P - P dA S**(m+1)``, all of one k.

    From ``(w - A) S = I - P`` with ``dP = S dA P + P dA S``, ``dw = v^T dA v``; a and b are 1 or more.
    """
    axes = axes_of(node, position, len(node.shape) - 3)
    order = whole(node.params, -2)
    (k, r, c), (p, q) = axes.out, axes.into
    batch = axes.batch
    powers = {m: power_of(node, m) for m in range(1, order + 2)}
    vectors = call("eigh_vectors", node.operands[0], params=node.params[:1])
    highest = powers[order + 1]

    def entry(place: int) -> tuple[Node, tuple[int, ...]]:
        return vectors, (*batch, place, k)

    terms = [
        term(node, axes, [(powers[a], (*batch, k, r, p)), (powers[order + 1 - a], (*batch, k, q, c))])
        for a in range(1, order + 1)
    ]
    terms.append(term(node, axes, [entry(p), entry(q), (highest, (*batch, k, r, c))], -order))
    terms.append(term(node, axes, [(highest, (*batch, k, r, p)), entry(q), entry(c)], -1))
    terms.append(term(node, axes, [entry(r), entry(p), (highest, (*batch, k, q, c))], -1))
    return tuple(terms)


def _expand_resolvents(node: General, _beside: AbstractSet[str]) -> Node:
    """``S[k r c] = V[r j] V[c j] F[j k]``, contracted with what stands around it."""
    matrix, upper = node.operands[0], node.params[:1]
    vectors = packed_vectors(matrix, upper)
    quotients = call("gaps", packed_values(matrix, upper), params=(-1, *node.params[1:]))
    *batch, k, r, c = range(len(node.shape))
    j = len(node.shape)
    inputs = [(*batch, r, j), (*batch, c, j), (*batch, j, k)]
    return einsum([vectors, vectors, quotients], inputs, range(j), 1, node.dtype)


def reduced_resolvents(a: Array, upper: int, order: int, count: int) -> Array:
    """``S[b k r c]``, the reduced resolvent to a power for each eigenvalue."""
    packed = factor_kernels.eigh_packed(a, upper)
    vectors, quotients = packed[..., 1:, :], factor_kernels.gaps(packed[..., 0, :], -1, order, count)
    return np.asarray(np.einsum("...rj,...cj,...jk->...krc", vectors, vectors, quotients))


def _resolvents_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    size = max(shapes[0][-1], 1)
    return volume(shapes[0]) * size * (9 + 2 * size)


def _gaps_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0]) * max(shapes[0][-1], 1)


def _entries(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0])


register_general(
    GeneralFunction(
        name="reduced_resolvents",
        arity=1,
        infer=_infer_resolvents,
        jacobian=_resolvents_jacobian,
        kernel=reduced_resolvents,
        cost=_resolvents_cost,
        symbol="resolvents",
        domain="symmetric matrices; NaN for eigenvalues that are too close to others",
        doc=f"{reduced_resolvents.__doc__} {_resolvents_jacobian.__doc__}",
        expansion=_expand_resolvents,
        divides=True,
    )
)
for _name, _kernel, _infer, _cost in (
    ("gaps", factor_kernels.gaps, infer_gaps, _gaps_cost),
    ("inverse_values", factor_kernels.inverse_values, _infer_same, _entries),
):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer,
            jacobian=only_in_plans,
            kernel=_kernel,
            cost=_cost,
            symbol=_name.replace("_", ""),
            domain="numbers that are far enough apart, and from 0; others give NaN",
            doc=str(_kernel.__doc__),
        )
    )
