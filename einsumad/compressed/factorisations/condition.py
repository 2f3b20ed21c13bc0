"""How near to singular a matrix is, whatever the units of its rows and columns.

Owns the estimate of the norm of an inverse, and the bound below which a matrix counts as singular. Imports NumPy and
the errors. Invariant: estimates are made from solutions with the factors that are there, the same in every run.

A pivot alone does not tell: in a matrix that has a null vector with a small last entry no pivot is small. With rows and
columns scaled so that the diagonal, or the largest entry of each row, is one, rounding leaves the inverse of a singular
matrix a norm of the order of 1/eps.

W. W. Hager, Condition estimates, SIAM J. Sci. Stat. Comput. 5 (1984); N. J. Higham, *Accuracy and Stability of
Numerical Algorithms*, 2nd ed. (2002), sections 7.3 and 15.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from einsumad.compressed.factorisations.base import Array
from einsumad.errors import LinearAlgebraError

__all__ = ["inverse_norm", "require_condition", "scalings"]

_BOUND = 16
_MOST_STEPS = 5
_MOST_SCALINGS = 12


def require_condition(norm: float, dtype: np.dtype, pivot: float, method: str) -> None:
    """Raise LinearAlgebraError if the inverse of the scaled matrix has a norm that rounding alone explains.

    >>> require_condition(1e17, np.dtype(float), 1e-9, "Cholesky 2×2")
    Traceback (most recent call last):
        ...
    einsumad.errors.LinearAlgebraError: the matrix is singular to working precision: ...
    """
    if not norm * _BOUND * float(np.finfo(dtype).eps) < 1:
        raise LinearAlgebraError(
            "the matrix is singular to working precision: with its rows and columns scaled to one its inverse has the "
            f"norm {norm:.1g}, and its smallest pivot is {pivot:.3g} ({method}, {np.dtype(dtype)}); pass damping= to "
            "add a multiple of the identity"
        )


def scalings(sizes: Array) -> Iterator[tuple[Array, Array]]:
    """Sizes r and c of rows and columns, shape (..., n), with the largest of each in ``sizes / (r c)`` about one.

    There are many. Given are that which scales the rows first, that which scales the columns first, and Ruiz's, which
    takes turns. The matrix is regular if it is well conditioned under one of them.

    D. Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, Rutherford Appleton Laboratory
    RAL-TR-2001-034 (2001).

    >>> rows, columns = next(scalings(np.array([[1e20, 2e20], [1.0, 3.0]])))
    >>> rows, columns.round(2)
    (array([2.e+20, 3.e+00]), array([0.5, 1. ]))
    """

    def largest(matrix: Array, axis: int) -> Array:
        found = matrix.max(axis=axis, initial=0)
        return np.where(found > 0, found, 1).astype(sizes.dtype)

    rows, columns = largest(sizes, -1), largest(sizes, -2)
    yield rows, largest(sizes / rows[..., :, None], -2)
    yield largest(sizes / columns[..., None, :], -1), columns
    left, right = np.ones_like(rows), np.ones_like(columns)
    for _ in range(_MOST_SCALINGS):
        scaled = sizes / left[..., :, None] / right[..., None, :]
        left, right = left * np.sqrt(largest(scaled, -1)), right * np.sqrt(largest(scaled, -2))
    yield left, right


def inverse_norm(
    solve: Callable[[Array], Array], transposed: Callable[[Array], Array], left: Array, right: Array
) -> float:
    """A lower bound, nearly always sharp, of the 1-norm of ``diag(right) A⁻¹ diag(left)``, from solutions with A.

    >>> matrix = np.array([[2.0, 0.0], [0.0, 4.0]])
    >>> invert = lambda v: np.linalg.solve(matrix, v)
    >>> inverse_norm(invert, invert, np.ones(2), np.ones(2))
    0.5
    """
    size = len(left)
    if not size:
        return 0.0
    left, right = left.reshape(-1, 1), right.reshape(-1, 1)
    vector = np.full((size, 1), 1 / size, left.dtype)
    norm = 0.0
    with np.errstate(all="ignore"):
        for _ in range(_MOST_STEPS):
            image = right * solve(left * vector)
            norm = max(norm, float(np.abs(image).sum()))
            slope = left * transposed(right * np.where(image < 0, -1, 1).astype(left.dtype))
            place = int(np.abs(slope).argmax())
            if not np.isfinite(norm) or not abs(float(slope[place, 0])) > float(slope[:, 0] @ vector[:, 0]):
                break
            vector = np.zeros_like(vector)
            vector[place] = 1
        steps = np.arange(size) / max(1, size - 1)
        wave = ((1 + steps) * (-1.0) ** np.arange(size)).reshape(-1, 1).astype(left.dtype)
        other = 2 * float(np.abs(right * solve(left * wave)).sum()) / (3 * size)
    return np.inf if np.isnan(norm + other) else max(norm, other)
