"""Diagonal matrices, and the identity.

Owns these two. Imports NumPy and the base. Invariant: the work is linear in the size; the identity does none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.pivots import (
    common_dtype,
    critical,
    determinant,
    entries,
    inertia_of,
    require_regular,
)

__all__ = ["Diagonal", "Identity"]


class Diagonal(Factorisation):
    """The matrix with ``values``, shape (N,), on its diagonal; a zero among them raises LinearAlgebraError.

    >>> factor = Diagonal(np.array([1.0, -1.0]))
    >>> factor.slogdet(), factor.inertia()
    ((-1.0, 0.0), Inertia(positive=1, negative=1, zero=0))
    """

    def __init__(self, values: Array) -> None:
        self._values = entries(values, "a diagonal", 1).copy()
        method = f"diagonal of {self._values.size}"
        require_regular(self._values, np.abs(self._values), 1, method)
        super().__init__(
            self._values.size,
            self._values.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(self._values, True),
            positive_definite=bool((self._values > 0).all()),
        )

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(rhs / self._values[:, None])

    def _slogdet(self) -> tuple[float, float]:
        return determinant(self._values)

    def _inertia(self) -> Inertia:
        return inertia_of(self._values)

    def _root(self, v: Array) -> Array:
        return np.asarray(np.sqrt(self._values)[:, None] * v)

    def _root_solve_transposed(self, v: Array) -> Array:
        return np.asarray(v / np.sqrt(self._values)[:, None])


class Identity(Factorisation):
    """The identity of shape (N, N).

    >>> Identity(2, np.float64).solve(np.array([[1.0], [2.0]])).T
    array([[1., 2.]])
    """

    def __init__(self, size: int, dtype: npt.DTypeLike) -> None:
        pivot = 1.0 if size else np.inf
        super().__init__(
            size,
            common_dtype([dtype]),
            symmetric=True,
            method="identity",
            smallest_pivot=pivot,
            positive_definite=True,
        )

    def _solve(self, rhs: Array) -> Array:
        return rhs.copy()

    def _slogdet(self) -> tuple[float, float]:
        return 1.0, 0.0

    def _root(self, v: Array) -> Array:
        return v.copy()

    def _root_solve_transposed(self, v: Array) -> Array:
        return v.copy()
