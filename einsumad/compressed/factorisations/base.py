"""What every factorisation of a square matrix can do, and what it says about the matrix.

Owns the abstract classes and the checks of right-hand sides. Imports NumPy and the errors. Invariant: a factorisation
that exists is one of a matrix that is regular to working precision; it is never changed, results are new arrays of the
dtype of the matrix, and no operation makes the matrix dense.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["Array", "Delegating", "Factorisation", "Inertia"]

Array: TypeAlias = npt.NDArray[Any]


class Inertia(NamedTuple):
    """How many eigenvalues of a symmetric matrix are positive, negative and zero.

    >>> Inertia(2, 1, 0)
    Inertia(positive=2, negative=1, zero=0)
    """

    positive: int
    negative: int
    zero: int


class Factorisation(ABC):
    """A factorised matrix M of shape (N, N), dtype float32 or float64.

    ``size`` is N. ``symmetric`` says that M is declared symmetric. ``method`` is a short text. ``smallest_pivot`` is
    the pivot, or the eigenvalue, that is most negative or else nearest to zero (that of least modulus if M is not
    symmetric); it is infinite for N = 0. ``positive_definite`` is True if the factorisation shows that M is.

    Right-hand sides have shape (N, m) and are converted to the dtype of M. One of another shape raises ShapeError.

    >>> from einsumad.compressed.factorisations import Diagonal
    >>> factor = Diagonal(np.array([2.0, 4.0]))
    >>> factor.solve(np.array([[2.0], [2.0]])).T
    array([[1. , 0.5]])
    """

    def __init__(
        self,
        size: int,
        dtype: npt.DTypeLike,
        *,
        symmetric: bool,
        method: str,
        smallest_pivot: float,
        positive_definite: bool = False,
    ) -> None:
        self.size = size
        self.dtype = np.dtype(dtype)
        self.symmetric = symmetric
        self.method = method
        self.smallest_pivot = smallest_pivot
        self.positive_definite = positive_definite

    def __repr__(self) -> str:
        """Return the class, the shape and the method."""
        return f"<{type(self).__name__} of shape ({self.size}, {self.size}): {self.method}>"

    def solve(self, rhs: Array) -> Array:
        """The solution X, shape (N, m), of ``M X = rhs``."""
        rhs = self._checked(rhs)
        return self._solve(rhs) if rhs.size else rhs.copy()

    def solve_transposed(self, rhs: Array) -> Array:
        """The solution X, shape (N, m), of ``Mᵀ X = rhs``."""
        rhs = self._checked(rhs)
        return self._solve_transposed(rhs) if rhs.size else rhs.copy()

    def slogdet(self) -> tuple[float, float]:
        """The sign of the determinant of M, and the logarithm of its absolute value; (1, 0) for N = 0."""
        return self._slogdet() if self.size else (1.0, 0.0)

    def inertia(self) -> Inertia:
        """The numbers of positive, negative and zero eigenvalues, by Sylvester's law.

        Raises LinearAlgebraError if M is not symmetric, or if the method does not find them.
        """
        if not self.symmetric:
            raise LinearAlgebraError(
                f"the inertia of a matrix of shape ({self.size}, {self.size}) that is not symmetric: it is defined for "
                "symmetric matrices"
            )
        return Inertia(self.size, 0, 0) if self.positive_definite or not self.size else self._inertia()

    def root(self, v: Array) -> Array:
        """The product ``L v``, shape (N, m), for the root L of this factorisation: ``L Lᵀ = M``.

        Raises LinearAlgebraError if M is not positive definite.
        """
        self._require_definite()
        v = self._checked(v)
        return self._root(v) if v.size else v.copy()

    def root_solve_transposed(self, v: Array) -> Array:
        """The product ``L⁻ᵀ v``, shape (N, m): it has the covariance ``M⁻¹`` if the entries of v are independent.

        Raises LinearAlgebraError if M is not positive definite.
        """
        self._require_definite()
        v = self._checked(v)
        return self._root_solve_transposed(v) if v.size else v.copy()

    @abstractmethod
    def _solve(self, rhs: Array) -> Array:
        """Solve with M; the right-hand side is checked and has entries."""

    @abstractmethod
    def _slogdet(self) -> tuple[float, float]:
        """The sign and the logarithm for a matrix that has entries."""

    def _solve_transposed(self, rhs: Array) -> Array:
        """Solve with the transpose, which is the matrix itself in the classes of symmetric matrices."""
        return self._solve(rhs)

    def _inertia(self) -> Inertia:
        """The inertia of a symmetric matrix that is not known to be positive definite."""
        raise LinearAlgebraError(
            f"the inertia of a matrix of shape ({self.size}, {self.size}): the method {self.method!r} does not "
            "find it; a dense or block form does"
        )

    def _root(self, v: Array) -> Array:
        """The product ``L v`` for a positive definite matrix."""
        raise self._no_root(v)

    def _root_solve_transposed(self, v: Array) -> Array:
        """The product ``L⁻ᵀ v`` for a positive definite matrix."""
        raise self._no_root(v)

    def _no_root(self, v: Array) -> LinearAlgebraError:
        return LinearAlgebraError(
            f"the root of a matrix of shape ({self.size}, {self.size}) times an array of shape {v.shape}: the method "
            f"{self.method!r} has no root, although the matrix is positive definite; a dense or block form has one"
        )

    def _require_definite(self) -> None:
        if not self.positive_definite:
            raise LinearAlgebraError(
                f"the root of a matrix of shape ({self.size}, {self.size}) that is not found to be positive definite: "
                f"its smallest pivot is {self.smallest_pivot:.3g} ({self.method}); pass damping= to add a multiple of "
                "the identity"
            )

    def _checked(self, rhs: Array) -> Array:
        rhs = np.asarray(rhs)
        if rhs.ndim != 2 or len(rhs) != self.size:
            raise ShapeError(
                f"a right-hand side of shape {rhs.shape} for a matrix of shape ({self.size}, {self.size}): it needs "
                f"shape ({self.size}, m)"
            )
        if rhs.dtype.kind not in "biuf":
            raise LinearAlgebraError(f"a right-hand side of dtype {rhs.dtype}: it has to be real")
        return rhs.astype(self.dtype, copy=False)


class Delegating(Factorisation):
    """A factorisation that is another one: the base of classes that choose one, or that improve its solutions."""

    def __init__(self, inner: Factorisation, method: str | None = None) -> None:
        super().__init__(
            inner.size,
            inner.dtype,
            symmetric=inner.symmetric,
            method=method or inner.method,
            smallest_pivot=inner.smallest_pivot,
            positive_definite=inner.positive_definite,
        )
        self._inner = inner

    def _solve(self, rhs: Array) -> Array:
        return self._inner.solve(rhs)

    def _solve_transposed(self, rhs: Array) -> Array:
        return self._inner.solve_transposed(rhs)

    def _slogdet(self) -> tuple[float, float]:
        return self._inner.slogdet()

    def _inertia(self) -> Inertia:
        return self._inner.inertia()

    def _root(self, v: Array) -> Array:
        return self._inner.root(v)

    def _root_solve_transposed(self, v: Array) -> Array:
        return self._inner.root_solve_transposed(v)
