"""What square matrices in structure can do: systems, determinants, inertia, roots, quadratic forms.

Owns these operations for one tensor and for blocks of several variables alike. Imports the factorisations. Invariant:
what is computed belongs to the matrix as it is, or with the damping that was asked for; a factorisation is made once
and kept with its matrix.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from einsumad.compressed.loading import factorisations
from einsumad.compressed.systems import System
from einsumad.errors import LinearAlgebraError
from einsumad.planning import checked_limit

if TYPE_CHECKING:
    from einsumad.compressed.factorisations import Factorisation, Inertia

METHODS = ("auto", "cg")
_MOST_KEPT = 2
"""Factorisations that a matrix keeps, under different damping: each may be much larger than the matrix."""


class SquareMatrix(ABC):
    """A square matrix whose rows and columns are the entries of one or several arrays."""

    def __init__(self) -> None:
        self._factorised: OrderedDict[tuple[float, int | None], Factorisation] = OrderedDict()
        self._lock = threading.RLock()

    @abstractmethod
    def _system(self, what: str) -> System:
        """The matrix on flat vectors; refuses one that is not square, naming what needs it."""

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether the matrix is known to be symmetric: a Hessian, or one whose indices show it."""

    def __reduce__(self) -> Any:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: its structure refers to expressions of this process; pickle "
            "dense() or to_sparse()"
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def diagonal(self) -> Any:
        """The entries whose row and column are the same, in the shape (or tree) of the rows."""
        system = self._system("diagonal")
        return system.from_flat(system.diagonal(), ())

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self._system("trace").trace()

    def factorise(self, *, damping: float = 0.0, memory_limit: int | None = None) -> Factorisation:
        """The factorisation that the other methods use, of the matrix plus `damping` times the identity.

        It works on flat vectors, shape (N, m). ``method`` says in words what it is. Raises
        :class:`LinearAlgebraError` with the smallest pivot where the matrix is singular, and
        :class:`MemoryLimitError` before anything over the limit (default: the machine's memory) is computed.
        """
        system = self._system("factorise")
        key = (_checked_damping(damping), checked_limit(memory_limit))
        with self._lock:
            known = self._factorised.get(key)
        if known is None:
            known = system.factorise(*key)
            with self._lock:
                while len(self._factorised) >= _MOST_KEPT:
                    self._factorised.popitem(last=False)
                self._factorised[key] = known
        return known

    def solve(
        self,
        right: Any,
        *,
        damping: float = 0.0,
        definite: bool = False,
        method: str = "auto",
        tolerance: float | None = None,
        memory_limit: int | None = None,
    ) -> Any:
        """The solution of ``(H + damping · 1) x = right``, by the structure of H.

        `right` has the shape (or tree) of the rows; further axes behind are further right-hand sides. With `definite`
        a matrix that is not positive definite is refused, as Newton's method wants. ``method="cg"`` uses products
        only, down to a residual of `tolerance` (default: 1e-10, in float32 1e-5) times that of zero.

        Raises :class:`LinearAlgebraError` with the smallest pivot if the matrix is singular.
        """
        system = self._system("solve")
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        flat, extra = system.to_flat(right, "solve")
        if method == "cg":
            shift = flat.dtype.type(_checked_damping(damping))
            usual = 1e-10 if flat.dtype == np.float64 else 1e-5
            bound = usual if tolerance is None else _checked_tolerance(tolerance)

            def product(vector: np.ndarray) -> np.ndarray:
                return np.asarray(system.apply(vector) + shift * vector)

            most = 10 * max(10, len(flat))
            return system.from_flat(factorisations().conjugate_gradient(product, flat, bound, most), extra)
        found = self.factorise(damping=damping, memory_limit=memory_limit)
        if definite and not found.positive_definite:
            raise LinearAlgebraError(
                f"the matrix is not positive definite: its smallest pivot is {found.smallest_pivot:.3g} "
                f"({found.method}); pass damping= to add a multiple of the identity, or definite=False"
            )
        return system.from_flat(found.solve(flat), extra)

    def slogdet(self, *, damping: float = 0.0, memory_limit: int | None = None) -> tuple[float, float]:
        """The sign of the determinant, and the logarithm of its absolute value."""
        sign, value = self.factorise(damping=damping, memory_limit=memory_limit).slogdet()
        return float(sign), float(value)

    def logdet(self, *, damping: float = 0.0, memory_limit: int | None = None) -> float:
        """The logarithm of the determinant; a negative one raises :class:`LinearAlgebraError`: use :meth:`slogdet`."""
        sign, value = self.slogdet(damping=damping, memory_limit=memory_limit)
        if sign < 0:
            raise LinearAlgebraError(
                "the determinant is negative and has no real logarithm: use slogdet(), or pass damping= to add a "
                "multiple of the identity"
            )
        return value

    def inertia(self, *, damping: float = 0.0, memory_limit: int | None = None) -> Inertia:
        """How many eigenvalues are positive, negative and zero (a singular matrix raises)."""
        return self.factorise(damping=damping, memory_limit=memory_limit).inertia()

    def is_positive_definite(self, *, damping: float = 0.0, memory_limit: int | None = None) -> bool:
        """Whether the matrix is symmetric and positive definite; a singular one is not."""
        if not self.symmetric:
            return False
        try:
            return self.factorise(damping=damping, memory_limit=memory_limit).positive_definite
        except LinearAlgebraError:
            return False

    def quadratic(self, v: Any) -> Any:
        """``vᵀ H v``; further axes of `v` give one number each."""
        system = self._system("quadratic")
        flat, extra = system.to_flat(v, "quadratic")
        return np.sum(flat * system.apply(flat), axis=0).reshape(extra)[()]

    def sqrt_matvec(self, v: Any, *, damping: float = 0.0) -> Any:
        """``L v`` for some L with ``L Lᵀ = H``; raises :class:`LinearAlgebraError` unless H is positive definite."""
        system = self._system("sqrt_matvec")
        flat, extra = system.to_flat(v, "sqrt_matvec")
        return system.from_flat(self.factorise(damping=damping).root(flat), extra)

    def sqrt_solve(self, v: Any, *, damping: float = 0.0) -> Any:
        """``L⁻ᵀ v`` for the L of :meth:`sqrt_matvec`: of standard normal `v` a sample with covariance ``H⁻¹``."""
        system = self._system("sqrt_solve")
        flat, extra = system.to_flat(v, "sqrt_solve")
        return system.from_flat(self.factorise(damping=damping).root_solve_transposed(flat), extra)


def _checked_damping(damping: Any) -> float:
    if not _is_real(damping) or not isfinite(damping):
        raise ValueError(f"damping must be a finite number, got {damping!r}")
    return float(damping)


def _checked_tolerance(tolerance: Any) -> float:
    if not _is_real(tolerance) or not 0 < tolerance < 1:
        raise ValueError(f"tolerance must be a number between 0 and 1, got {tolerance!r}")
    return float(tolerance)


def _is_real(number: Any) -> bool:
    return not isinstance(number, str) and np.ndim(number) == 0 and np.asarray(number).dtype.kind in "fiu"
