"""One dense matrix: Cholesky's factors, Bunch and Kaufman's, or those of Gauss.

Owns the factorisations by LAPACK of a single matrix. Imports NumPy, and SciPy when a matrix is factorised. Invariant:
no inverse is formed.
"""

from __future__ import annotations

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.condition import inverse_norm, require_condition, scalings
from einsumad.compressed.factorisations.diagonal import Identity
from einsumad.compressed.factorisations.pivots import critical, determinant, inertia_of, require_regular, square
from einsumad.compressed.libraries import lapack, linear_algebra

__all__ = ["LDL", "LU", "Cholesky", "factorise"]


def factorise(matrix: Array, symmetric: bool, scale: Array | None = None) -> Factorisation:
    """The factorisation of a matrix of shape (n, n): Cholesky, ``L D Lᵀ`` or ``L U``, the first that exists.

    Of a symmetric matrix one triangle is read. A singular matrix raises LinearAlgebraError. ``scale``, shape (n,), is
    the size of the numbers that the entries of each row were summed from: a matrix whose entries cancelled is singular
    relative to these.

    >>> factorise(np.array([[2.0, 1.0], [1.0, 2.0]]), symmetric=True).method
    'Cholesky 2×2'
    >>> factorise(np.array([[0.0, 1.0], [1.0, 0.0]]), symmetric=True).inertia()
    Inertia(positive=1, negative=1, zero=0)
    """
    matrix = square(matrix, "a matrix")
    if not matrix.size:
        return Identity(0, matrix.dtype)
    least = np.zeros(len(matrix), matrix.dtype) if scale is None else scale.astype(matrix.dtype)
    if not symmetric:
        return LU(matrix, least)
    factor, stopped = lapack("potrf", matrix)(matrix, lower=1, clean=1)
    if not stopped:
        return Cholesky(factor, np.maximum(np.diagonal(matrix), least))
    return LDL(matrix, least)


class Cholesky(Factorisation):
    """``L Lᵀ``, given the lower triangular factor and the diagonal of the product, which the pivots are judged by.

    >>> Cholesky(np.array([[2.0]]), np.array([4.0])).solve(np.array([[8.0]]))
    array([[2.]])
    """

    def __init__(self, factor: Array, scale: Array) -> None:
        self._factor = factor
        size = len(factor)
        pivots = np.diagonal(factor) ** 2
        method = f"Cholesky {size}×{size}"
        require_regular(pivots, scale, size, method)
        super().__init__(
            size,
            factor.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(pivots, True),
            positive_definite=True,
        )
        inverse = lapack("pocon", factor)(factor / np.sqrt(scale)[:, None], 1.0, uplo="L")[0]
        require_condition(1 / inverse if inverse else np.inf, factor.dtype, self.smallest_pivot, method)

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(lapack("potrs", self._factor)(self._factor, rhs, lower=1)[0])

    def _slogdet(self) -> tuple[float, float]:
        return 1.0, 2 * determinant(np.diagonal(self._factor))[1]

    def _root(self, v: Array) -> Array:
        return np.asarray(self._factor @ v)

    def _root_solve_transposed(self, v: Array) -> Array:
        solve = linear_algebra().solve_triangular
        return np.asarray(solve(self._factor, v, lower=True, trans="T", check_finite=False))


class LDL(Factorisation):
    """``P L D Lᵀ Pᵀ`` of a symmetric matrix, D with pivots of order 1 and 2.

    J. R. Bunch and L. Kaufman, Some stable methods for calculating inertia and solving symmetric linear systems, Math.
    Comp. 31 (1977).

    >>> LDL(np.array([[0.0, 2.0], [2.0, 0.0]])).solve(np.array([[2.0], [4.0]])).T.round(12)
    array([[2., 1.]])
    """

    def __init__(self, matrix: Array, least: Array | None = None) -> None:
        size = len(matrix)
        lower, middle, self._order = linear_algebra().ldl(matrix, lower=True, check_finite=False)
        self._lower = lower[self._order]
        self._pivots = np.diagonal(middle).copy()
        self._pairs = np.flatnonzero(np.diagonal(middle, -1))
        both = self._pairs[:, None] + np.arange(2)
        blocks = middle[both[:, :, None], both[:, None, :]]
        self._pivots[both], self._turns = np.linalg.eigh(blocks)
        scale = np.abs(matrix).max(axis=1)[self._order]
        scale[both] = scale[both].min(axis=1, keepdims=True)
        if least is not None:
            scale = np.maximum(scale, least[self._order])
        method = f"LDLᵀ {size}×{size}"
        require_regular(self._pivots, scale, size, method)
        super().__init__(
            size,
            matrix.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(self._pivots, True),
        )
        sizes = np.empty_like(scale)
        sizes[self._order] = np.sqrt(scale)
        require_condition(
            inverse_norm(self._solve, self._solve, sizes, sizes), matrix.dtype, self.smallest_pivot, method
        )

    def _solve(self, rhs: Array) -> Array:
        solve = linear_algebra().solve_triangular
        options = {"lower": True, "unit_diagonal": True, "check_finite": False}
        found = solve(self._lower, rhs[self._order], **options)
        turned = self._turned(self._turned(found, True) / self._pivots[:, None], False)
        result = np.empty_like(turned)
        result[self._order] = solve(self._lower, turned, trans="T", **options)
        return result

    def _turned(self, array: Array, transposed: bool) -> Array:
        """Rotate the pairs of rows into, or back from, the eigenvectors of the pivots of order 2."""
        both = self._pairs[:, None] + np.arange(2)
        turns = self._turns.swapaxes(1, 2) if transposed else self._turns
        array[both] = turns @ array[both]
        return array

    def _slogdet(self) -> tuple[float, float]:
        return determinant(self._pivots)

    def _inertia(self) -> Inertia:
        return inertia_of(self._pivots)


class LU(Factorisation):
    """``P L U`` of a matrix that is not symmetric, by elimination with partial pivoting.

    >>> LU(np.array([[0.0, 1.0], [2.0, 0.0]])).solve(np.array([[1.0], [2.0]])).T
    array([[1., 1.]])
    """

    def __init__(self, matrix: Array, least: Array | None = None) -> None:
        size = len(matrix)
        self._factors, self._swaps, _ = lapack("getrf", matrix)(matrix)
        order = np.arange(size)
        for place, other in enumerate(self._swaps):
            order[[place, other]] = order[[other, place]]
        sizes = np.abs(matrix)
        scale = np.minimum(sizes.max(axis=1)[order], sizes.max(axis=0))
        if least is not None:
            scale = np.maximum(scale, least[order])
        pivots = np.diagonal(self._factors)
        method = f"LU {size}×{size}"
        require_regular(pivots, scale, size, method)
        super().__init__(
            size,
            matrix.dtype,
            symmetric=False,
            method=method,
            smallest_pivot=critical(pivots, False),
        )
        found = scalings(sizes if least is None else np.maximum(sizes, np.diag(least)))
        norm = min([inverse_norm(self._solve, self._solve_transposed, *scaling) for scaling in found])
        require_condition(norm, matrix.dtype, self.smallest_pivot, method)

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(lapack("getrs", self._factors)(self._factors, self._swaps, rhs)[0])

    def _solve_transposed(self, rhs: Array) -> Array:
        return np.asarray(lapack("getrs", self._factors)(self._factors, self._swaps, rhs, trans=1)[0])

    def _slogdet(self) -> tuple[float, float]:
        swapped = int(np.count_nonzero(self._swaps != np.arange(self.size)))
        return determinant(np.diagonal(self._factors), (-1.0) ** (swapped % 2))
