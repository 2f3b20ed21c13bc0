"""Inverse, solve and log-determinant, by Cholesky's factors where matrices are said to be positive definite.

Owns these kernels. Imports NumPy, and SciPy when the first positive definite matrix is met. Invariant: with and without
the hint the kernels are the same functions of all matrices; the hint only matters for matrices that are symmetric.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from einsumad.errors import DeclarationError
from einsumad.functions.general import kernels

Array = np.ndarray[Any, Any]
POSITIVE = ("positive",)
"""The parameter of a row whose operand is positive definite."""


def _is_symmetric(matrix: Array) -> bool:
    return bool(np.array_equal(matrix, np.swapaxes(matrix, -1, -2)))


def _refusal() -> DeclarationError:
    return DeclarationError(
        "a matrix declared positive definite is not: Cholesky's factorisation met a pivot that is not positive"
    )


def solve(matrix: Array, right: Array, *hint: str | int) -> Array:
    """The solutions X of ``A[b] X[b] = B[b]``; a number says what becomes of singular matrices."""
    if hint and isinstance(hint[0], int):
        return kernels.solve(matrix, right, hint[0])
    if not (hint and right.size and _is_symmetric(matrix)):
        return np.linalg.solve(matrix, right)
    linalg = importlib.import_module("scipy.linalg")
    found = np.empty(right.shape, right.dtype)
    for place in np.ndindex(matrix.shape[:-2]):
        try:
            factor = linalg.cho_factor(matrix[place], lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise _refusal() from None
        found[place] = linalg.cho_solve(factor, right[place], check_finite=False)
    return found


def inverse(matrix: Array, hint: str | int = 0) -> Array:
    """The inverses of ``A[b]``; a number says what becomes of singular ones: see :func:`kernels.inverse`."""
    if isinstance(hint, int):
        return kernels.inverse(matrix, hint)
    identity = np.broadcast_to(np.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)
    return solve(matrix, identity, hint)


def log_determinant(matrix: Array, *hint: str) -> Array:
    """``log det A[b]``, NaN where the determinant is negative; with a hint ``2 Σ log L[i,i]``."""
    if not (hint and _is_symmetric(matrix)):
        return kernels.log_determinant(matrix)
    try:
        factors = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise _refusal() from None
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    return np.asarray(2 * np.sum(np.log(diagonal), axis=-1, dtype=matrix.dtype))
