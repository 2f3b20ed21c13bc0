"""Kronecker products of factorised matrices.

Owns this class. Imports NumPy and the base. Invariant: a part is applied along its own axis, and an identity is never
applied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.diagonal import Identity
from einsumad.compressed.factorisations.pivots import common_dtype
from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["Kronecker", "along_axes"]


def along_axes(operators: Sequence[Callable[[Array], Array] | None], sizes: Sequence[int], array: Array) -> Array:
    """Apply operator k, an (n, p) to (n, p) function, along axis k of an array (N, m) of the C order of ``sizes``.

    None stands for the identity; with nothing else in the list the array itself comes back.

    >>> along_axes([None, lambda v: v[::-1]], [2, 2], np.arange(4.0).reshape(4, 1)).T
    array([[1., 0., 3., 2.]])
    """
    current = array.reshape(*sizes, array.shape[1])
    for axis, operate in enumerate(operators):
        if operate is not None:
            moved = np.moveaxis(current, axis, 0)
            found = operate(moved.reshape(len(moved), -1))
            current = np.moveaxis(found.reshape(moved.shape), 0, axis)
    return current.reshape(array.shape)


class Kronecker(Factorisation):
    """``M1 ⊗ M2 ⊗ …``, acting on the C order of one axis for each part.

    The determinant is the product of the determinants to the powers ``N / n``; the eigenvalues are the products of
    those of the parts. There is a root if each part has one. ``smallest_pivot`` is the product of those of the parts,
    or of the worst part if they are not all positive definite.

    C. F. Van Loan, The ubiquitous Kronecker product, J. Comput. Appl. Math. 123 (2000).

    >>> from einsumad.compressed.factorisations import Diagonal
    >>> both = Kronecker([Identity(2, np.float64), Diagonal(np.array([1.0, -2.0]))])
    >>> both.solve(np.ones((4, 1))).T, both.inertia()
    (array([[ 1. , -0.5,  1. , -0.5]]), Inertia(positive=2, negative=2, zero=0))
    """

    def __init__(self, parts: Sequence[Factorisation]) -> None:
        if not parts:
            raise ShapeError("a Kronecker product of no matrices: it needs one at least")
        self._parts = tuple(parts)
        self._sizes = tuple(part.size for part in parts)
        self._rooted = all(part.positive_definite for part in parts)
        symmetric = all(part.symmetric for part in parts)
        pivots = [part.smallest_pivot for part in parts if self._rooted or not part.positive_definite]
        size = prod(self._sizes)
        super().__init__(
            size,
            common_dtype(part.dtype for part in parts),
            symmetric=symmetric,
            method=" ⊗ ".join(_in_product(part.method) for part in parts),
            smallest_pivot=np.inf if not size else prod(pivots) if self._rooted else min(pivots, key=_badness),
            positive_definite=symmetric and (not size or self._rooted or _signs_cancel(parts)),
        )

    def _solve(self, rhs: Array) -> Array:
        return self._each([part.solve for part in self._parts], rhs)

    def _solve_transposed(self, rhs: Array) -> Array:
        return self._each([part.solve_transposed for part in self._parts], rhs)

    def _slogdet(self) -> tuple[float, float]:
        result_sign, result = 1.0, 0.0
        for part in self._parts:
            sign, logarithm = part.slogdet()
            times = self.size // part.size
            result_sign *= sign if times % 2 else 1.0
            result += times * logarithm
        return result_sign, result

    def _inertia(self) -> Inertia:
        positive, negative = 1, 0
        for part in self._parts:
            found = part.inertia()
            positive, negative = (
                positive * found.positive + negative * found.negative,
                positive * found.negative + negative * found.positive,
            )
        return Inertia(positive, negative, self.size - positive - negative)

    def _root(self, v: Array) -> Array:
        if not self._rooted:
            raise self._no_root(v)
        return self._each([part.root for part in self._parts], v)

    def _root_solve_transposed(self, v: Array) -> Array:
        if not self._rooted:
            raise self._no_root(v)
        return self._each([part.root_solve_transposed for part in self._parts], v)

    def _each(self, operators: Sequence[Callable[[Array], Array]], array: Array) -> Array:
        applied = [
            None if isinstance(part, Identity) else operate
            for part, operate in zip(self._parts, operators, strict=True)
        ]
        result = along_axes(applied, self._sizes, array).astype(self.dtype, copy=False)
        return result.copy() if np.may_share_memory(result, array) else result


def _in_product(method: str) -> str:
    return f"({method})" if any(sign in method for sign in "⊕+") else method


def _badness(pivot: float) -> float:
    """Negative pivots come first, then those near zero."""
    return pivot if pivot <= 0 else abs(pivot)


def _signs_cancel(parts: Sequence[Factorisation]) -> bool:
    """Whether all parts are definite, an even number of them negative."""
    others = [part for part in parts if not part.positive_definite]
    if len(others) % 2:
        return False
    try:
        return all(part.inertia().negative == part.size for part in others)
    except LinearAlgebraError:
        return False
