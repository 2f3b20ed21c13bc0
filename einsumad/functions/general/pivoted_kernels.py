"""The numerical kernels of elimination with row exchanges.

Owns arrays-in, array-out code; knows nothing of graphs. Imports NumPy, and SciPy when a kernel is called. Invariant:
values are LAPACK's in the dtype of the operand, batch axes lead, and a matrix that is not finite gives NaN.

LAPACK's pivots say for each column with which row its own was exchanged, one exchange after the other.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from einsumad.functions.general.matrix_kernels import linear_algebra

Array: TypeAlias = np.ndarray[Any, Any]
PIVOT = np.dtype(np.int32)
_ROUNDINGS = 10


def lu(a: Array) -> Array:
    """U on and above the diagonal, and below it L, whose diagonal is ones: ``L U`` is a with its rows exchanged."""
    return _factors(a)[0]


def lu_pivots(a: Array) -> Array:
    """The row with which each one is exchanged, in LAPACK's order."""
    return _factors(a)[1]


def lu_with_pivots(a: Array) -> Array:
    """The factors, and the pivots in a column behind them, filled up with zeros."""
    factors, pivots = _factors(a)
    result = np.zeros((*a.shape[:-1], a.shape[-1] + 1), a.dtype)
    result[..., :-1] = factors
    result[..., : pivots.shape[-1], -1] = pivots
    return result


def pivots_of_lu(packed: Array) -> Array:
    """The pivots that stand behind the factors."""
    return packed[..., : min(packed.shape[-2], packed.shape[-1] - 1), -1].astype(PIVOT)


def pivot_order(pivots: Array, rows: int) -> Array:
    """Which of so many rows each row is after the exchanges."""
    order = np.empty((*pivots.shape[:-1], rows), np.int64)
    for place in np.ndindex(pivots.shape[:-1]):
        order[place] = np.arange(rows)
        for row, other in enumerate(pivots[place]):
            order[place][[row, other]] = order[place][[other, row]]
    return order


def one_if_pivots(factors: Array) -> Array:
    """1 for each packed result, or NaN where a pivot that others were divided by is zero to rounding.

    The last row of a matrix without more rows than columns divides nothing. A pivot is known to a few roundings of
    ``(|L| |U|)[c, c]`` (N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, theorem 9.3).
    """
    rows, columns = factors.shape[-2:]
    count = max(min(rows - 1, columns), 0)
    block = np.abs(factors[..., :count, :count])
    known = np.sum(np.tril(block, -1) * np.swapaxes(np.triu(block), -1, -2), axis=-1)
    pivots = np.diagonal(block, axis1=-2, axis2=-1)
    rounding = _ROUNDINGS * max(count, 1) * float(np.finfo(factors.dtype).eps) * (known + pivots)
    return np.where(np.all(pivots > rounding, axis=-1), 1, np.nan).astype(factors.dtype)


def _factors(a: Array) -> tuple[Array, Array]:
    rows, columns = a.shape[-2:]
    factors, pivots = np.full(a.shape, np.nan, a.dtype), np.empty((*a.shape[:-2], min(rows, columns)), PIVOT)
    pivots[...] = np.arange(min(rows, columns))
    if a.size:
        (factorise,) = linear_algebra().get_lapack_funcs(("getrf",), dtype=a.dtype)
        for place in np.ndindex(a.shape[:-2]):
            if np.isfinite(a[place]).all():
                factors[place], pivots[place], _ = factorise(a[place])
    return factors, pivots
