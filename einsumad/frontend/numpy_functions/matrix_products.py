"""numpy.linalg: powers and products of matrices, and its names for functions that NumPy also has elsewhere.

Owns these functions. Imports the registry. Invariant: each is written with functions that stand elsewhere, so that the
planner sees plain products.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.broadcasting import spread
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.registry import implements, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node, unit

_AXES_OF_A_CROSS_PRODUCT = 3


def _tensor(x: Any) -> Any:
    return Tensor(as_node(x))


@implements(np.linalg.matrix_power)
@at_known("linalg.matrix_power", "n")
def _matrix_power(a: Any, n: Any) -> Node:
    base = _tensor(a)
    if base.ndim < 2 or base.shape[-1] != base.shape[-2]:
        raise ShapeError(f"numpy.linalg.matrix_power needs square matrices in the last two axes, got {base.shape}")
    try:
        exponent = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if exponent == 0:
        return spread(unit(base.shape[-1], 2, base.dtype), base.shape)
    if exponent < 0:
        base, exponent = np.linalg.inv(base), -exponent
    result = None
    while exponent:
        exponent, bit = divmod(exponent, 2)
        if bit:
            result = base if result is None else result @ base
        if exponent:
            base = base @ base
    return as_node(result)


@implements(np.linalg.multi_dot)
def _multi_dot(arrays: Any, *, out: Any = None) -> Node:
    refuse_options("numpy.linalg.multi_dot", out=out)
    factors = [_tensor(a) for a in arrays]
    if len(factors) < 2:
        raise ValueError("Expecting at least two arrays.")
    for place, factor in enumerate(factors):
        vector = factor.ndim == 1 and place in (0, len(factors) - 1)
        if factor.ndim != 2 and not vector and len(factors) > 2:
            raise ShapeError(
                f"numpy.linalg.multi_dot takes matrices, and vectors first and last, got shape {factor.shape}"
            )
    result = factors[0]
    for factor in factors[1:]:
        result = np.dot(result, factor)
    return as_node(result)


@implements(np.linalg.matrix_transpose)
def _matrix_transpose(x: Any, /) -> Node:
    return as_node(np.matrix_transpose(_tensor(x)))


@implements(np.linalg.trace)
def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Node:
    return as_node(np.trace(_tensor(x), offset, -2, -1, dtype))


@implements(np.linalg.diagonal)
def _diagonal(x: Any, /, *, offset: int = 0) -> Node:
    return as_node(np.diagonal(_tensor(x), offset, -2, -1))


@implements(np.linalg.outer)
def _outer(x1: Any, x2: Any, /) -> Node:
    first, second = _tensor(x1), _tensor(x2)
    if first.ndim != 1 or second.ndim != 1:
        raise ShapeError(f"numpy.linalg.outer takes two vectors, got shapes {first.shape} and {second.shape}")
    return as_node(np.outer(first, second))


@implements(np.linalg.matmul)
def _matmul(x1: Any, x2: Any, /) -> Node:
    return as_node(np.matmul(_tensor(x1), _tensor(x2)))


@implements(np.linalg.tensordot)
def _tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Node:
    return as_node(np.tensordot(_tensor(x1), _tensor(x2), axes))


@implements(np.linalg.vecdot)
def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Node:
    first, second = (np.moveaxis(_tensor(x), axis, -1) for x in (x1, x2))
    if first.shape[-1] != second.shape[-1]:
        raise ShapeError(f"vecdot over axes of sizes {first.shape[-1]} and {second.shape[-1]}: they must be equal")
    return as_node(np.einsum("...i,...i->...", first, second))


@implements(np.linalg.cross)
def _cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Node:
    """``c[i] = a[i + 1] b[i + 2] - a[i + 2] b[i + 1]``, places modulo 3."""
    first, second = (np.moveaxis(_tensor(x), axis, -1) for x in (x1, x2))
    if {first.shape[-1], second.shape[-1]} != {_AXES_OF_A_CROSS_PRODUCT}:
        raise ShapeError(
            f"a cross product is one of vectors with 3 entries, got {first.shape[-1]} and {second.shape[-1]}"
        )
    ahead = np.roll(first, -1, axis=-1) * np.roll(second, -2, axis=-1)
    behind = np.roll(first, -2, axis=-1) * np.roll(second, -1, axis=-1)
    return as_node(np.moveaxis(ahead - behind, -1, axis))


@implements(np.linalg.tensorinv)
def _tensorinv(a: Any, ind: int = 2) -> Node:
    tensor = _tensor(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = (*tensor.shape[ind:], *tensor.shape[:ind])
    size = math.prod(tensor.shape[ind:])
    return as_node(np.reshape(np.linalg.inv(np.reshape(tensor, (size, -1))), shape))


@implements(np.linalg.tensorsolve)
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Node:
    tensor, right = _tensor(a), _tensor(b)
    rank = tensor.ndim
    if axes is not None:
        order = list(range(rank))
        for axis in axes:
            order.remove(axis)
            order.insert(rank, axis)
        tensor = np.transpose(tensor, order)
    shape = tensor.shape[-(rank - right.ndim) :]
    size = math.prod(shape)
    if math.prod(tensor.shape) != size**2:
        raise ShapeError(
            f"numpy.linalg.tensorsolve of shape {tensor.shape} for a right side of shape {right.shape}: the first axes "
            "and the others need as many entries"
        )
    solved = np.linalg.solve(np.reshape(tensor, (size, size)), np.reshape(right, (-1,)))
    return as_node(np.reshape(solved, shape))
