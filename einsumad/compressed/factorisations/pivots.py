"""What pivots say: whether a matrix is singular, its determinant and its inertia; and the checks of given entries.

Owns the rule for singularity and the text of its error. Imports NumPy, the errors and the base. Invariant: the rule
does not depend on the units of rows and columns where a factorisation can tell them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from einsumad.compressed.factorisations.base import Array, Inertia
from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["common_dtype", "critical", "determinant", "entries", "inertia_of", "require_regular", "square", "tolerance"]


def tolerance(terms: int, dtype: npt.DTypeLike) -> float:
    """The relative size below which a sum of so many products may be rounding alone.

    The bound is ``n eps``. Errors of random signs grow as the root of n, so it is ``10 √n eps`` for n above 100.

    N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed. (2002), sections 2.8 and 3.1.

    >>> float(tolerance(4, np.float64) / np.finfo(np.float64).eps)
    4.0
    """
    return float(np.finfo(dtype).eps) * min(terms, 10 * math.sqrt(terms))


def require_regular(pivots: Array, scale: Array, terms: int, method: str) -> None:
    """Raise LinearAlgebraError if one of the pivots is zero to working precision, relative to its own ``scale``.

    ``scale`` holds the size of the numbers that each pivot was computed from, and ``terms`` is how many these were.

    >>> require_regular(np.array([1.0, 1e-17]), np.ones(2), 2, "Cholesky 2×2")
    Traceback (most recent call last):
        ...
    einsumad.errors.LinearAlgebraError: the matrix is singular to working precision: its smallest pivot is 1e-17 ...
    """
    information = np.finfo(pivots.dtype)
    least = np.maximum(tolerance(terms, pivots.dtype) * scale, information.tiny)
    zero = ~(np.abs(pivots) > least) | ~np.isfinite(pivots)
    if zero.any():
        found = np.abs(pivots[zero])
        raise LinearAlgebraError(
            f"the matrix is singular to working precision: its smallest pivot is {pivots[zero][np.argmin(found)]:.3g} "
            f"({method}, {pivots.dtype}); pass damping= to add a multiple of the identity"
        )


def critical(pivots: Array, symmetric: bool) -> float:
    """The most negative or else the smallest pivot; that of least modulus if the matrix is not symmetric."""
    if not pivots.size:
        return math.inf
    return float(pivots.min() if symmetric else pivots.flat[np.argmin(np.abs(pivots))])


def determinant(pivots: Array, sign: float = 1.0) -> tuple[float, float]:
    """The sign and the logarithm of the modulus of a product of pivots, summed in double precision.

    >>> determinant(np.array([-1.0, 1.0]))
    (-1.0, 0.0)
    """
    negative = int(np.count_nonzero(pivots < 0))
    return sign * (-1.0) ** (negative % 2), float(np.log(np.abs(pivots).astype(np.float64)).sum())


def inertia_of(pivots: Array) -> Inertia:
    """The numbers of positive, negative and zero pivots."""
    positive, negative = int(np.count_nonzero(pivots > 0)), int(np.count_nonzero(pivots < 0))
    return Inertia(positive, negative, pivots.size - positive - negative)


def entries(array: Array, name: str, ndim: int) -> Array:
    """The array with a dtype that LAPACK knows: whole numbers become float64.

    Raises ShapeError for another number of axes, and LinearAlgebraError for other dtypes and entries not finite.
    """
    array = np.asarray(array)
    if array.ndim != ndim:
        raise ShapeError(f"{name} of shape {array.shape}: it needs {ndim} axes")
    if array.dtype.kind in "biu":
        array = array.astype(np.float64)
    common_dtype([array.dtype])
    if not np.isfinite(array).all():
        raise LinearAlgebraError(f"{name} of shape {array.shape} has entries that are not finite: NaN or infinity")
    return array


def square(array: Array, name: str, ndim: int = 2) -> Array:
    """The same for a matrix, or a stack of matrices, that has to be square."""
    array = entries(array, name, ndim)
    if array.shape[-1] != array.shape[-2]:
        raise ShapeError(f"{name} of shape {array.shape}: it has to be square")
    return array


def common_dtype(dtypes: Iterable[npt.DTypeLike]) -> np.dtype[np.floating]:
    """The dtype of a matrix that is made of such parts.

    Raises LinearAlgebraError if it is neither float32 nor float64.
    """
    dtype = np.result_type(*dtypes)
    if dtype not in (np.float32, np.float64):
        raise LinearAlgebraError(f"a matrix of dtype {dtype}: only float32 and float64 can be factorised; convert it")
    return dtype
