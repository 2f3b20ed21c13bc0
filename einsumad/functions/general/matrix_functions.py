"""Functions of a square matrix: exponential, logarithm, sine, cosine, square root, sign.

Owns these rows. Imports the catalogue, operator rows and graph spelling. Invariant: the derivative is the Fréchet
derivative, an operator row of the same function or of a matrix equation, so that a product with a direction is computed
in that direction alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import matrix_kernels
from einsumad.functions.general.local import axes_of, square_matrices, term, volume
from einsumad.functions.general.operators import open_pairs, with_open_pairs
from einsumad.graph import General, Node, Params, Shape, einsum


def _infer(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    batch, size = square_matrices("a matrix function", operands[0])
    for direction in operands[1:]:
        if direction.shape != operands[0].shape:
            raise ShapeError(
                f"a direction of a matrix function has the shape of its matrices, {operands[0].shape}, not "
                f"{direction.shape}"
            )
    pair = (size, size)
    dtype = linear_algebra(tuple([operand.dtype for operand in operands]), params)
    return (*batch, *pair * (1 + open_pairs(params))), dtype


def _jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``d L(A; E1, .., Em) = L(A; E1, .., Em, dA) + Σ_p L(A; .., dEp, ..)``, L the m-th derivative, symmetric in the E.

    Both are the row with one more direction open: ``J[b i j, b' k l] = L(A; E..)[b i j k l] delta[b b']``.
    """
    axes = axes_of(node, position, len(node.operands[0].shape) - 2)
    held = [operand for k, operand in enumerate(node.operands) if k != position or not k]
    opened = call(node.function, *held, params=with_open_pairs(1 + open_pairs(node.params)))
    return (term(node, axes, [(opened, (*axes.batch, *axes.out, *axes.into))]),)


def _cost(shapes: tuple[Shape, ...], params: Params) -> int:
    opened, size = open_pairs(params), shapes[0][-1]
    doubled = 2 ** (len(shapes) - 1 + opened)
    return 40 * volume(shapes[0]) * size * int(doubled**3 * size ** (2 * opened))


def _infer_one(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    square_matrices("a matrix function", operands[0])
    return operands[0].shape, linear_algebra((operands[0].dtype,), params)


def _root_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``R R = A``, so ``R dR + dR R = dA``: a Sylvester equation (Higham, *Functions of Matrices*, section 6.1)."""
    axes = axes_of(node, position, len(node.shape) - 2)
    opened = call("sylvester", node, node, params=(1,))
    return (term(node, axes, [(opened, (*axes.batch, *axes.out, *axes.into))]),)


def _sign_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``N dS + dS N = dA - S dA S`` with ``N = S A``, the root of ``A A`` (ibid., theorem 5.3): S is constant near I.

    With R the operator that solves the equation: ``R[b i j k l] - R[b i j p q] S[b p k] S[b l q]``, and delta[b b'].
    """
    rank = len(node.shape)
    axes = axes_of(node, position, rank - 2)
    inner, (k, m) = max(axes.into) + 1, axes.into
    batch = tuple(range(rank - 2))
    product = [(*batch, rank, inner), (*batch, inner, rank + 1)]
    root = einsum([node, node.operands[0]], product, (*batch, rank, rank + 1), 1, node.dtype)
    opened = call("sylvester", root, root, params=(1,))
    places = [(*axes.batch, inner, k), (*axes.batch, m, inner + 1)]
    turned = [(opened, (*axes.batch, *axes.out, inner, inner + 1)), *[(node, place) for place in places]]
    return (
        term(node, axes, [(opened, (*axes.batch, *axes.out, k, m))]),
        term(node, axes, turned, -1),
    )


def _root_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 30 * volume(shapes[0]) * shapes[0][-1]


_ENTIRE = "all square matrices"
_NOT_NEGATIVE = "matrices without negative eigenvalues; others, whose value is complex, raise numpy.linalg.LinAlgError"
_BY_ITSELF = {
    "expm": (matrix_kernels.derivatives_of(matrix_kernels.exponential, matrix_kernels.exponential), _ENTIRE),
    "cosm": (matrix_kernels.derivatives_of(matrix_kernels.cosine, matrix_kernels.cosine), _ENTIRE),
    "sinm": (matrix_kernels.derivatives_of(matrix_kernels.sine, matrix_kernels.sine), _ENTIRE),
    "logm": (
        matrix_kernels.derivatives_of(matrix_kernels.logarithm, matrix_kernels.logarithm_of_blocks, homogeneous=True),
        f"{_NOT_NEGATIVE}, singular ones too",
    ),
}
for _name, (_kernel, _domain) in _BY_ITSELF.items():
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer,
            jacobian=_jacobian,
            kernel=_kernel,
            cost=_cost,
            symbol=_name,
            domain=_domain,
            doc=_jacobian.__doc__ or "",
            is_operator=True,
        )
    )
_BY_EQUATION = {
    "sqrtm": (matrix_kernels.square_root, _root_jacobian, f"{_NOT_NEGATIVE}; the derivative at singular ones does too"),
    "signm": (matrix_kernels.sign, _sign_jacobian, "matrices without eigenvalues on the imaginary axis"),
}
for _name, (_kernel, _rule, _domain) in _BY_EQUATION.items():
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer_one,
            jacobian=_rule,
            kernel=_kernel,
            cost=_root_cost,
            symbol=_name,
            domain=_domain,
            doc=_rule.__doc__ or "",
        )
    )
