"""Sparse matrices: elimination by SuperLU, without pivoting where the matrix is positive definite.

Owns these factorisations. Imports NumPy, and SciPy when a matrix is factorised. Invariant: the pivots of a matrix that
is called positive definite stood on its diagonal and are positive.

J. W. Demmel, S. C. Eisenstat, J. R. Gilbert, X. S. Li and J. W. H. Liu, A supernodal approach to sparse partial
pivoting, SIAM J. Matrix Anal. Appl. 20 (1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.compressed.factorisations.base import Array, Delegating, Factorisation
from einsumad.compressed.factorisations.diagonal import Identity
from einsumad.compressed.factorisations.pivots import critical, determinant, entries, require_regular
from einsumad.compressed.libraries import sparse_linear_algebra
from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["Sparse"]


class Sparse(Delegating):
    """A matrix of SciPy's sparse kinds, shape (N, N).

    A symmetric matrix is eliminated in an order of least degree on the diagonal first, and has a root if all pivots
    are positive. Otherwise there is partial pivoting, and no inertia.

    >>> import scipy.sparse
    >>> Sparse(scipy.sparse.eye_array(3, format="csc") * 4.0, symmetric=True).root(np.ones((3, 1))).T
    array([[2., 2., 2.]])
    """

    def __init__(self, matrix: Any, symmetric: bool) -> None:
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ShapeError(f"a sparse matrix of shape {matrix.shape}: it has to be square")
        matrix = matrix.tocsc().copy()
        matrix.sum_duplicates()
        matrix.data = entries(matrix.data, "the entries of a sparse matrix", 1)
        super().__init__(_chosen(matrix, symmetric))


def _chosen(matrix: Any, symmetric: bool) -> Factorisation:
    if not matrix.shape[0]:
        return Identity(0, matrix.dtype)
    negative = None
    if symmetric:
        factors = _eliminated(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        if factors is not None and np.array_equal(factors.perm_r, factors.perm_c):
            pivots = factors.U.diagonal()
            if (pivots > 0).all():
                return _SparseCholesky(factors, pivots, matrix.diagonal())
            negative = float(pivots.min())
    factors = _eliminated(matrix)
    if factors is None:
        raise LinearAlgebraError(
            f"the matrix is singular: its smallest pivot is 0 ({_method('LU', matrix.shape[0], matrix.nnz)}); pass "
            "damping= to add a multiple of the identity"
        )
    return _SparseLU(factors, matrix, symmetric, negative)


def _eliminated(matrix: Any, **options: Any) -> Any:
    """The factors of SuperLU, or None if a pivot is zero."""
    try:
        return sparse_linear_algebra().splu(matrix, **options)
    except RuntimeError:
        return None


def _method(name: str, size: int, count: int) -> str:
    return f"sparse {name} {size}×{size}, {count} entries"


class _SparseCholesky(Factorisation):
    """``Pᵀ L D Lᵀ P`` with positive pivots D; the root is ``Pᵀ L √D``."""

    def __init__(self, factors: Any, pivots: Array, diagonal: Array) -> None:
        self._factors = factors
        self._pivots = pivots
        self._lower = factors.L.tocsr()
        self._upper = self._lower.T.tocsr()
        self._order = np.argsort(factors.perm_c)
        method = _method("Cholesky", len(pivots), factors.L.nnz)
        require_regular(pivots, diagonal[self._order], len(pivots), method)
        super().__init__(
            len(pivots),
            pivots.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(pivots, True),
            positive_definite=True,
        )

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(self._factors.solve(rhs))

    def _slogdet(self) -> tuple[float, float]:
        return determinant(self._pivots)

    def _root(self, v: Array) -> Array:
        return self._back(self._lower @ (np.sqrt(self._pivots)[:, None] * v))

    def _root_solve_transposed(self, v: Array) -> Array:
        solve = sparse_linear_algebra().spsolve_triangular
        scaled = v / np.sqrt(self._pivots)[:, None]
        return self._back(solve(self._upper, scaled, lower=False, unit_diagonal=True))

    def _back(self, array: Array) -> Array:
        """The rows in the order of the matrix."""
        result = np.empty(array.shape, self.dtype)
        result[self._order] = array
        return result


class _SparseLU(Factorisation):
    """``L U`` with partial pivoting; ``negative`` is the smallest pivot of an elimination without it, if known."""

    def __init__(self, factors: Any, matrix: Any, symmetric: bool, negative: float | None) -> None:
        self._factors = factors
        self._pivots = factors.U.diagonal()
        sizes = abs(matrix)
        scale = np.empty_like(self._pivots)
        scale[factors.perm_c] = sizes.max(axis=0).toarray().ravel()
        rows = np.empty_like(scale)
        rows[factors.perm_r] = sizes.max(axis=1).toarray().ravel()
        size = len(scale)
        method = _method("LU", size, factors.nnz)
        require_regular(self._pivots, np.minimum(scale, rows), size, method)
        super().__init__(
            size,
            matrix.dtype,
            symmetric=symmetric,
            method=method,
            smallest_pivot=critical(self._pivots, False) if negative is None else negative,
        )

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(self._factors.solve(rhs))

    def _solve_transposed(self, rhs: Array) -> Array:
        return np.asarray(self._factors.solve(rhs, trans="T"))

    def _slogdet(self) -> tuple[float, float]:
        sign = _parity(self._factors.perm_r) * _parity(self._factors.perm_c)
        return determinant(self._pivots, sign)


def _parity(permutation: Array) -> float:
    """The sign of a permutation: minus one for each cycle of even length."""
    seen = np.zeros(len(permutation), bool)
    following = permutation.tolist()
    sign = 1.0
    for start in range(len(following)):
        place, length = start, 0
        while not seen[place]:
            seen[place] = True
            place = following[place]
            length += 1
        if length and length % 2 == 0:
            sign = -sign
    return sign
