"""Bordered matrices: one part of the unknowns is eliminated, the rest has a Schur complement.

Owns this class. Imports NumPy and the base. Invariant: the border is only multiplied with, and may be anything that
can be.

E. V. Haynsworth, Determination of the inertia of a partitioned Hermitian matrix, Linear Algebra Appl. 1 (1968);
F. Zhang (ed.), *The Schur Complement and Its Applications* (2005), sections 1.1 and 1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.pivots import common_dtype, critical
from einsumad.errors import ShapeError

__all__ = ["Border", "Bordered"]

Product: TypeAlias = Callable[[Array], Array]


class Border(NamedTuple):
    """A rectangular matrix B of shape (p, q) as its products: ``times(v)`` is B v, ``transposed(v)`` is Bᵀ v.

    >>> Border.of(np.ones((1, 2))).transposed(np.array([[3.0]])).T
    array([[3., 3.]])
    """

    times: Product
    transposed: Product

    @classmethod
    def of(cls, matrix: Array) -> Border:
        """The border that is this matrix."""
        return cls(lambda v: matrix @ v, lambda v: matrix.T @ v)


class Bordered(Factorisation):
    """``[[A, B], [C, D]]`` by the factorisations of D, the eliminated part, and of ``S = A - B D⁻¹ C``.

    ``border`` is B, and ``lower`` is C; without it C is Bᵀ. The matrix acts on the rest followed by what is eliminated,
    or, with ``eliminated`` given, on a vector in which the latter stands at these places. The factorisation of S has to
    judge its pivots by the size of A: :func:`~einsumad.compressed.factorisations.factorise` takes it as ``scale``.

    For a symmetric matrix ``In M = In D + In S``, and with the roots of S and D that of M is

        [[L_S, B L_D⁻ᵀ], [0, L_D]].

    >>> from einsumad.compressed.factorisations import Diagonal
    >>> border = Border.of(np.array([[1.0, 1.0]]))
    >>> factor = Bordered(Diagonal(np.array([1.0, 1.0])), border, Diagonal(np.array([3.0 - 2.0])))
    >>> factor.solve(np.array([[4.0], [2.0], [2.0]])).T
    array([[0., 2., 2.]])
    """

    def __init__(
        self,
        inner: Factorisation,
        border: Border,
        schur: Factorisation,
        *,
        lower: Border | None = None,
        eliminated: Array | None = None,
    ) -> None:
        self._inner, self._schur = inner, schur
        self._upper, self._lower = border, lower or Border(border.transposed, border.times)
        size = inner.size + schur.size
        self._eliminated = np.arange(schur.size, size) if eliminated is None else np.asarray(eliminated)
        self._rest = np.setdiff1d(np.arange(size), self._eliminated)
        if self._eliminated.shape != (inner.size,) or len(self._rest) != schur.size:
            raise ShapeError(
                f"eliminated places of shape {self._eliminated.shape}: they have to be {inner.size} different numbers "
                f"below {size}"
            )
        symmetric = lower is None and inner.symmetric and schur.symmetric
        super().__init__(
            size,
            common_dtype([inner.dtype, schur.dtype]),
            symmetric=symmetric,
            method=f"Schur complement ({schur.method}) of ({inner.method})",
            smallest_pivot=critical(np.array([inner.smallest_pivot, schur.smallest_pivot]), symmetric),
            positive_definite=symmetric and inner.positive_definite and schur.positive_definite,
        )

    def _solve(self, rhs: Array) -> Array:
        return self._solved(rhs, self._schur.solve, self._inner.solve, self._upper.times, self._lower.times)

    def _solve_transposed(self, rhs: Array) -> Array:
        solves = self._schur.solve_transposed, self._inner.solve_transposed
        return self._solved(rhs, *solves, self._lower.transposed, self._upper.transposed)

    def _solved(self, rhs: Array, schur: Product, inner: Product, upper: Product, lower: Product) -> Array:
        right = rhs[self._eliminated]
        found = schur(rhs[self._rest] - upper(inner(right)))
        return self._joined(found, inner(right - lower(found)))

    def _slogdet(self) -> tuple[float, float]:
        (sign, result), (inner_sign, inner) = self._schur.slogdet(), self._inner.slogdet()
        return sign * inner_sign, result + inner

    def _inertia(self) -> Inertia:
        return Inertia(*map(sum, zip(self._schur.inertia(), self._inner.inertia(), strict=True)))

    def _root(self, v: Array) -> Array:
        inner = v[self._eliminated]
        rest = self._schur.root(v[self._rest]) + self._upper.times(self._inner.root_solve_transposed(inner))
        return self._joined(rest, self._inner.root(inner))

    def _root_solve_transposed(self, v: Array) -> Array:
        rest = self._schur.root_solve_transposed(v[self._rest])
        inner = self._inner.root_solve_transposed(v[self._eliminated])
        return self._joined(rest, inner - self._inner.solve(self._lower.times(rest)))

    def _joined(self, rest: Array, inner: Array) -> Array:
        result = np.empty((self.size, rest.shape[1]), self.dtype)
        result[self._rest], result[self._eliminated] = rest, inner
        return result
