"""Algebraic Riccati equations, of continuous and of discrete time.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the derivative solves the linear equation of the
closed loop, by the operator of Sylvester's equation; the value depends on the symmetric parts of Q and R only.

With the gain K that is best for X, ``Q + Kᵀ R K + Fᵀ X + X F = 0``, or ``Q + Kᵀ R K + Fᵀ X F = X``, where the closed
loop is ``F = A - B K``, is stationary in K, so the change of K does not enter the derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import matrix_kernels
from einsumad.functions.general.local import Axes, axes_of, fresh, square_matrices, term, volume
from einsumad.graph import General, Labels, Node, Params, Shape, add, broadcast, einsum, scale, transpose, unit

Factors = list[tuple[Node, Labels]]


def _infer(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    a, b, q, r = operands
    batch, size = square_matrices("a Riccati equation", a)
    inputs = b.shape[-1] if b.shape else 0
    if (
        not size
        or not inputs
        or (b.shape, q.shape, r.shape)
        != (
            (*batch, size, inputs),
            (*batch, size, size),
            (*batch, inputs, inputs),
        )
    ):
        raise ShapeError(
            f"a Riccati equation of A {a.shape}, B {b.shape}, Q {q.shape} and R {r.shape}: A and Q are n by n, "
            "B is n by m and R is m by m, n and m are at least 1, and batch axes have to be equal"
        )
    return a.shape, linear_algebra(tuple([operand.dtype for operand in operands]), params)


def _jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``Fᵀ dX + dX F = -M``, or ``Fᵀ dX F - dX = -M``, ``M = dQ + Kᵀ dR K + (dA - dB K)ᵀ Y + Yᵀ (dA - dB K)``.

    In continuous time ``K = inv(R) Bᵀ X``, ``Y = X``, in discrete time ``K = inv(R + Bᵀ X B) Bᵀ X A``, ``Y = X F`` (P.
    Lancaster, L. Rodman, *Algebraic Riccati Equations*, 1995, sections 9.1 and 12.1). With the operator
    ``D[b i j p q]`` from M to dX, J is ``D[b i j p q]`` times, and delta[b b']:
    in A: ``[p = l] Y[b k q] + Y[b k p] [q = l]``. In B: ``-K[b l p] Y[b k q] - Y[b k p] K[b l q]``.
    In Q: ``([p = k] [q = l] + [p = l] [q = k]) / 2``. In R: ``(K[b k p] K[b l q] + K[b l p] K[b k q]) / 2``.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (k, m) = axes.batch, axes.into
    p, q, *inner = fresh(axes, 4)
    gain, loop, slope = _closed_loop(node)
    coefficient, operator = (2, _stein) if node.params[0] else (-1, _lyapunov)
    parts: tuple[tuple[Factors, Labels], ...]
    if position == 0:
        parts = ([(slope, (*batch, k, q))], (m, q)), ([(slope, (*batch, k, p))], (p, m))
    elif position == 1:
        parts = tuple(
            [([(gain, (*batch, m, one)), (slope, (*batch, k, two))], (p, q)) for one, two in ((p, q), (q, p))]
        )
        coefficient = -coefficient
    elif position == 2:
        parts = ([], (k, m)), ([], (m, k))
    else:
        parts = tuple([([(gain, (*batch, k, one)), (gain, (*batch, m, two))], (p, q)) for one, two in ((p, q), (q, p))])
    weight = coefficient if position < 2 else coefficient / 2
    return tuple([term(node, axes, [*factors, *operator(loop, axes, pair, inner)], weight) for factors, pair in parts])


def _lyapunov(loop: Node, axes: Axes, pair: Labels, _inner: Sequence[int]) -> Factors:
    """The solution Z of ``Fᵀ Z + Z F = E`` for each matrix E that is 1 at one place."""
    return [(call("sylvester", _transposed(loop), loop, params=(1,)), (*axes.batch, *axes.out, *pair))]


def _stein(loop: Node, axes: Axes, pair: Labels, inner: Sequence[int]) -> Factors:
    """Half of the solution Z of ``Z - Fᵀ Z F = E`` for each matrix E that is 1 at one place.

    With ``N = inv(1 + Fᵀ)`` it solves ``G Z + Z Gᵀ = 2 N E Nᵀ`` for ``G = (1 - Fᵀ) N``. The inverse exists, since F has
    eigenvalues inside of the unit circle only.
    """
    rank = len(loop.shape)
    one = broadcast(unit(loop.shape[-1], 2, loop.dtype), (rank - 2, rank - 1), loop.shape)
    turned = _transposed(loop)
    inverse = call("inverse", add([one, turned], loop.dtype))
    bilinear = _product(add([one, scale(-1, turned)], loop.dtype), inverse)
    solved = call("sylvester", bilinear, _transposed(bilinear), params=(1,))
    (p, q), (u, v), batch = pair, inner, axes.batch
    return [(solved, (*batch, *axes.out, u, v)), (inverse, (*batch, u, p)), (inverse, (*batch, v, q))]


def _closed_loop(node: General) -> tuple[Node, Node, Node]:
    """The gain K, the closed loop F, and Y."""
    a, b, _, r = node.operands
    weight = scale(0.5, add([r, _transposed(r)], r.dtype))
    costs = _product(_transposed(b), node)
    if node.params[0]:
        gain = call("solve", add([weight, _product(costs, b)], node.dtype), _product(costs, a))
    else:
        gain = call("solve", weight, costs)
    loop = add([a, scale(-1, _product(b, gain))], node.dtype)
    return gain, loop, _product(node, loop) if node.params[0] else node


def _product(a: Node, b: Node) -> Node:
    *batch, row, inner = range(len(a.shape))
    column = len(a.shape)
    return einsum([a, b], [(*batch, row, inner), (*batch, inner, column)], (*batch, row, column), 1, a.dtype)


def _transposed(a: Node) -> Node:
    rank = len(a.shape)
    return transpose(a, [*range(rank - 2), rank - 1, rank - 2])


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 100 * volume(shapes[0]) * shapes[0][-1]


register_general(
    GeneralFunction(
        name="riccati",
        arity=4,
        infer=_infer,
        jacobian=_jacobian,
        kernel=matrix_kernels.riccati,
        cost=_cost,
        symbol="riccati",
        domain="equations with a stabilising solution; others raise numpy.linalg.LinAlgError",
        doc=_jacobian.__doc__ or "",
    )
)
