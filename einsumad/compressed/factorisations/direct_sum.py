"""Direct sums: block diagonal matrices whose blocks are factorised each in its own way.

Owns this class. Imports NumPy and the base. Invariant: every operation is that of the parts, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.pivots import common_dtype, critical
from einsumad.errors import ShapeError

__all__ = ["DirectSum"]


class DirectSum(Factorisation):
    """``M1 ⊕ M2 ⊕ …``, acting on the concatenation of what its parts act on.

    >>> from einsumad.compressed.factorisations import Diagonal, Identity
    >>> both = DirectSum([Identity(1, np.float64), Diagonal(np.array([-2.0]))])
    >>> both.solve(np.ones((2, 1))).T, both.inertia()
    (array([[ 1. , -0.5]]), Inertia(positive=1, negative=1, zero=0))
    """

    def __init__(self, parts: Sequence[Factorisation]) -> None:
        if not parts:
            raise ShapeError("a direct sum of no matrices: it needs one at least")
        self._parts = tuple(parts)
        self._ends = np.cumsum([part.size for part in parts])
        symmetric = all(part.symmetric for part in parts)
        counted = [(method, len(list(group))) for method, group in groupby(part.method for part in parts)]
        super().__init__(
            int(self._ends[-1]),
            common_dtype(part.dtype for part in parts),
            symmetric=symmetric,
            method=" ⊕ ".join(method if count == 1 else f"{count} times {method}" for method, count in counted),
            smallest_pivot=critical(np.array([part.smallest_pivot for part in parts]), symmetric),
            positive_definite=all(part.positive_definite for part in parts),
        )

    def _solve(self, rhs: Array) -> Array:
        return self._each(lambda part, piece: part.solve(piece), rhs)

    def _solve_transposed(self, rhs: Array) -> Array:
        return self._each(lambda part, piece: part.solve_transposed(piece), rhs)

    def _slogdet(self) -> tuple[float, float]:
        found = [part.slogdet() for part in self._parts]
        return float(np.prod([sign for sign, _ in found])), sum(logarithm for _, logarithm in found)

    def _inertia(self) -> Inertia:
        return Inertia(*map(sum, zip(*[part.inertia() for part in self._parts], strict=True)))

    def _root(self, v: Array) -> Array:
        return self._each(lambda part, piece: part.root(piece), v)

    def _root_solve_transposed(self, v: Array) -> Array:
        return self._each(lambda part, piece: part.root_solve_transposed(piece), v)

    def _each(self, operate: Callable[[Factorisation, Array], Array], array: Array) -> Array:
        pieces = np.split(array, self._ends[:-1])
        found = [operate(part, piece) for part, piece in zip(self._parts, pieces, strict=True)]
        return np.concatenate(found).astype(self.dtype, copy=False)
