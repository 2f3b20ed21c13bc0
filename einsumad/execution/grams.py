"""Matrix products that are symmetric, of which one triangle is computed and copied to the other.

Owns that product. Imports NumPy only. Invariant: the result equals its transpose bit for bit.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_PARTS = 6
"""Blocks of columns: more leave out more of the other triangle, and are slower each."""
_NARROWEST = 64
_FEW = 8
"""Rows for each one that is summed from which NumPy's copy of a triangle behind the update is slower than blocks."""
_SQUARE = 128
_BELOW = np.tri(_SQUARE, k=-1, dtype=bool)


def gram(rows: Array, columns: Array) -> Array:
    """The product of two matrices that is known to be symmetric.

    Of a matrix and its own transpose it is BLAS's rank-k update; else block of columns by block, down to the diagonal.
    """
    size = len(rows)
    if _is_transpose(rows, columns) and size < _FEW * len(columns):
        return np.asarray(np.dot(rows, columns))
    result = np.empty((size, size), np.result_type(rows, columns))
    width = max(-(-size // _PARTS), _NARROWEST)
    for start in range(0, size, width):
        stop = min(start + width, size)
        np.matmul(rows[:stop], columns[:, start:stop], out=result[:stop, start:stop])
    _copy_triangle(result)
    return result


def _is_transpose(rows: Array, columns: Array) -> bool:
    """Whether one matrix is a view of the other with its axes turned: NumPy calls the rank-k update then."""
    return (
        rows.strides == columns.strides[::-1]
        and rows.__array_interface__["data"] == columns.__array_interface__["data"]
        and rows.dtype == columns.dtype
    )


def _copy_triangle(matrix: Array) -> None:
    """Copy what is above the diagonal to below it, in squares that the cache holds."""
    for start in range(0, len(matrix), _SQUARE):
        stop = min(start + _SQUARE, len(matrix))
        matrix[start:stop, :start] = matrix[:start, start:stop].T
        block = matrix[start:stop, start:stop]
        np.copyto(block, block.T.copy(), where=_BELOW[: stop - start, : stop - start])
