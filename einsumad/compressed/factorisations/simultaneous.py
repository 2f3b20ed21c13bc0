"""Pairs of symmetric matrices that one congruence makes diagonal, and the sum of two Kronecker products of such pairs.

Owns this factorisation. Imports NumPy, and SciPy when it is made. Invariant: a pair is diagonalised through a
combination of its two matrices that is positive definite.

G. H. Golub and C. F. Van Loan, *Matrix Computations*, 4th ed. (2013), section 8.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.kronecker import along_axes
from einsumad.compressed.factorisations.pivots import critical, determinant, inertia_of, require_regular, tolerance
from einsumad.compressed.libraries import lapack, linear_algebra

__all__ = ["Simultaneous", "definite_combination"]

_COMBINATIONS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
"""The signs with which the two matrices are tried: each alone, then the sum and the difference of both."""


def definite_combination(first: Array, second: Array) -> tuple[float, float] | None:
    """Numbers a and b for which ``a first + b second`` is positive definite, if some that are tried are.

    >>> definite_combination(np.diag([1.0, -1.0]), np.eye(2))
    (0.0, 1.0)
    """
    least, found = tolerance(len(first), first.dtype), None
    sizes = [np.abs(matrix).max(initial=0) or 1.0 for matrix in (first, second)]
    for signs in _COMBINATIONS:
        if found and all(signs):
            break
        a, b = (sign / size if all(signs) else sign for sign, size in zip(signs, sizes, strict=True))
        matrix = a * first + b * second
        if not matrix.size:
            return 0.0, 1.0
        factor, stopped = lapack("potrf", matrix)(matrix, lower=1)
        smallest = 0 if stopped else float((np.diagonal(factor) ** 2 / np.diagonal(matrix)).min())
        if smallest > least:
            least, found = smallest, (float(a), float(b))
    return found


class _Pair(NamedTuple):
    """``vectorsᵀ first vectors = diag(first)``, the same for second, and the inverse transpose of the vectors."""

    vectors: Array
    inverse: Array
    first: Array
    second: Array


class Simultaneous(Factorisation):
    """``A1 ⊗ B1 ⊗ … + A2 ⊗ B2 ⊗ … = C D Cᵀ`` with C a Kronecker product and D diagonal.

    ``first`` and ``second`` list symmetric matrices of equal shapes (n, n), and ``combinations`` what
    :func:`definite_combination` finds for each pair.

    >>> one, two = np.diag([1.0, 3.0]), np.eye(2)
    >>> Simultaneous([one, two], [two, one], [(0.0, 1.0), (1.0, 0.0)]).inertia()
    Inertia(positive=4, negative=0, zero=0)
    """

    def __init__(
        self, first: Sequence[Array], second: Sequence[Array], combinations: Sequence[tuple[float, float]]
    ) -> None:
        self._pairs = [_diagonalised(*pair) for pair in zip(first, second, combinations, strict=True)]
        self._sizes = [len(matrix) for matrix in first]
        outer = np.multiply.outer
        values = reduce(outer, [pair.first for pair in self._pairs]) + reduce(outer, [p.second for p in self._pairs])
        self._values = values.reshape(-1, 1)
        method = "simultaneous diagonalisation " + " ⊗ ".join(f"{size}×{size}" for size in self._sizes)
        scale = np.full_like(self._values, np.abs(self._values).max(initial=0))
        require_regular(self._values, scale, max(self._sizes), method)
        super().__init__(
            self._values.size,
            self._values.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(self._values, True),
            positive_definite=bool((self._values > 0).all()),
        )

    def _solve(self, rhs: Array) -> Array:
        inner = self._each([pair.vectors.T for pair in self._pairs], rhs) / self._values
        return self._each([pair.vectors for pair in self._pairs], inner)

    def _slogdet(self) -> tuple[float, float]:
        sign, result = determinant(self._values)
        for pair, size in zip(self._pairs, self._sizes, strict=True):
            result -= 2 * (self.size // size) * float(np.linalg.slogdet(pair.vectors.astype(np.float64))[1])
        return sign, result

    def _inertia(self) -> Inertia:
        return inertia_of(self._values)

    def _root(self, v: Array) -> Array:
        return self._each([pair.inverse for pair in self._pairs], np.sqrt(self._values) * v)

    def _root_solve_transposed(self, v: Array) -> Array:
        return self._each([pair.vectors for pair in self._pairs], v / np.sqrt(self._values))

    def _each(self, matrices: Sequence[Array], array: Array) -> Array:
        return along_axes([matrix.__matmul__ for matrix in matrices], self._sizes, array)


def _diagonalised(first: Array, second: Array, combination: tuple[float, float]) -> _Pair:
    if not first.size:
        return _Pair(first, first, first.ravel(), first.ravel())
    a, b = combination
    definite = (a * first + b * second).astype(first.dtype)
    values, vectors = linear_algebra().eigh(first if b else second, definite, check_finite=False)
    others = ((1 - a * values) / b if b else np.full_like(values, 1 / a)).astype(values.dtype)
    return _Pair(vectors, definite @ vectors, *((values, others) if b else (others, values)))
