"""numpy.linalg: norms of vectors and matrices in all orders, condition numbers.

Owns these functions. Imports the registry, reductions and the catalogue. Invariant: a norm has derivative 0 where its
argument is 0, to every order; entries and singular values that are equal share the derivative of an extremum.
"""

# ruff: noqa: A002 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from einsumad.errors import ShapeError
from einsumad.frontend.axes import axes_last, flag, insert_axes, some_axes
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.numpy_functions.linear_algebra import floating_matrix, square_matrices
from einsumad.frontend.numpy_functions.reductions import extremum, summed
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply, call
from einsumad.graph import Node, zero

_FROBENIUS = (None, "fro", "f")
_PAIR = 2


def _order(name: str, ord: Any) -> Any:
    """The order as a Python number or text; what is traced has no value that the graph could depend on."""
    if ord is None or isinstance(ord, str) or is_python_number(ord):
        return ord
    if isinstance(ord, (np.integer, np.floating)):
        return ord.item()
    raise refused(f"numpy.linalg.{name}", "ord", f"with an order of type {type(ord).__name__}")


def _real(x: Any) -> Node:
    node = as_node(x)
    return node if node.dtype.kind == "f" else in_dtype(node, np.float64)


@implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Node:
    node, order = _real(x), _order("norm", ord)
    rank = len(node.shape)
    if axis is None:
        if order is None:
            return _euclidean(node, tuple(range(rank)), keepdims)
        if rank not in (1, 2):
            raise ShapeError(
                f"numpy.linalg.norm with ord needs one or two axes, got shape {node.shape}: name them with axis="
            )
        places = tuple(range(rank))
    else:
        places = axis if isinstance(axis, tuple) else (operator.index(axis),)
    if len(places) == 1:
        return _vector(node, some_axes(places, rank), order, keepdims)
    if len(places) != _PAIR:
        raise ShapeError(f"a norm runs over one or two axes, not {len(places)}: use numpy.linalg.vector_norm for more")
    row, column = (normalize_axis_index(operator.index(place), rank) for place in places)
    if row == column:
        raise ShapeError(f"a matrix norm runs over two different axes, got {places}")
    return _matrix(node, row, column, order, keepdims)


@implements(np.linalg.vector_norm)
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Node:
    node = _real(x)
    rank = len(node.shape)
    axes = tuple(range(rank)) if axis is None else tuple(sorted(normalize_axis_tuple(axis, rank)))
    return _vector(node, axes, _order("vector_norm", ord), keepdims)


@implements(np.linalg.matrix_norm)
def _matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Node:
    node = _real(x)
    rank = len(node.shape)
    if rank < _PAIR:
        raise ShapeError(f"a matrix norm needs two axes or more, got shape {node.shape}")
    return _matrix(node, rank - 2, rank - 1, _order("matrix_norm", ord), keepdims)


def _euclidean(node: Node, axes: tuple[int, ...], keepdims: Any) -> Node:
    squares = apply("power", node, params=(2,))
    return apply("norm_root", summed(squares, axes, keepdims, node.dtype))


def _vector(node: Node, axes: tuple[int, ...], order: Any, keepdims: Any) -> Node:
    """``(sum |x|**p)**(1/p)``, the largest or smallest |x|, or the number of entries that are not 0."""
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order {order!r} for vectors")  # noqa: TRY004 (as NumPy)
    if order is None or order == 2:
        return _euclidean(node, axes, keepdims)
    if order == 0:
        nonzero = apply("not_equal", node, zero(node.shape, node.dtype))
        return summed(in_dtype(nonzero, node.dtype), axes, keepdims, node.dtype)
    absolute = apply("abs", node)
    if order == 1:
        return summed(absolute, axes, keepdims, node.dtype)
    if math.isinf(order):
        return _extreme(absolute, axes, order > 0, keepdims)
    total = summed(apply("power", absolute, params=(order,)), axes, keepdims, node.dtype)
    if order < 0:
        return apply("power", total, params=(1 / order,))
    nothing = Tensor(total) == 0
    root = Tensor(apply("power", as_node(np.where(nothing, 1, Tensor(total))), params=(1 / order,)))
    return as_node(np.where(nothing, 0, root))


def _extreme(absolute: Node, axes: tuple[int, ...], largest: bool, keepdims: Any) -> Node:
    """The largest or smallest of numbers that are not negative; the largest of none is 0."""
    if largest and math.prod(absolute.shape[axis] for axis in axes) == 0:
        return summed(absolute, axes, keepdims, absolute.dtype)
    return extremum("max_reduce" if largest else "min_reduce", absolute, axes, flag("keepdims", keepdims))


def _matrix(node: Node, row: int, column: int, order: Any, keepdims: Any) -> Node:
    axes = tuple(sorted((row, column)))
    if order in _FROBENIUS:
        return _euclidean(node, axes, keepdims)
    if order in (2, -2, "nuc"):
        matrices = axes_last(floating_matrix("norm", node), (row, column))
        values = call("svd_values", matrices)
        last = (len(values.shape) - 1,)
        found = (
            summed(values, last, False, values.dtype)
            if order == "nuc"
            else _extreme(values, last, order > 0, keepdims=False)
        )
    elif order in (1, -1, math.inf, -math.inf):
        along, across = (row, column) if abs(order) == 1 else (column, row)
        sums = summed(apply("abs", node), (along,), False, node.dtype)
        found = _extreme(sums, (across - (across > along),), order > 0, keepdims=False)
    else:
        raise ValueError(f"Invalid norm order {order!r} for matrices: use one of 1, -1, 2, -2, inf, -inf, 'fro', 'nuc'")
    return insert_axes(found, axes) if flag("keepdims", keepdims) else found


@implements(np.linalg.cond)
def _cond(x: Any, p: Any = None) -> Node:
    order = _order("cond", p)
    given = _real(x)
    if 0 in given.shape[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    if order is None or order in (2, -2):
        values = Tensor(call("svd_values", floating_matrix("cond", given)))
        smallest = values[..., -1]
        ratio = smallest / values[..., 0] if order == -2 else values[..., 0] / smallest
        infinite = 1 / smallest**2
    else:
        matrix = square_matrices("cond", Tensor(given))
        inverse = call("inverse", matrix, params=(1,))
        rank = len(matrix.shape)
        first, second = (Tensor(_matrix(a, rank - 2, rank - 1, order, False)) for a in (matrix, inverse))
        ratio = first * second
        infinite = 1 / Tensor(call("determinant", matrix)) ** 2
    unknown = np.isnan(ratio) & ~np.any(np.isnan(Tensor(given)), axis=(-2, -1))
    return as_node(np.where(unknown, infinite, ratio))
