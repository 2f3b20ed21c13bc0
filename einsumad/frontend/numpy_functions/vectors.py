"""Products of vectors and matrices beside matmul and dot: cross, kron, vecdot, matvec, vecmat.

Owns these functions. Imports the surface. Invariant: each is a sum of products of its two operands.
"""

# ruff: noqa: PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.axes import one_axis
from einsumad.frontend.broadcasting import broadcast_shape
from einsumad.frontend.lifting import as_node
from einsumad.frontend.looks import look
from einsumad.frontend.promotion import tensor, ufunc_operands
from einsumad.frontend.registry import implements, implements_ufunc
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node


@implements(np.cross)
def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Node:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = tensor(a), tensor(b)
    if not x.ndim or not y.ndim:
        raise ValueError("At least one array has zero dimension")
    x, y = np.moveaxis(x, one_axis(axisa, x.ndim), -1), np.moveaxis(y, one_axis(axisb, y.ndim), -1)
    sizes = (x.shape[-1], y.shape[-1])
    if not {2, 3}.issuperset(sizes):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if 2 in sizes:
        message = "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead."
        look()  # every call warns
        warnings.warn(message, DeprecationWarning, stacklevel=2)
    shape = broadcast_shape(x.shape[:-1], y.shape[:-1])
    (x0, x1, *x2), (y0, y1, *y2) = ([v[..., k] for k in range(v.shape[-1])] for v in (x, y))
    third = x0 * y1 - x1 * y0
    if sizes == (2, 2):
        return as_node(third)
    zero = np.zeros(shape, np.result_type(x.dtype, y.dtype))
    first = (x1 * y2[0] if y2 else zero) - (x2[0] * y1 if x2 else zero)
    second = (x2[0] * y0 if x2 else zero) - (x0 * y2[0] if y2 else zero)
    parts = [np.broadcast_to(part, shape) for part in (first, second, third)]
    return as_node(np.stack(parts, one_axis(axisc, len(shape) + 1)))


@implements(np.kron)
def _kron(a: Any, b: Any) -> Node:
    x, y = tensor(a), tensor(b)
    rank = max(x.ndim, y.ndim)
    if not x.ndim or not y.ndim:
        return as_node(x * y)
    outer, inner = ((1,) * (rank - v.ndim) + v.shape for v in (x, y))
    left = np.reshape(x, [size for n in outer for size in (n, 1)])
    right = np.reshape(y, [size for n in inner for size in (1, n)])
    return as_node(np.reshape(left * right, [n * m for n, m in zip(outer, inner, strict=True)]))


def _with_matrices(ufunc: np.ufunc, x: Any, y: Any, ranks: tuple[int, int]) -> tuple[Any, Any]:
    (a, b), _ = ufunc_operands(ufunc, x, y)
    for node, rank in ((a, ranks[0]), (b, ranks[1])):
        if len(node.shape) < rank:
            raise ShapeError(f"{ufunc.__name__} needs {ranks[0]} and {ranks[1]} axes, got {a.shape} and {b.shape}")
    return Tensor(a), Tensor(b)


def _vecdot(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    a, b = _with_matrices(ufunc, x, y, (1, 1))
    return as_node((a[..., None, :] @ b[..., :, None])[..., 0, 0])


def _matvec(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    a, b = _with_matrices(ufunc, x, y, (2, 1))
    return as_node((a @ b[..., :, None])[..., 0])


def _vecmat(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    a, b = _with_matrices(ufunc, x, y, (1, 2))
    return as_node((a[..., None, :] @ b)[..., 0, :])


for _name, _handler in (("vecdot", _vecdot), ("matvec", _matvec), ("vecmat", _vecmat)):
    if hasattr(np, _name):  # newer versions of NumPy only
        implements_ufunc(getattr(np, _name))(_handler)
