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


def gram(rows: Array, columns: Array) -> Array:
    """The product of two matrices that is known to be symmetric, block of columns by block, down to the diagonal."""
    size = len(rows)
    result = np.empty((size, size), np.result_type(rows, columns))
    width = max(-(-size // _PARTS), _NARROWEST)
    for start in range(0, size, width):
        stop = min(start + width, size)
        np.matmul(rows[:stop], columns[:, start:stop], out=result[:stop, start:stop])
        result[start:stop, :start] = result[:start, start:stop].T
        lower = np.tril_indices(stop - start, -1)
        block = result[start:stop, start:stop]
        block[lower] = block.T[lower]
    return result
