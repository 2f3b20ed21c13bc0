"""Inverses, solutions, determinants, and what is declared of matrices.

Owns these kernels. Imports the place. Invariant: a matrix without an inverse is an error of the library where it raises
one, and NaN where it does not; nothing is read back from a device to find out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import nan
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, TracingError
from einsumad.execution.backends.array_library import Array, Home
from einsumad.execution.backends.reductions import product_of_others
from einsumad.functions.general.declared import CHECKED


def _turned(home: Home, a: Array) -> Array:
    return home.xp.matrix_transpose(a)


def inverse(home: Home, a: Array, hint: str | int = 0) -> Array:
    """The inverses; of singular matrices NaN if the parameter is a number but 0. What is declared changes no value."""
    if hint == 2:
        return _inverse_of_triangular(home, a)
    return _or_nan(home, home.xp.linalg.inv, a, bool(isinstance(hint, int) and hint))


def _or_nan(home: Home, solve: Callable[..., Array], a: Array, quiet: bool, *others: Array) -> Array:
    """What `solve` gives, NaN for matrices of which it is not finite, or which raise, if that is wanted."""
    if not quiet:
        return solve(a, *others)
    xp, dtype = home.xp, home.array_library.dtype_of(a)
    try:
        found = solve(a, *others)
    except home.array_library.failures:
        if a.ndim == 2:
            return home.full(tuple((others or (a,))[0].shape), nan, dtype)
        parts = [
            _or_nan(home, solve, a[k, ...], quiet, *[other[k, ...] for other in others]) for k in range(a.shape[0])
        ]
        return xp.stack(parts)
    finite = xp.all(xp.isfinite(found), axis=(-2, -1), keepdims=True)
    return home.where(finite, found, nan, dtype)


def _inverse_of_triangular(home: Home, a: Array) -> Array:
    """NaN where a triangular matrix is singular to rounding."""
    xp, dtype, size = home.xp, home.array_library.dtype_of(a), a.shape[-1]
    if not size:
        return a
    pivots = xp.abs(xp.linalg.diagonal(a))
    rounding = 10 * size * float(np.finfo(dtype).eps) * xp.max(xp.abs(a), axis=(-2, -1))
    singular = xp.logical_not(xp.all(pivots > rounding[..., None], axis=-1))[..., None, None]
    return home.where(singular, nan, xp.linalg.inv(home.where(singular, home.eye(size, dtype), a, dtype)), dtype)


def solve(home: Home, a: Array, b: Array, hint: str | int = 0) -> Array:
    """The solutions of ``A X = B``; with a singular matrix NaN if the parameter is 1."""
    return _or_nan(home, home.xp.linalg.solve, a, bool(isinstance(hint, int) and hint), b)


def solve_triangular(home: Home, a: Array, b: Array, *options: int) -> Array:
    """The solutions with one triangle of A, the lower one and with ones on the diagonal if asked; or NaN."""
    lower, unit_diagonal, quiet = (*options, 0)[:3]
    xp, size, dtype = home.xp, a.shape[-1], home.array_library.dtype_of(a)
    matrix = xp.tril(a) if lower else xp.triu(a)
    if unit_diagonal:
        eye = home.eye(size, np.dtype(bool))
        matrix = home.where(eye, 1.0, matrix, dtype)
    return _or_nan(home, xp.linalg.solve, matrix, bool(quiet), b)


def inverse_triangular(home: Home, a: Array, *options: int) -> Array:
    """The inverse of one triangle of A."""
    identity = home.xp.broadcast_to(home.eye(a.shape[-1], home.array_library.dtype_of(a)), a.shape)
    return solve_triangular(home, a, identity, *options)


def determinant(home: Home, a: Array) -> Array:
    """The determinants."""
    return home.xp.linalg.det(a)


def sign_determinant(home: Home, a: Array) -> Array:
    """Their signs."""
    return home.xp.linalg.slogdet(a)[0]


def log_absolute_determinant(home: Home, a: Array) -> Array:
    """The logarithms of their absolute values."""
    return home.xp.linalg.slogdet(a)[1]


def log_determinant(home: Home, a: Array, *_hint: str) -> Array:
    """Their logarithms, NaN where they are negative."""
    sign, value = home.xp.linalg.slogdet(a)
    return home.where(sign < 0, nan, value, home.array_library.dtype_of(a))


def determinant_minors(home: Home, a: Array, order: int) -> Array:
    """Signed minors from the singular values: see :func:`einsumad.functions.general.kernels.determinant_minors`."""
    xp, dtype, size = home.xp, home.array_library.dtype_of(a), a.shape[-1]
    batch = a.ndim - 2
    finite = xp.all(xp.isfinite(a), axis=(-2, -1), keepdims=True)
    u, s, vt = xp.linalg.svd(home.where(finite, a, home.eye(size, dtype), dtype), full_matrices=True)
    sign = xp.sign(xp.linalg.det(u)) * xp.sign(xp.linalg.det(vt))
    core = product_of_others(home, s, order)
    pair = u[..., :, None, :] * _turned(home, vt)[..., None, :, :]
    matrix = xp.reshape(pair, (*a.shape[:-2], size * size, size))
    for done in range(order):
        rest = xp.reshape(core, (*a.shape[:-2], size, size ** (order - 1 - done) * size ** (2 * done)))
        core = _turned(home, xp.matmul(matrix, rest))
    ordered = xp.reshape(core, (*a.shape[:-2], *(size,) * (2 * order)))
    result: Any = None
    for permutation in permutations(range(order)):
        axes = [*range(batch)]
        for position, image in enumerate(permutation):
            axes += [batch + 2 * position, batch + 2 * image + 1]
        term = _parity(permutation) * xp.permute_dims(ordered, tuple(axes))
        result = term if result is None else result + term
    shape = (*a.shape[:-2], *[1] * (2 * order))
    return home.where(xp.reshape(finite, shape), result * xp.reshape(sign, shape), nan, dtype)


def _parity(permutation: tuple[int, ...]) -> int:
    inversions = sum(a > b for k, a in enumerate(permutation) for b in permutation[k + 1 :])
    return -1 if inversions % 2 else 1


def mirrored(home: Home, a: Array, upper: int) -> Array:
    """The symmetric matrix of one triangle; with the parameter 2 that of a matrix that is symmetric already."""
    xp, dtype = home.xp, home.array_library.dtype_of(a)
    if upper == 2:
        apart, size = (_largest(home, part) for part in (a - _turned(home, a), a))
        tolerance = 100 * float(np.finfo(dtype).eps) * a.shape[-1] * size
        mean = 0.5 * (a + _turned(home, a))
        return _checked(home, apart > tolerance, mean, np.linalg.LinAlgError(_NOT_SYMMETRIC))
    read = _turned(home, a) if upper else a
    below = home.constant(np.tri(a.shape[-1], dtype=bool))
    return xp.where(below, read, _turned(home, read))


_NOT_SYMMETRIC = "a matrix is not symmetric where it has to be: give (A + A.T) / 2"


def _largest(home: Home, a: Array) -> Array:
    """The largest entry of each matrix, by its absolute value."""
    if not a.shape[-1]:
        return home.full((*a.shape[:-2], 1, 1), 0.0, home.array_library.dtype_of(a))
    return home.xp.max(home.xp.abs(a), axis=(-2, -1), keepdims=True)


def _checked(home: Home, wrong: Array, value: Array, error: Exception) -> Array:
    """The value; the error where something is wrong and that can be seen at once, NaN where it cannot."""
    if home.on_host and not home.array_library.is_abstract(wrong):
        if bool(home.xp.any(wrong)):
            raise error
        return value
    return home.where(wrong, nan, value, home.array_library.dtype_of(value))


def one_if_symmetric(home: Home, a: Array) -> Array:
    """1 for each matrix that is symmetric."""
    dtype = home.array_library.dtype_of(a)
    tolerance = float(np.sqrt(np.finfo(dtype).eps)) * _largest(home, a)
    wrong = (_largest(home, a - _turned(home, a)) > tolerance)[..., 0, 0]
    error = DifferentiationError(
        "cholesky, eigh and their kin read one triangle of a matrix, and their derivative is that on symmetric "
        "matrices, but this matrix is not symmetric: give them A = (B + B.T) / 2"
    )
    return _checked(home, wrong, home.full(tuple(a.shape[:-2]), 1.0, dtype), error)


def triangle_weights(home: Home, a: Array, below: float, on: float, above: float) -> Array:
    """One number below, on and above the diagonal."""
    rows, columns = a.shape[-2:]
    place = np.arange(rows)[:, None] - np.arange(columns)
    weights = np.where(place > 0, below, np.where(place < 0, above, on))
    return home.constant(weights.astype(home.array_library.dtype_of(a)))


def cholesky(home: Home, a: Array) -> Array:
    """The lower triangular factors."""
    return home.xp.linalg.cholesky(a)


def declared(home: Home, a: Array, *facts: str) -> Array:
    """The nearest matrix of the declared kind. Declarations are not checked here."""
    if CHECKED in facts:
        raise TracingError(
            f"declarations of arrays of {home.array_library.name} are not checked: leave check=True out, or check them "
            "on NumPy arrays"
        )
    if "diagonal" in facts:
        return home.where(home.eye(a.shape[-1], np.dtype(bool)), a, 0.0, home.array_library.dtype_of(a))
    return a if "orthogonal" in facts else 0.5 * a + 0.5 * _turned(home, a)


KERNELS: dict[str, Callable[..., Any]] = {
    "cholesky": cholesky,
    "declared": declared,
    "determinant": determinant,
    "determinant_minors": determinant_minors,
    "inverse": inverse,
    "inverse_triangular": inverse_triangular,
    "logabsdet": log_absolute_determinant,
    "logdet": log_determinant,
    "mirrored": mirrored,
    "one_if_symmetric": one_if_symmetric,
    "sign_determinant": sign_determinant,
    "solve": solve,
    "solve_triangular": solve_triangular,
    "triangle_weights": triangle_weights,
}
