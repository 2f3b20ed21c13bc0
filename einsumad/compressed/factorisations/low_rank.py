"""A factorised matrix plus one of low rank.

Owns this class. Imports NumPy, the base and the dense factorisation of the small matrix. Invariant: the middle matrix
is never inverted, and a weight of zero does no harm.

M. A. Woodbury, Inverting modified matrices, Princeton (1950); W. W. Hager, Updating the inverse of a matrix, SIAM Rev.
31 (1989); E. V. Haynsworth, Determination of the inertia of a partitioned Hermitian matrix, Linear Algebra Appl. 1
(1968).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.dense import factorise
from einsumad.compressed.factorisations.pivots import entries, inertia_of, tolerance
from einsumad.compressed.libraries import linear_algebra
from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["LowRankUpdate"]


class LowRankUpdate(Factorisation):
    """``M = D + U S Vᵀ``: base D, left U and right V of shape (N, r), middle S of shape (r, r), or (r,) if diagonal.

    In general ``M⁻¹ = D⁻¹ - D⁻¹ U (I + S G)⁻¹ S Vᵀ D⁻¹`` with ``G = Vᵀ D⁻¹ U``, and ``det M = det D det(I + S G)``.
    ``symmetric`` says that D and S are symmetric and V is U. Then S is made diagonal and U scaled to ``S = E``, a
    diagonal of signs, and with the symmetric matrix ``H = E + G``

        M⁻¹ = D⁻¹ - D⁻¹ U H⁻¹ Uᵀ D⁻¹,   det M = det D det E det H,   In M = In D + In(-H) - In(-E).

    If D and M are positive definite and ``D = L Lᵀ``, the root of M is ``L (I + W T Wᵀ)`` with ``W = L⁻¹ U``, where
    ``T = (I + R)⁻¹ E`` and ``R² = I + E G``; then ``(I + W T Wᵀ)² = I + W E Wᵀ``.

    >>> from einsumad.compressed.factorisations import Identity
    >>> ones = np.ones((3, 1))
    >>> update = LowRankUpdate(Identity(3, np.float64), ones, np.ones(1), ones, symmetric=True)
    >>> update.solve(np.full((3, 1), 4.0)).T.round(12)
    array([[1., 1., 1.]])
    """

    def __init__(self, base: Factorisation, left: Array, middle: Array, right: Array, symmetric: bool) -> None:
        left, right = (entries(factor, "a factor of low rank", 2).astype(base.dtype) for factor in (left, right))
        middle = entries(middle, "the middle of a term of low rank", np.ndim(middle)).astype(base.dtype)
        _check(base, left, middle, right, symmetric)
        self._base, self._symmetric_form = base, symmetric
        if symmetric:
            self._left, self._signs = _signed(left, middle)
            self._right = self._left
        else:
            self._left, self._right, self._middle = left, right, np.diag(middle) if middle.ndim == 1 else middle
        self._solved = base.solve(self._left)
        self._solved_right = self._solved if symmetric else base.solve_transposed(right)
        self._gram = self._right.T @ self._solved
        self._core = self._factorised_core()
        definite = symmetric and self._is_definite()
        rank = self._left.shape[1]
        super().__init__(
            base.size,
            base.dtype,
            symmetric=symmetric,
            method=f"{base.method} + rank {rank}",
            smallest_pivot=self._smallest_pivot(definite),
            positive_definite=definite,
        )

    def _factorised_core(self) -> Factorisation:
        """``H = E + G``, or ``I + S G``, judged by the terms that may have cancelled: sums of N products."""
        if self._symmetric_form:
            self._gram = (self._gram + self._gram.T) / 2
            constant, product = np.diag(self._signs), self._gram
        else:
            product = self._middle @ self._gram
            constant = np.eye(len(product), dtype=product.dtype)
        scale = 1 + np.abs(product).max(axis=1, initial=0)
        scale *= tolerance(self._base.size, product.dtype) / tolerance(max(len(product), 1), product.dtype)
        return factorise(constant + product, self._symmetric_form, scale)

    def _is_definite(self) -> bool:
        lost = self._core.inertia().positive - int(np.count_nonzero(self._signs > 0))
        if self._base.positive_definite or lost >= 0:
            return self._base.positive_definite and lost == 0
        try:
            return self._base.inertia().negative + lost == 0
        except LinearAlgebraError:
            return False

    def _smallest_pivot(self, definite: bool) -> float:
        """That of D, or a smaller ``xᵀ M x / xᵀ x`` for an x = D⁻¹ U w, which need D to be positive definite.

        The w are eigenvectors of ``G + G E G``, for which it is ``wᵀ (G + G E G) w / xᵀ x``. M is D on the vectors that
        U is orthogonal to, and these are orthogonal to all x in the product of M, so that only an x tells what is lost.
        """
        least = self._base.smallest_pivot
        if not self._symmetric_form or not self._base.positive_definite or (self._signs > 0).all():
            return least
        values, vectors = np.linalg.eigh(self._gram + self._gram @ (self._signs[:, None] * self._gram))
        lengths = np.sum((self._solved @ vectors) ** 2, axis=0)
        if not definite:
            return float(values[0] / lengths[0])
        independent = lengths > np.sqrt(np.finfo(lengths.dtype).eps) * lengths.max()
        return float(np.abs(values[independent] / lengths[independent]).min(initial=least))

    def _solve(self, rhs: Array) -> Array:
        inner = self._solved_right.T @ rhs
        inner = self._core.solve(inner if self._symmetric_form else self._middle @ inner)
        return np.asarray(self._base.solve(rhs) - self._solved @ inner)

    def _solve_transposed(self, rhs: Array) -> Array:
        if self.symmetric:
            return self._solve(rhs)
        inner = self._middle.T @ self._core.solve_transposed(self._solved.T @ rhs)
        return np.asarray(self._base.solve_transposed(rhs) - self._solved_right @ inner)

    def _slogdet(self) -> tuple[float, float]:
        (sign, result), (inner_sign, inner) = self._base.slogdet(), self._core.slogdet()
        if self._symmetric_form:
            inner_sign *= float(np.prod(self._signs))
        return sign * inner_sign, result + inner

    def _inertia(self) -> Inertia:
        base, core, signs = self._base.inertia(), self._core.inertia(), inertia_of(self._signs)
        positive = base.positive + core.negative - signs.negative
        negative = base.negative + core.positive - signs.positive
        return Inertia(positive, negative, self.size - positive - negative)

    @cached_property
    def _of_root(self) -> tuple[Array, Array]:
        """T of the root, and of its inverse transpose ``L⁻ᵀ + D⁻¹ U T' Uᵀ L⁻ᵀ`` the matrix T' = -(R + R²)⁻¹ E."""
        one = np.eye(len(self._gram), dtype=self.dtype)
        if (self._signs > 0).all():
            values, vectors = np.linalg.eigh(self._gram)
            roots = np.sqrt(1 + np.maximum(values, 0))
            return (vectors / (1 + roots)) @ vectors.T, -(vectors / (roots * (1 + roots))) @ vectors.T
        root = np.real(linear_algebra().sqrtm(one + self._signs[:, None] * self._gram)).astype(self.dtype)
        signs = np.diag(self._signs)
        return np.linalg.solve(one + root, signs), -np.linalg.solve(root + root @ root, signs)

    def _root(self, v: Array) -> Array:
        if not self._base.positive_definite:
            raise self._no_root(v)
        inner = self._of_root[0] @ (self._left.T @ self._base.root_solve_transposed(v))
        return np.asarray(self._base.root(v) + self._left @ inner)

    def _root_solve_transposed(self, v: Array) -> Array:
        if not self._base.positive_definite:
            raise self._no_root(v)
        found = self._base.root_solve_transposed(v)
        return np.asarray(found + self._solved @ (self._of_root[1] @ (self._left.T @ found)))


def _check(base: Factorisation, left: Array, middle: Array, right: Array, symmetric: bool) -> None:
    rank = left.shape[1]
    if left.shape != (base.size, rank) or right.shape != left.shape or middle.shape not in ((rank,), (rank, rank)):
        raise ShapeError(
            f"a term of low rank with factors of shapes {left.shape}, {middle.shape} and {right.shape} for a matrix of "
            f"shape ({base.size}, {base.size}): they have to be ({base.size}, r), (r,) or (r, r), and ({base.size}, r)"
        )
    if symmetric and not (base.symmetric and np.array_equal(left, right)):
        raise LinearAlgebraError("a symmetric update of low rank needs a symmetric base, and equal factors left, right")


def _signed(left: Array, middle: Array) -> tuple[Array, Array]:
    """Factors U and signs E with ``U E Uᵀ`` the given product; weights that are zero are left out."""
    if middle.ndim == 2:
        middle, vectors = np.linalg.eigh(middle)
        least = tolerance(len(middle), middle.dtype) * np.abs(middle).max(initial=0)
        middle = np.where(np.abs(middle) > least, middle, 0)
        left = left @ vectors
    kept = middle != 0
    return left[:, kept] * np.sqrt(np.abs(middle[kept])), np.sign(middle[kept])
