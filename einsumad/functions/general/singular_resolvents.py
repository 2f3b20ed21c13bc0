"""Reduced resolvents of singular values, by which single singular vectors and their derivatives are written.

Owns that row. Imports the catalogue and graph spelling. Invariant: as for eigenvalues only differences to the singular
value at hand are divided by; nothing is larger than the matrix and its vectors.

They are blocks of the reduced resolvents of ``[[0, A], [A^T, 0]]`` at the eigenvalue s_k, whose vector is
``(u_k, v_k) / sqrt(2)``; the other eigenvalues are s_j and -s_j, with ``(u_j, -v_j) / sqrt(2)``, and zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.local import axes_of, term, volume
from einsumad.functions.general.singular import matrices, packed_parts
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape, add, einsum, unit

Array = np.ndarray[Any, Any]
Inferred = tuple[Shape, np.dtype[Any]]
Factor = tuple[Node, Labels]
_SIDES = ((0, 0), (0, 1), (1, 1))
"""The blocks by their first parameter: left with left vectors, left with right ones, right with right ones."""


def _infer(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, *sizes = matrices("a reduced resolvent", operands[0])
    first, second = _SIDES[whole(params)]
    return (*batch, min(sizes), sizes[first], sizes[second]), operands[0].dtype


def resolvent(matrix: Node, order: int, sides: tuple[int, int], batch: Labels, places: Labels) -> Factor:
    """The block with these sides of the resolvents to a power, at labels for the singular value, row and column."""
    k, row, column = places
    if sides == (1, 0):
        sides, row, column = (0, 1), column, row
    node = call("singular_resolvents", matrix, params=(_SIDES.index(sides), order, order))
    return node, (*batch, k, row, column)


def changes(p: int, q: int) -> Iterator[tuple[int, int, int, int]]:
    """Where dA[p, q] stands in the change of the augmented matrix: the side and place of its row and of its column."""
    yield 0, p, 1, q
    yield 1, q, 0, p


def _jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``d(S**m) = sum_{a + b = m + 1} S**a dM S**b - m ds S**(m+1) - S**(m+1) dM P - P dM S**(m+1)``, its block.

    The law of :mod:`einsumad.functions.general.resolvents` for ``M = [[0, A], [A^T, 0]]``, ``P[x y] = x_k y_k^T / 2``.
    """
    axes = axes_of(node, position, len(node.shape) - 3)
    (matrix,) = node.operands
    left, right = _SIDES[whole(node.params)]
    order = whole(node.params, -2)
    (k, r, c), (p, q) = axes.out, axes.into
    batch = axes.batch
    vectors = [call(name, matrix) for name in ("svd_left", "svd_right")]

    def block(power: int, sides: tuple[int, int], row: int, column: int) -> Factor:
        return resolvent(matrix, power, sides, batch, (k, row, column))

    def entry(side: int, place: int) -> Factor:
        return vectors[side], (*batch, place, k)

    own = block(order + 1, (left, right), r, c)
    terms = [term(node, axes, [entry(0, p), entry(1, q), own], -order)]
    for one, row, other, column in changes(p, q):
        for a in range(1, order + 1):
            factors = [block(a, (left, one), r, row), block(order + 1 - a, (other, right), column, c)]
            terms.append(term(node, axes, factors))
        ahead = [block(order + 1, (left, one), r, row), entry(other, column), entry(right, c)]
        behind = [entry(left, r), entry(one, row), block(order + 1, (other, right), column, c)]
        terms += [term(node, axes, ahead, -0.5), term(node, axes, behind, -0.5)]
    return tuple(terms)


def _expand(node: General, _beside: AbstractSet[str]) -> Node:
    """``S[k r c] = X[r j] Y[c j] (D[j k] + E[j k]) / 2``, D of differences and E of sums, minus E for two sides.

    Where the vectors of one side do not span the space, ``(delta[r c] - X[r j] X[c j]) / s[k]**m`` is added.
    """
    (matrix,) = node.operands
    first, second = _SIDES[whole(node.params)]
    parts = packed_parts(matrix)
    vectors, values = (parts[0], parts[2]), parts[1]
    *batch, k, r, c = range(len(node.shape))
    j = len(node.shape)
    pair = [(vectors[first], (*batch, r, j)), (vectors[second], (*batch, c, j))]
    terms: list[tuple[list[Factor], float]] = []
    for sign, coefficient in ((-1, 0.5), (1, 0.5 if first == second else -0.5)):
        quotients = call("gaps", values, params=(sign, *node.params[1:]))
        terms.append(([*pair, (quotients, (*batch, j, k))], coefficient))
    if first == second and node.shape[-1] > node.shape[-3]:
        inverse = (call("inverse_values", values, params=node.params[1:]), (*batch, k))
        terms.append(([inverse, (unit(node.shape[-1], 2, node.dtype), (r, c))], 1))
        terms.append(([inverse, *pair], -1))
    made = [
        einsum([factor for factor, _ in factors], [labels for _, labels in factors], range(j), number, node.dtype)
        for factors, number in terms
    ]
    return add(made, node.dtype)


def singular_resolvents(a: Array, block: int, order: int, count: int) -> Array:
    """``S[b k r c]``, a block of the reduced resolvent to a power for each singular value."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    vectors = (left, np.swapaxes(right, -1, -2))
    first, second = _SIDES[block]
    one, other = vectors[first], vectors[second]
    differences, sums = (factor_kernels.gaps(values, sign, order, count) for sign in (-1, 1))
    quotients = (differences + (sums if first == second else -sums)) / 2
    result = np.einsum("...rj,...cj,...jk->...krc", one, other, quotients)
    if first == second and one.shape[-2] > one.shape[-1]:
        outside = np.eye(one.shape[-2], dtype=a.dtype) - one @ np.swapaxes(one, -1, -2)
        inverse = factor_kernels.inverse_values(values, order, count)
        result = result + inverse[..., :, None, None] * outside[..., None, :, :]
    return np.asarray(result, a.dtype)


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 14 * volume(shapes[0]) * max(shapes[0][-2:]) + 4 * volume(shapes[0]) * max(shapes[0][-2:]) ** 2 + 1


register_general(
    GeneralFunction(
        name="singular_resolvents",
        arity=1,
        infer=_infer,
        jacobian=_jacobian,
        kernel=singular_resolvents,
        cost=_cost,
        symbol="singularresolvents",
        domain="matrices; NaN for singular values that are too close to others or to 0",
        doc=f"{singular_resolvents.__doc__} {_jacobian.__doc__}",
        expansion=_expand,
        divides=True,
    )
)
