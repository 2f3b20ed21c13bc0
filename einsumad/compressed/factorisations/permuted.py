"""A factorised matrix whose rows and columns stand in another order of axes.

Owns this class. Imports NumPy and the base. Invariant: only right-hand sides and solutions are moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from einsumad.compressed.factorisations.base import Array, Delegating, Factorisation
from einsumad.errors import ShapeError

__all__ = ["Permuted"]


class Permuted(Delegating):
    """``Pᵀ inner P``: inner acts on the axes of another order.

    The matrix acts on the C order of axes of sizes ``shape``, inner on that of these axes transposed by ``order``.

    >>> from einsumad.compressed.factorisations import Diagonal
    >>> factor = Permuted(Diagonal(np.array([1.0, 2.0, 4.0, 8.0])), shape=(2, 2), order=(1, 0))
    >>> factor.solve(np.full((4, 1), 8.0)).T
    array([[8., 2., 4., 1.]])
    """

    def __init__(self, inner: Factorisation, shape: Sequence[int], order: Sequence[int]) -> None:
        if prod(shape) != inner.size or sorted(order) != list(range(len(shape))):
            raise ShapeError(
                f"axes of sizes {tuple(shape)} in the order {tuple(order)} for a matrix of shape "
                f"({inner.size}, {inner.size}): the sizes have to multiply to {inner.size}, and the order to name each "
                "axis once"
            )
        super().__init__(inner)
        self._shape, self._order = tuple(shape), tuple(order)

    def _solve(self, rhs: Array) -> Array:
        return self._moved(self._inner.solve, rhs)

    def _solve_transposed(self, rhs: Array) -> Array:
        return self._moved(self._inner.solve_transposed, rhs)

    def _root(self, v: Array) -> Array:
        return self._moved(self._inner.root, v)

    def _root_solve_transposed(self, v: Array) -> Array:
        return self._moved(self._inner.root_solve_transposed, v)

    def _moved(self, operate: Callable[[Array], Array], array: Array) -> Array:
        order = (*self._order, len(self._order))
        moved = array.reshape(*self._shape, array.shape[1]).transpose(order)
        found = operate(moved.reshape(array.shape)).reshape(moved.shape)
        return found.transpose(np.argsort(order)).reshape(array.shape)
