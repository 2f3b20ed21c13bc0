"""Determinant, its derivative tensors of every order, its sign and its logarithm.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the determinant's derivatives are
polynomials in the entries and right at singular matrices; only the logarithm's use the inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, call, register_general
from einsumad.functions.dtypes import linear_algebra
from einsumad.functions.general import kernels, positive
from einsumad.functions.general.linear import QUIET
from einsumad.functions.general.local import axes_of, square_matrices, term, volume
from einsumad.functions.rows import whole
from einsumad.graph import General, Node, Params, Shape


def _infer_scalar(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    batch, _ = square_matrices("a determinant", operands[0])
    return batch, linear_algebra((operands[0].dtype,), params)


def _infer_minors(operands: tuple[Node, ...], params: Params) -> tuple[Shape, np.dtype[Any]]:
    batch, size = square_matrices("a determinant", operands[0])
    order = whole(params)
    if order < 1:
        raise ShapeError(f"derivative tensors of the determinant have order 1, 2, ..., not {order}")
    return (*batch, *(size,) * (2 * order)), linear_algebra((operands[0].dtype,), params)


def _determinant_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b, b' k l] = M1[b k l] delta[b b']`` with the cofactors M1, the gradient of det."""
    axes = axes_of(node, position, len(node.shape))
    cofactors = call("determinant_minors", node.operands[0], params=(1,))
    return (term(node, axes, [(cofactors, (*axes.batch, *axes.into))]),)


def _minors_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``M_k[b, i1 j1 ... ik jk] = d^k det(A[b]) / dA[i1 j1] ... dA[ik jk]``, signed minors of order n - k.

    ``J[b i1 j1 ... ik jk, b' p q] = M_(k+1)[b i1 j1 ... ik jk p q] delta[b b']``; zero for k > n.
    """
    order = whole(node.params)
    axes = axes_of(node, position, len(node.shape) - 2 * order)
    higher = call("determinant_minors", node.operands[0], params=(order + 1,))
    return (term(node, axes, [(higher, (*axes.batch, *axes.out, *axes.into))]),)


def _sign_jacobian(_node: General, _position: int) -> tuple[Node, ...]:
    """The sign of the determinant is piecewise constant: derivative 0."""
    return ()


def _logarithm_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``d log |det A| = trace(inv(A) dA)``: ``J[b, b' k l] = inv(A)[b l k] delta[b b']``; NaN where A is singular."""
    axes = axes_of(node, position, len(node.shape))
    k, m = axes.into
    return (term(node, axes, [(call("inverse", node.operands[0], params=QUIET), (*axes.batch, m, k))]),)


def _determinant_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return volume(shapes[0]) * shapes[0][-1] * 2 // 3


def _minors_cost(shapes: tuple[Shape, ...], params: Params) -> int:
    """A singular value decomposition, k matrix products, and the sum over k! permutations."""
    size, order = shapes[0][-1], whole(params)
    transforms = sum(2 * volume((size,) * (order + 2 + done)) for done in range(order))
    single = 20 * size**3 + transforms + factorial(order) * volume((size,) * (2 * order))
    return volume(shapes[0][:-2]) * single


def _register(
    name: str,
    symbol: str,
    kernel: Callable[..., np.ndarray[Any, Any]],
    jacobian: Callable[[General, int], tuple[Node, ...]],
    domain: str,
) -> None:
    minors = name == "determinant_minors"
    register_general(
        GeneralFunction(
            name=name,
            arity=1,
            infer=_infer_minors if minors else _infer_scalar,
            jacobian=jacobian,
            kernel=kernel,
            cost=_minors_cost if minors else _determinant_cost,
            symbol=symbol,
            domain=domain,
            doc=jacobian.__doc__ or "",
            item_rank=None if minors else 0,
        )
    )


_ANY = "all square matrices, singular ones too"
_SMOOTH = "invertible matrices: at a singular one the value is -inf and the derivative NaN"
_register("determinant", "det", kernels.determinant, _determinant_jacobian, _ANY)
_register("determinant_minors", "minors", kernels.determinant_minors, _minors_jacobian, _ANY)
_register("sign_determinant", "signdet", kernels.sign_determinant, _sign_jacobian, _ANY)
_register("logabsdet", "logabsdet", kernels.log_absolute_determinant, _logarithm_jacobian, _SMOOTH)
_register("logdet", "logdet", positive.log_determinant, _logarithm_jacobian, f"{_SMOOTH}; NaN where det < 0")
