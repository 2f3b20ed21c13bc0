"""Square matrices of the usual kinds.

Owns matrices that are defined by where their entries stand and what they add up to: symmetric, positive definite,
triangular, diagonal, invertible, singular, stochastic. Imports NumPy and Hypothesis only. Invariant: the property holds
exactly in floating point where it can (symmetry, zeros, rank of a matrix of whole numbers); entries are short; batch
axes lead; everything shrinks to the simplest matrix of its kind, mostly the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2, prod
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

from einsumad.testing.strategies.arrays import array_of
from einsumad.testing.strategies.drawing import Array, Shape, Sides, check_sides, coded, codes, drawn_shape
from einsumad.testing.strategies.namespaces import float_dtype, to_namespace
from einsumad.testing.strategies.tables import special_names, table, table_of

Size: TypeAlias = "int | st.SearchStrategy[int]"
Build: TypeAlias = Callable[[st.DrawFn, int, Shape], Array]

_FLOAT64 = np.dtype(np.float64)
SIZES = st.integers(1, 4)
WHOLE = table(_FLOAT64, -4, 4, integers=True)
SMALL_WHOLE = table(_FLOAT64, -2, 2, integers=True)
_POSITIVE = table_of(_FLOAT64, special_names((1.0, 2.0, 0.5, 1.5)))
_NONZERO = table_of(_FLOAT64, special_names((1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, -1.5)))
_DOMINANT = table_of(_FLOAT64, special_names((1.0, -1.0, 2.0, -2.0, 1.5, -1.5)))


def matrices(build: Build, n: Size, *, batch: Sides, dtype: Any, xp: Any | None) -> st.SearchStrategy[Any]:
    """Matrices that a function builds from a draw, a size and a batch shape."""
    check_sides(batch, "batch")
    if not isinstance(n, st.SearchStrategy) and n < 0:
        raise ValueError(f"n={n} is no size of a matrix: give a whole number of 0 or more, or a strategy for one")
    return _matrices(build, n, batch=batch, dtype=float_dtype(dtype), xp=xp)


@st.composite
def _matrices(draw: st.DrawFn, build: Build, n: Size, *, batch: Sides, dtype: np.dtype[Any], xp: Any | None) -> Any:
    size = int(draw(n) if isinstance(n, st.SearchStrategy) else n)
    return to_namespace(build(draw, size, drawn_shape(draw, batch)).astype(dtype), xp)


def symmetric(
    n: Size = SIZES,
    *,
    batch: Sides = (),
    low: float | None = None,
    high: float | None = None,
    integers: bool = False,
    dtype: Any = np.float64,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Symmetric matrices with the entries of :func:`floats`.

    >>> from hypothesis import find
    >>> find(symmetric(2), lambda A: A[0, 1] > 1)
    array([[0., 2.],
           [2., 0.]])
    """
    entries = table(float_dtype(dtype), low, high, integers=integers)

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        return _mirrored(array_of(draw, entries, (*lead, size, size)))

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def spd(
    n: Size = SIZES, *, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Symmetric positive definite matrices ``I + B Bᵀ``, entries of B in multiples of 1/4 from -1 to 1.

    All eigenvalues are 1 or more and the condition number is at most 1 + n², mostly much less. For a given condition
    number see :func:`conditioned`.
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        B = _quarters(draw, (*lead, size, size))
        return np.asarray(np.eye(size) + B @ np.swapaxes(B, -1, -2))

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def triangular(
    n: Size = SIZES,
    *,
    lower: bool = True,
    unit_diagonal: bool = False,
    positive_diagonal: bool = False,
    batch: Sides = (),
    dtype: Any = np.float64,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Invertible triangular matrices: entries between -1 and 1 beside a diagonal of magnitude 1/2 to 2.

    The diagonal is all ones with ``unit_diagonal``, positive as in a Cholesky factor with ``positive_diagonal``.

    >>> from hypothesis import find
    >>> find(triangular(2, lower=False, unit_diagonal=True), lambda A: A[0, 1])
    array([[1.  , 0.25],
           [0.  , 1.  ]])
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        side = np.tril(_quarters(draw, (*lead, size, size)), -1)
        if unit_diagonal:
            return (side if lower else np.swapaxes(side, -1, -2)) + np.eye(size)
        diagonal = array_of(draw, _POSITIVE if positive_diagonal else _NONZERO, (*lead, size))
        return (side if lower else np.swapaxes(side, -1, -2)) + _on_diagonal(diagonal)

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def positive_diagonal(
    n: Size = SIZES, *, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Diagonal matrices with entries of 1/2 to 2 on the diagonal."""

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        return _on_diagonal(array_of(draw, _POSITIVE, (*lead, size)))

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def invertible(
    n: Size = SIZES, *, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Well conditioned matrices of either sign of the determinant, in any order of rows.

    Before the rows are permuted, the diagonal has magnitudes of 1 to 2 and the others of a row add up to less than 1/2.
    By diagonal dominance the condition number is less than 5 in the maximum norm (J. M. Varah, Linear Algebra and its
    Applications 11, 1975).
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        beside = _quarters(draw, (*lead, size, size)) / 2 ** (1 + ceil(log2(max(size, 1))))
        diagonal = array_of(draw, _DOMINANT, (*lead, size))
        return _permuted(draw, beside * (1 - np.eye(size)) + _on_diagonal(diagonal), -2)

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def singular(
    n: Size = SIZES, rank: int | None = None, *, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Matrices of whole numbers whose rank is exactly `rank`, any rank below n unless given.

    They are products of a unit lower and a unit upper trapezoidal matrix, rows and columns permuted: a minor of order
    `rank` is 1 or -1, so the rank is right without rounding. A rank that is not below n raises ``ValueError``.

    >>> from hypothesis import find
    >>> find(singular(2, rank=1), lambda A: True)
    array([[1., 0.],
           [0., 0.]])
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        if size < 1 or (rank is not None and not 0 <= rank < size):
            raise ValueError(f"rank={rank} is not below n={size}: a singular matrix needs 0 <= rank < n")
        chosen = coded(codes(draw, 1)[0], range(size)[::-1]) if rank is None else rank
        unit = np.eye(size)[:, :chosen]
        left = np.tril(array_of(draw, SMALL_WHOLE, (*lead, size, chosen)), -1) + unit
        right = np.tril(array_of(draw, SMALL_WHOLE, (*lead, size, chosen)), -1) + unit
        product = left @ np.swapaxes(right, -1, -2)
        return _permuted(draw, _permuted(draw, product, -2), -1)

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def stochastic(
    n: Size = SIZES, *, batch: Sides = (), dtype: Any = np.float64, xp: Any | None = None
) -> st.SearchStrategy[Any]:
    """Matrices with positive rows that sum to 1: transition matrices, attention weights.

    >>> from hypothesis import find
    >>> find(stochastic(2), lambda P: P[1, 0] > 0.6)
    array([[0.5       , 0.5       ],
           [0.66666667, 0.33333333]])
    """

    def build(draw: st.DrawFn, size: int, lead: Shape) -> Array:
        weights = array_of(draw, _POSITIVE, (*lead, size, size))
        return np.asarray(weights / np.sum(weights, axis=-1, keepdims=True))

    return matrices(build, n, batch=batch, dtype=dtype, xp=xp)


def _quarters(draw: st.DrawFn, shape: Shape) -> Array:
    """Multiples of 1/4 from -1 to 1."""
    return array_of(draw, WHOLE, shape) / 4


def _mirrored(matrix: Array) -> Array:
    return np.tril(matrix) + np.swapaxes(np.tril(matrix, -1), -1, -2)


def _on_diagonal(entries: Array) -> Array:
    return entries[..., None] * np.eye(entries.shape[-1])


def _permuted(draw: st.DrawFn, matrix: Array, axis: int) -> Array:
    """The rows (axis -2) or columns (axis -1) of each matrix in a drawn order."""
    order_shape = (*matrix.shape[:-2], matrix.shape[axis])
    drawn = np.frombuffer(codes(draw, prod(order_shape)), np.uint8).reshape(order_shape)
    order = np.argsort(drawn, axis=-1, kind="stable")
    return np.take_along_axis(matrix, np.expand_dims(order, -1 if axis == -2 else -2), axis)
