"""Projections on single singular vectors and reduced resolvents, by which their derivatives are written.

Owns these rows. Imports the catalogue and graph spelling. Invariant: as for eigenvalues only differences to the
singular value at hand are divided by; nothing is larger than the matrix and its vectors.

They are blocks of those of ``[[0, A], [A^T, 0]]`` at the eigenvalue s_k, whose vector is ``(u_k, v_k) / sqrt(2)``; the
other eigenvalues are s_j and -s_j, with ``(u_j, -v_j) / sqrt(2)``, and zeros. The projections are given twice:
``u_k u_k^T``, ``u_k v_k^T`` and ``v_k v_k^T``, the mean of these over equal singular values.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.chosen import Chosen, chosen, pick, pick_entries
from einsumad.functions.general.local import axes_of, term, volume
from einsumad.functions.general.resolvents import Factor, product_of
from einsumad.functions.general.singular import matrices, packed_parts
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape, add, unit
from einsumad.records import record

Array = np.ndarray[Any, Any]
Inferred = tuple[Shape, np.dtype[Any]]
_SIDES = ((0, 0), (0, 1), (1, 1))
"""The blocks by their first parameter: left with left vectors, left with right ones, right with right ones."""


def _infer(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, *sizes = matrices("a projection", operands[0])
    first, second = _SIDES[whole(params)]
    return (*batch, chosen(params, 1, min(sizes)).number, sizes[first], sizes[second]), operands[0].dtype


@record
class _Blocks:
    """The blocks of projections and resolvents of the same chosen singular values."""

    matrix: Node
    places: Params
    batch: Labels
    k: int

    def projection(self, sides: tuple[int, int], row: int, column: int) -> Factor:
        return self._block("singular_projections", sides, row, column, ())

    def resolvent(self, order: int, sides: tuple[int, int], row: int, column: int) -> Factor:
        return self._block("singular_resolvents", sides, row, column, (order, order))

    def _block(self, name: str, sides: tuple[int, int], row: int, column: int, more: Params) -> Factor:
        """Of two blocks that are transposes of each other there is the upper one."""
        if sides == (1, 0):
            sides, row, column = (0, 1), column, row
        node = call(name, self.matrix, params=(_SIDES.index(sides), *self.places, *more))
        return node, (*self.batch, self.k, row, column)


def changes(p: int, q: int) -> Iterator[tuple[int, int, int, int]]:
    """Where dA[p, q] stands in the change of the augmented matrix: the side and place of its row and of its column."""
    yield 0, p, 1, q
    yield 1, q, 0, p


def _projections_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dP_k = S_k dM P_k + P_k dM S_k``, its block, for ``M = [[0, A], [A^T, 0]]``; P is twice the projection.

    NaN where the singular value is not simple or is 0.
    """
    axes = axes_of(node, position, len(node.shape) - 3)
    left, right = _SIDES[whole(node.params)]
    (k, r, c), (p, q) = axes.out, axes.into
    blocks = _Blocks(node.operands[0], node.params[1:4], axes.batch, k)
    terms = []
    for one, row, other, column in changes(p, q):
        ahead = [blocks.resolvent(1, (left, one), r, row), blocks.projection((other, right), column, c)]
        behind = [blocks.projection((left, one), r, row), blocks.resolvent(1, (other, right), column, c)]
        terms += [term(node, axes, ahead), term(node, axes, behind)]
    return tuple(terms)


def _resolvents_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``d(S**m) = sum_{a + b = m + 1} S**a dM S**b - m ds S**(m+1) - (S**(m+1) dM P + P dM S**(m+1)) / 2``, its block.

    The law of :mod:`einsumad.functions.general.resolvents` for ``M = [[0, A], [A^T, 0]]``; P is twice the projection.
    """
    axes = axes_of(node, position, len(node.shape) - 3)
    left, right = _SIDES[whole(node.params)]
    order = whole(node.params, -2)
    (k, r, c), (p, q) = axes.out, axes.into
    blocks = _Blocks(node.operands[0], node.params[1:4], axes.batch, k)
    own = [blocks.projection((0, 1), p, q), blocks.resolvent(order + 1, (left, right), r, c)]
    terms = [term(node, axes, own, -order)]
    for one, row, other, column in changes(p, q):
        for a in range(1, order + 1):
            both = [
                blocks.resolvent(a, (left, one), r, row),
                blocks.resolvent(order + 1 - a, (other, right), column, c),
            ]
            terms.append(term(node, axes, both))
        ahead = [blocks.resolvent(order + 1, (left, one), r, row), blocks.projection((other, right), column, c)]
        behind = [blocks.projection((left, one), r, row), blocks.resolvent(order + 1, (other, right), column, c)]
        terms += [term(node, axes, ahead, -0.5), term(node, axes, behind, -0.5)]
    return tuple(terms)


def _expand_projections(node: General, _beside: AbstractSet[str]) -> Node:
    """``P[k r c] = X[r j] Y[c j] W[j k]``, W the equal shares of singular values that are equal."""
    pair, values = _vectors_and_values(node)
    *batch, k, _, _ = range(len(node.shape))
    weights = pick(call("equal_shares", values), chosen(node.params, 1, values.shape[-1]))
    return product_of([*pair, (weights, (*batch, len(node.shape), k))], node)


def _expand_resolvents(node: General, _beside: AbstractSet[str]) -> Node:
    """``S[k r c] = X[r j] Y[c j] F[j k]``, F half the sum of the quotients for s_j and for -s_j; minus for two sides.

    Where the vectors of one side do not span the space, ``(delta[r c] - X[r j] X[c j]) / s[k]**m`` is added.
    """
    pair, values = _vectors_and_values(node)
    places = chosen(node.params, 1, values.shape[-1])
    *batch, k, r, c = range(len(node.shape))
    quotients = pick(call("singular_gaps", values, params=(_quotients(node), *node.params[-2:])), places)
    spanned = product_of([*pair, (quotients, (*batch, len(node.shape), k))], node)
    if _quotients(node) < 2:
        return spanned
    inverse = pick(call("inverse_values", values, params=node.params[-2:]), places)
    outside = product_of([(inverse, (*batch, k)), (unit(node.shape[-1], 2, node.dtype), (r, c))], node)
    return add([spanned, outside], node.dtype)


def _quotients(node: General) -> int:
    """Which quotients a block has: one side, two sides, or one side that does not span the space."""
    first, second = _SIDES[whole(node.params)]
    if first != second:
        return 1
    return 2 if node.shape[-1] > min(node.operands[0].shape[-2:]) else 0


def _vectors_and_values(node: General) -> tuple[list[Factor], Node]:
    """``X[r j] Y[c j]`` and the values of one decomposition."""
    left, values, right = packed_parts(node.operands[0])
    first, second = [(left, right)[side] for side in _SIDES[whole(node.params)]]
    *batch, _, r, c = range(len(node.shape))
    j = len(node.shape)
    return [(first, (*batch, r, j)), (second, (*batch, c, j))], values


def singular_projections(a: Array, block: int, *places: int) -> Array:
    """``P[b k r c]``, for each chosen singular value the mean of ``x_k y_k^T`` over those equal to it."""
    one, other, values = _parts(a, block)
    weights = pick_entries(factor_kernels.equal_shares(values), Chosen(*places))
    return np.asarray(np.einsum("...rj,...cj,...jk->...krc", one, other, weights))


def singular_resolvents(a: Array, block: int, *numbers: int) -> Array:
    """``S[b k r c]``, a block of the reduced resolvent to a power for each chosen singular value."""
    one, other, values = _parts(a, block)
    places, powers = Chosen(*numbers[:3]), numbers[3:]
    same = _SIDES[block][0] == _SIDES[block][1]
    beyond = same and one.shape[-2] > one.shape[-1]
    quotients = factor_kernels.singular_gaps(values, 2 if beyond else int(not same), *powers)
    result = np.einsum("...rj,...cj,...jk->...krc", one, other, pick_entries(quotients, places))
    if beyond:
        inverse = pick_entries(factor_kernels.inverse_values(values, *powers), places)
        result = result + inverse[..., :, None, None] * np.eye(one.shape[-2], dtype=a.dtype)
    return np.asarray(result, a.dtype)


def _parts(a: Array, block: int) -> tuple[Array, Array, Array]:
    """The vectors of the sides of a block, and the values."""
    left, values, right = np.linalg.svd(a, full_matrices=False)
    vectors = (left, np.swapaxes(right, -1, -2))
    first, second = _SIDES[block]
    return vectors[first], vectors[second], values


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 14 * volume(shapes[0]) * max(shapes[0][-2:]) + 4 * volume(shapes[0]) * max(shapes[0][-2:]) ** 2 + 1


for _name, _kernel, _jacobian, _expansion in (
    ("singular_projections", singular_projections, _projections_jacobian, _expand_projections),
    ("singular_resolvents", singular_resolvents, _resolvents_jacobian, _expand_resolvents),
):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer,
            jacobian=_jacobian,
            kernel=_kernel,
            cost=_cost,
            symbol=_name.replace("_", ""),
            domain="matrices; the derivative needs simple singular values that are not 0, and is NaN elsewhere",
            doc=f"{_kernel.__doc__} {_jacobian.__doc__}",
            expansion=_expansion,
            divides=_name == "singular_resolvents",
        )
    )
