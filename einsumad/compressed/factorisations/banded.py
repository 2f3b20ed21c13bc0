"""Banded matrices: Cholesky's factors in the band, or those of Gauss.

Owns these factorisations by LAPACK. Imports NumPy, and SciPy when a matrix is factorised. Invariant: work and memory
are linear in the size, apart from the inertia of an indefinite matrix.
"""

from __future__ import annotations

import numpy as np

from einsumad.compressed.factorisations.base import Array, Delegating, Factorisation, Inertia
from einsumad.compressed.factorisations.diagonal import Identity
from einsumad.compressed.factorisations.pivots import critical, determinant, entries, inertia_of, require_regular
from einsumad.compressed.libraries import lapack, linear_algebra
from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["Banded"]

_LARGEST_INERTIA = 2000
"""Up to this size the inertia of an indefinite banded matrix is counted by its eigenvalues, O(N² bandwidth)."""


class Banded(Delegating):
    """The matrix with ``band[upper + i - j, j]`` at (i, j), shape (lower + upper + 1, N), and zeros outside the band.

    A symmetric matrix needs ``lower == upper``; its lower triangle is read. Positive definite: Cholesky. Otherwise
    elimination with partial pivoting; the inertia of an indefinite matrix is found up to size 2000.

    >>> chain = Banded(np.array([[0.0, -1.0], [2.0, 2.0], [-1.0, 0.0]]), 1, 1, symmetric=True)
    >>> chain.solve(np.ones((2, 1))).T.round(12)
    array([[1., 1.]])
    """

    def __init__(self, band: Array, lower: int, upper: int, symmetric: bool) -> None:
        if np.ndim(band) != 2 or min(lower, upper) < 0 or len(band) != lower + upper + 1:
            raise ShapeError(
                f"a band of shape {np.shape(band)} with {lower} diagonals below and {upper} above: it needs shape "
                f"({lower + upper + 1}, N)"
            )
        if symmetric and lower != upper:
            raise ShapeError(
                f"a symmetric band of shape {np.shape(band)} with {lower} diagonals below and {upper} above: these "
                "numbers have to be equal"
            )
        super().__init__(_chosen(entries(_without_corners(band, upper), "a band", 2), lower, upper, symmetric))


def _without_corners(band: Array, upper: int) -> Array:
    """The band with zeros for what lies outside of the matrix, which nothing says to be numbers."""
    rows, size = np.shape(band)
    row = np.arange(rows)[:, None] - upper + np.arange(size)
    return np.asarray(np.where((row >= 0) & (row < size), band, np.zeros((), np.asarray(band).dtype)))


def _chosen(band: Array, lower: int, upper: int, symmetric: bool) -> Factorisation:
    if not band.shape[1]:
        return Identity(0, band.dtype)
    if not symmetric:
        return _BandedLU(band, lower, upper)
    factor, stopped = lapack("pbtrf", band)(band[upper:], lower=1)
    if not stopped:
        return _BandedCholesky(factor, band[upper])
    return _BandedLU(band, lower, upper, float(factor[0, stopped - 1]))


def _method(name: str, band: Array, diagonals: int) -> str:
    size = band.shape[1]
    return f"{name} of a band of {diagonals} diagonals, {size}×{size}"


class _BandedCholesky(Factorisation):
    """``L Lᵀ``, given the factor in the layout of the lower band and the diagonal of the product."""

    def __init__(self, factor: Array, scale: Array) -> None:
        self._factor = factor
        pivots = factor[0] ** 2
        method = _method("Cholesky", factor, 2 * len(factor) - 1)
        require_regular(pivots, scale, len(scale), method)
        super().__init__(
            len(scale),
            factor.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(pivots, True),
            positive_definite=True,
        )

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(lapack("pbtrs", self._factor)(self._factor, rhs, lower=1)[0])

    def _slogdet(self) -> tuple[float, float]:
        return 1.0, 2 * determinant(self._factor[0])[1]

    def _root(self, v: Array) -> Array:
        result: Array = self._factor[0][:, None] * v
        for below, diagonal in enumerate(self._factor[1 : self.size], 1):
            result[below:] += diagonal[:-below, None] * v[:-below]
        return result

    def _root_solve_transposed(self, v: Array) -> Array:
        return np.asarray(lapack("tbtrs", self._factor)(self._factor, v, uplo="L", trans="T")[0])


class _BandedLU(Factorisation):
    """``P L U``; with the negative pivot that Cholesky's factorisation met, of a symmetric matrix."""

    def __init__(self, band: Array, lower: int, upper: int, negative: float | None = None) -> None:
        self._band, self._lower, self._upper = band, lower, upper
        padded = np.concatenate([np.zeros((lower, band.shape[1]), band.dtype), band])
        self._factors, self._swaps, _ = lapack("gbtrf", padded)(padded, lower, upper)
        self._pivots = self._factors[lower + upper]
        method = _method("LU", band, len(band))
        size = band.shape[1]
        require_regular(self._pivots, np.abs(band).max(axis=0), size, method)
        super().__init__(
            size,
            band.dtype,
            symmetric=negative is not None,
            method=method,
            smallest_pivot=critical(self._pivots, False) if negative is None else negative,
        )

    def _solve(self, rhs: Array) -> Array:
        return self._solved(rhs, 0)

    def _solve_transposed(self, rhs: Array) -> Array:
        return self._solved(rhs, 1)

    def _solved(self, rhs: Array, transposed: int) -> Array:
        solve = lapack("gbtrs", self._factors)
        return np.asarray(solve(self._factors, self._lower, self._upper, rhs, self._swaps, trans=transposed)[0])

    def _slogdet(self) -> tuple[float, float]:
        swapped = int(np.count_nonzero(self._swaps != np.arange(self.size)))
        return determinant(self._pivots, (-1.0) ** (swapped % 2))

    def _inertia(self) -> Inertia:
        if self.size > _LARGEST_INERTIA:
            raise LinearAlgebraError(
                f"the inertia of an indefinite banded matrix of shape ({self.size}, {self.size}): it is counted by "
                f"eigenvalues, up to size {_LARGEST_INERTIA}; the sign of its determinant is known from slogdet()"
            )
        values = linear_algebra().eigvals_banded(self._band[self._upper :], lower=True, check_finite=False)
        require_regular(values, np.full_like(values, np.abs(values).max()), self.size, "eigenvalues of a band")
        return inertia_of(values)
