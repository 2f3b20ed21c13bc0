"""Many small matrices at once, along the diagonal: the factorisations that work on the whole stack.

Owns these for stacks of shape (B, n, n). Imports NumPy. Invariant: the number of calls depends on n and not on B; the
inverses of triangular factors are stored, so that a solve is a product.

That inverses of triangular factors are as accurate as substitution: J. J. Du Croz and N. J. Higham, Stability of
methods for matrix inversion, IMA J. Numer. Anal. 12 (1992).
"""

from __future__ import annotations

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation, Inertia
from einsumad.compressed.factorisations.condition import require_condition, scalings
from einsumad.compressed.factorisations.pivots import critical, determinant, inertia_of, require_regular

__all__ = ["StackedCholesky", "StackedEigen", "StackedLU"]


class StackedCholesky(Factorisation):
    """``L Lᵀ`` of each block, given the blocks and their triangular factors, shape (B, n, n).

    >>> blocks = np.array([[[4.0]], [[9.0]]])
    >>> StackedCholesky(blocks, np.linalg.cholesky(blocks)).root(np.ones((2, 1))).T
    array([[2., 3.]])
    """

    def __init__(self, blocks: Array, factors: Array) -> None:
        self._factors = factors
        pivots = _diagonals(factors) ** 2
        method = _method("Cholesky", blocks)
        require_regular(pivots, _diagonals(blocks), blocks.shape[1], method)
        super().__init__(
            blocks.shape[0] * blocks.shape[1],
            blocks.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(pivots, True),
            positive_definite=True,
        )
        self._inverses = _inverse_of_lower(factors)
        scaled = self._inverses * np.sqrt(_diagonals(blocks))[:, None, :]
        norm = float(np.square(scaled).sum(axis=(1, 2)).max(initial=0))  # the trace of the scaled inverse
        require_condition(norm, blocks.dtype, self.smallest_pivot, method)

    def _solve(self, rhs: Array) -> Array:
        return _times(self._inverses.swapaxes(1, 2), _times(self._inverses, rhs))

    def _slogdet(self) -> tuple[float, float]:
        return 1.0, 2 * determinant(_diagonals(self._factors))[1]

    def _root(self, v: Array) -> Array:
        return _times(self._factors, v)

    def _root_solve_transposed(self, v: Array) -> Array:
        return _times(self._inverses.swapaxes(1, 2), v)


class StackedEigen(Factorisation):
    """``Q Λ Qᵀ`` of each block of a stack of symmetric matrices, shape (B, n, n).

    >>> StackedEigen(np.array([[[0.0, 1.0], [1.0, 0.0]]] * 3)).inertia()
    Inertia(positive=3, negative=3, zero=0)
    """

    def __init__(self, blocks: Array) -> None:
        self._values, self._vectors = np.linalg.eigh(blocks)
        method = _method("eigenvalues", blocks)
        scale = np.abs(self._values).max(axis=1, keepdims=True, initial=0)
        require_regular(self._values, np.broadcast_to(scale, self._values.shape), blocks.shape[1], method)
        super().__init__(
            self._values.size,
            blocks.dtype,
            symmetric=True,
            method=method,
            smallest_pivot=critical(self._values, True),
        )

    def _solve(self, rhs: Array) -> Array:
        inner = _times(self._vectors.swapaxes(1, 2), rhs) / self._values.reshape(-1, 1)
        return _times(self._vectors, inner)

    def _slogdet(self) -> tuple[float, float]:
        return determinant(self._values)

    def _inertia(self) -> Inertia:
        return inertia_of(self._values)


class StackedLU(Factorisation):
    """``P L U`` of each block of a stack, shape (B, n, n), by elimination with partial pivoting.

    >>> StackedLU(np.array([[[0.0, 1.0], [2.0, 0.0]]] * 2)).slogdet()[0]
    1.0
    """

    def __init__(self, blocks: Array) -> None:
        count, side, _ = blocks.shape
        lower, upper, self._order, self._sign = _eliminated(blocks)
        self._pivots = _diagonals(upper)
        sizes = np.abs(blocks)
        rows = np.take_along_axis(sizes.max(axis=2, initial=0), self._order, axis=1)
        method = _method("LU", blocks)
        require_regular(self._pivots, np.minimum(rows, sizes.max(axis=1, initial=0)), side, method)
        super().__init__(
            count * side,
            blocks.dtype,
            symmetric=False,
            method=method,
            smallest_pivot=critical(self._pivots, False),
        )
        self._lower = _inverse_of_lower(lower)
        self._upper = _inverse_of_lower(upper.swapaxes(1, 2)).swapaxes(1, 2)
        inverse = self._upper @ self._lower
        norms = []
        for left, right in scalings(sizes):
            scaled = right[:, :, None] * inverse * np.take_along_axis(left, self._order, axis=1)[:, None, :]
            norms.append(np.abs(scaled).sum(axis=1).max(axis=1, initial=0))
        norm = float(np.min(norms, axis=0).max(initial=0))
        require_condition(norm, blocks.dtype, self.smallest_pivot, method)
        self._order += side * np.arange(count)[:, None]

    def _solve(self, rhs: Array) -> Array:
        return _times(self._upper, _times(self._lower, rhs[self._order.ravel()]))

    def _solve_transposed(self, rhs: Array) -> Array:
        result = np.empty_like(rhs)
        result[self._order.ravel()] = _times(self._lower.swapaxes(1, 2), _times(self._upper.swapaxes(1, 2), rhs))
        return result

    def _slogdet(self) -> tuple[float, float]:
        return determinant(self._pivots, self._sign)


def _method(name: str, blocks: Array) -> str:
    return f"{name} of {len(blocks)} blocks {blocks.shape[1]}×{blocks.shape[2]}"


def _diagonals(stack: Array) -> Array:
    return np.diagonal(stack, axis1=1, axis2=2)


def _times(stack: Array, rhs: Array) -> Array:
    """The product of the block diagonal matrix and an array of shape (B n, m)."""
    count, side, _ = stack.shape
    return np.asarray((stack @ rhs.reshape(count, side, -1)).reshape(rhs.shape))


def _inverse_of_lower(stack: Array) -> Array:
    """The inverses of lower triangular matrices, row by row."""
    result = np.zeros_like(stack)
    for row in range(stack.shape[1]):
        result[:, row : row + 1, :row] = -(stack[:, row : row + 1, :row] @ result[:, :row, :row])
        result[:, row, row] = 1
        result[:, row] /= stack[:, row, row, None]
    return result


def _eliminated(blocks: Array) -> tuple[Array, Array, Array, float]:
    """The factors L and U of each block, the order of its rows, and the sign of all these orders together."""
    count, side, _ = blocks.shape
    work, every = blocks.copy(), np.arange(count)
    order = np.tile(np.arange(side), (count, 1))
    swaps = 0
    for step in range(side):
        chosen = step + np.abs(work[:, step:, step]).argmax(axis=1)
        swaps += int(np.count_nonzero(chosen != step))
        for array in (work, order):
            moved = array[every, chosen]
            array[every, chosen] = array[:, step]
            array[:, step] = moved
        pivot = work[:, step, step, None]
        work[:, step + 1 :, step] /= np.where(pivot == 0, 1, pivot)
        work[:, step + 1 :, step + 1 :] -= work[:, step + 1 :, step, None] * work[:, None, step, step + 1 :]
    lower = np.tril(work, -1) + np.eye(side, dtype=work.dtype)
    return lower, np.triu(work), order, (-1.0) ** (swaps % 2)
