"""Iterative refinement of the solutions of a factorisation.

Owns this class. Imports NumPy and the base. Invariant: a residual never grows.

R. D. Skeel, Iterative refinement implies numerical stability for Gaussian elimination, Math. Comp. 35 (1980).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from einsumad.compressed.factorisations.base import Array, Delegating, Factorisation

__all__ = ["Refined"]

Product = Callable[[Array], Array]


class Refined(Delegating):
    """The inner factorisation, with one step ``x + M⁻¹ (b - M x)`` after each solve.

    The step is kept in the columns in which it makes the residual smaller.

    ``matvec(v)`` is M v and ``transposed(v)`` is Mᵀ v, for v of shape (N, m). Without the latter the solutions with the
    transpose of a matrix that is not symmetric are those of the inner factorisation.

    >>> from einsumad.compressed.factorisations import Diagonal
    >>> rough = Diagonal(np.array([2.001]))
    >>> bool(abs(Refined(rough, lambda v: 2 * v).solve(np.array([[2.0]])) - 1) < 1e-6)
    True
    """

    def __init__(self, inner: Factorisation, matvec: Product, transposed: Product | None = None) -> None:
        super().__init__(inner, f"{inner.method}, refined")
        self._matvec, self._transposed = matvec, transposed

    def _solve(self, rhs: Array) -> Array:
        return _refined(self._inner.solve, self._matvec, rhs)

    def _solve_transposed(self, rhs: Array) -> Array:
        if self.symmetric:
            return self._solve(rhs)
        if self._transposed is None:
            return self._inner.solve_transposed(rhs)
        return _refined(self._inner.solve_transposed, self._transposed, rhs)


def _refined(solve: Product, matvec: Product, rhs: Array) -> Array:
    found = solve(rhs)
    residual = rhs - matvec(found)
    better = found + solve(residual)
    with np.errstate(invalid="ignore"):
        smaller = _size(rhs - matvec(better)) < _size(residual)
    return np.where(smaller, better, found)


def _size(residual: Array) -> Array:
    return np.asarray(np.linalg.norm(residual, axis=0))
