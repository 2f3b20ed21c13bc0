"""The pseudo-inverse at fixed rank, and the projections on what a matrix does not reach.

Owns these rows. Imports the catalogue and graph spelling. Invariant: they are closed under differentiation, and where
the matrix has full rank a projection is exactly zero, so that nothing but the inverse is left of the law.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import factor_kernels
from einsumad.functions.general.local import axes_of, fresh, term, volume
from einsumad.functions.general.singular import matrices
from einsumad.functions.rows import whole
from einsumad.graph import General, Labels, Node, Params, Shape

Inferred = tuple[Shape, np.dtype[Any]]
Factor = tuple[Node, Labels]


def _infer_inverse(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, rows, columns = matrices("pinv", operands[0])
    return (*batch, columns, rows), linear_algebra((operands[0].dtype,), params)


def _infer_unreached(operands: tuple[Node, ...], params: Params) -> Inferred:
    batch, *sizes = matrices("pinv", operands[0])
    size = sizes[whole(params, 1)]
    return (*batch, size, size), linear_algebra((operands[0].dtype,), params)


def _inverse_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dY = -Y dA Y + Y Y^T dA^T L + R dA^T Y^T Y``, ``L = I - A Y`` and ``R = I - Y A``, the rank fixed.

    ``J[b i j, b' k l] = (-Y[i k] Y[l j] + Y[i a] Y[l a] L[k j] + R[i l] Y[a k] Y[a j]) delta[b b']``
    (G. H. Golub and V. Pereyra, SIAM J. Numer. Anal. 10, 1973, equation 4.12).
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (i, j), (k, m) = axes.batch, axes.out, axes.into
    (a,) = fresh(axes, 1)
    left, right = (call("unreached", node.operands[0], params=(*node.params, side)) for side in (0, 1))

    def own(first: int, second: int) -> Factor:
        return node, (*batch, first, second)

    return (
        term(node, axes, [own(i, k), own(m, j)], -1),
        term(node, axes, [own(i, a), own(m, a), (left, (*batch, k, j))]),
        term(node, axes, [(right, (*batch, i, m)), own(a, k), own(a, j)]),
    )


def _unreached_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``dL = -L dA Y - Y^T dA^T L`` and ``dR = -Y dA R - R dA^T Y^T`` (ibid., equation 4.2).

    ``J[b i j, b' k l] = -(L[i k] Y[l j] + Y[l i] L[k j]) delta[b b']``, and
    ``-(Y[i k] R[l j] + R[i l] Y[j k]) delta[b b']``.
    """
    axes = axes_of(node, position, len(node.shape) - 2)
    batch, (i, j), (k, m) = axes.batch, axes.out, axes.into
    inverse = call("pinv", node.operands[0], params=node.params[:1])

    def own(first: int, second: int) -> Factor:
        return node, (*batch, first, second)

    def of_inverse(first: int, second: int) -> Factor:
        return inverse, (*batch, first, second)

    if whole(node.params, 1):
        pairs = [(of_inverse(i, k), own(m, j)), (own(i, m), of_inverse(j, k))]
    else:
        pairs = [(own(i, k), of_inverse(m, j)), (of_inverse(m, i), own(k, j))]
    return tuple([term(node, axes, pair, -1) for pair in pairs])


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 14 * volume(shapes[0]) * max(shapes[0][-2:]) + 1


for _name, _kernel, _infer, _jacobian in (
    ("pinv", factor_kernels.pinv, _infer_inverse, _inverse_jacobian),
    ("unreached", factor_kernels.unreached, _infer_unreached, _unreached_jacobian),
):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer,
            jacobian=_jacobian,
            kernel=_kernel,
            cost=_cost,
            symbol=_name,
            domain="matrices of any rank; the derivative keeps the rank",
            doc=f"{_kernel.__doc__} {_jacobian.__doc__}",
        )
    )
