"""The sum of two Kronecker products of two matrices each, by their generalised Schur forms.

Owns this factorisation. Imports NumPy, and SciPy when it is made. Invariant: nothing is asked of the four matrices but
that the sum is regular.

J. D. Gardiner, A. J. Laub, J. J. Amato and C. B. Moler, Solution of the Sylvester matrix equation AXBᵀ + CXDᵀ = E, ACM
Trans. Math. Software 18 (1992).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation
from einsumad.compressed.factorisations.pivots import require_regular
from einsumad.compressed.libraries import linear_algebra

__all__ = ["GeneralisedSchur"]


class _Form(NamedTuple):
    """``first = left S1 rightᴴ`` and ``second = left S2 rightᴴ`` with upper triangular S1 and S2, all complex."""

    first: Array
    second: Array
    left: Array
    right: Array


class GeneralisedSchur(Factorisation):
    """``A1 ⊗ B1 + A2 ⊗ B2`` for matrices A of shape (p, p) and B of shape (q, q); p q > 0.

    A solve takes O(p² q + p q²) operations a right-hand side. There is no inertia and no root.

    >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> factor = GeneralisedSchur([turn, np.eye(1)], [np.eye(2), np.eye(1)], symmetric=False)
    >>> factor.solve(np.array([[2.0], [0.0]])).T.round(12)
    array([[1., 1.]])
    """

    def __init__(self, first: Sequence[Array], second: Sequence[Array], symmetric: bool) -> None:
        self._rows, self._columns = (_form(*pair) for pair in zip(first, second, strict=True))
        rows, columns = self._rows, self._columns
        sides = (len(rows.first), len(columns.first))
        self._pivots = sum(
            np.multiply.outer(np.diagonal(s), np.diagonal(t))
            for s, t in ((rows.first, columns.first), (rows.second, columns.second))
        )
        scale = np.abs(rows.first).max() * np.abs(columns.first).max()
        scale += np.abs(rows.second).max() * np.abs(columns.second).max()
        method = "generalised Schur form " + " ⊗ ".join(f"{side}×{side}" for side in sides)
        sizes = np.abs(self._pivots)
        require_regular(sizes, np.full_like(sizes, scale), max(sides), method)
        super().__init__(
            sizes.size,
            first[0].dtype,
            symmetric=symmetric,
            method=method,
            smallest_pivot=float(sizes.min()),
        )

    def _solve(self, rhs: Array) -> Array:
        rows, columns = self._rows, self._columns
        right = self._turned(rows.left.conj().T, columns.left.conj().T, rhs)
        found = _substituted(rows.first, rows.second, columns.first, columns.second, right)
        return self._real(self._turned(rows.right, columns.right, found))

    def _solve_transposed(self, rhs: Array) -> Array:
        rows, columns = self._rows, self._columns
        right = self._turned(rows.right.T, columns.right.T, rhs)
        flipped = _flipped(rows.first), _flipped(rows.second), _flipped(columns.first), _flipped(columns.second)
        found = _substituted(*flipped, right[::-1, ::-1])[::-1, ::-1]
        return self._real(self._turned(rows.left.conj(), columns.left.conj(), found))

    def _slogdet(self) -> tuple[float, float]:
        pivots = self._pivots.astype(np.complex128)
        angle = np.angle(pivots).sum()
        for form, times in ((self._rows, len(self._columns.first)), (self._columns, len(self._rows.first))):
            turned = np.linalg.det(form.left.astype(np.complex128)) / np.linalg.det(form.right.astype(np.complex128))
            angle += times * np.angle(turned)
        return (1.0 if np.cos(angle) > 0 else -1.0), float(np.log(np.abs(pivots)).sum())

    def _turned(self, left: Array, right: Array, array: Array) -> Array:
        """The array ``(left ⊗ right) array``, with the two axes apart, shape (p, q, m)."""
        split = array.reshape(len(left), len(right), -1)
        return np.asarray(np.tensordot(left, right @ split, 1))

    def _real(self, found: Array) -> Array:
        return np.ascontiguousarray(found.real, dtype=self.dtype).reshape(self.size, -1)


def _form(first: Array, second: Array) -> _Form:
    return _Form(*linear_algebra().qz(first, second, output="complex", check_finite=False))


def _flipped(matrix: Array) -> Array:
    """The transpose in the opposite order of rows and columns: upper triangular again."""
    return matrix.T[::-1, ::-1]


def _substituted(s1: Array, s2: Array, t1: Array, t2: Array, right: Array) -> Array:
    """The solution Y, shape (p, q, m), of ``S1 Y T1ᵀ + S2 Y T2ᵀ = right`` for upper triangular matrices.

    Column j of the equation holds the columns j and later of Y, so the last one is found first.
    """
    solve = linear_algebra().solve_triangular
    found = np.empty_like(right)
    first, second = np.empty_like(right), np.empty_like(right)
    for j in reversed(range(len(t1))):
        known = np.tensordot(first[:, j + 1 :], t1[j, j + 1 :], ((1,), (0,)))
        known += np.tensordot(second[:, j + 1 :], t2[j, j + 1 :], ((1,), (0,)))
        found[:, j] = solve(t1[j, j] * s1 + t2[j, j] * s2, right[:, j] - known, check_finite=False)
        first[:, j], second[:, j] = s1 @ found[:, j], s2 @ found[:, j]
    return found
