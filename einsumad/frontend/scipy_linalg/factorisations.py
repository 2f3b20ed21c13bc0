"""Cholesky, eigenvalues, singular values, QR, pseudo-inverses, least squares, and what is made of them.

Owns these functions. Imports the reading of matrices. Invariant: they are calls of NumPy's functions on traced values,
with SciPy's defaults: Cholesky and the eigenvalues read the triangle that SciPy reads.
"""

# ruff: noqa: ARG001, PLR0917 (functions have SciPy's signatures)
from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.scipy_linalg.dispatch import (
    choice,
    floating,
    in_common,
    matrices,
    rectangular,
    refuse,
    supports_tracing,
)
from einsumad.frontend.scipy_linalg.equations import solve_triangular
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node

_Side: TypeAlias = Literal["L", "U"]


def _rectangular(name: str, a: Any) -> Tensor:
    return Tensor(rectangular(name, a))


def _transposed(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


@supports_tracing
def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The upper factor, or the lower one, of the matrix whose triangle on that side is read."""
    matrix: Any = Tensor(matrices("cholesky", a))
    return np.linalg.cholesky(matrix) if lower else _transposed(np.linalg.cholesky(_transposed(matrix)))


@supports_tracing
def cho_factor(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The factor and its side, for `cho_solve`; where SciPy leaves what was there the other triangle is zero."""
    return cholesky(Tensor(matrices("cho_factor", a)), lower), bool(lower)


@supports_tracing
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    eigvals_only: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,  # noqa: A002
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """Eigenvalues and -vectors of symmetric matrices, also ``A v = w B v`` with B positive definite.

    The general problem is that of ``inv(L) A inv(L)^T`` with ``B = L L^T`` (Golub and Van Loan, section 8.7.2).
    """
    refuse("eigh", {"type": type, "subset_by_value": subset_by_value}, type=1, subset_by_value=None)
    side: _Side = "L" if lower else "U"
    found = _eigh(matrices("eigh", a), None if b is None else matrices("eigh", b), side, bool(eigvals_only))
    part = slice(None) if subset_by_index is None else _subset(subset_by_index)
    if eigvals_only:
        return found[..., part]
    values, vectors = found
    return values[..., part], vectors[..., part]


def _subset(ends: Any) -> slice:
    first, last = (int(end) for end in ends)
    return slice(first, last + 1)


def _eigh(a: Node, b: Node | None, side: _Side, values_only: bool) -> Any:
    if b is None:
        matrix: Any = Tensor(a)
        return np.linalg.eigvalsh(matrix, side) if values_only else np.linalg.eigh(matrix, side)
    a, b = in_common(a, b)
    factor = cholesky(Tensor(b), lower=side == "L")
    lower: Any = factor if side == "L" else _transposed(factor)
    matrix = _mirrored(Tensor(a), side)
    half = solve_triangular(lower, matrix, lower=True)
    reduced = _transposed(solve_triangular(lower, _transposed(half), lower=True))
    if values_only:
        return np.linalg.eigvalsh(reduced)
    values, vectors = np.linalg.eigh(reduced)
    return values, solve_triangular(lower, vectors, trans=1, lower=True)


def _mirrored(a: Any, side: _Side) -> Any:
    """The symmetric matrix of which one triangle is read."""
    strict = np.tril(a, -1) if side == "L" else np.triu(a, 1)
    return strict + _transposed(strict) + np.where(np.eye(a.shape[-1], dtype=bool), a, 0)


@supports_tracing
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,  # noqa: A002
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    """The eigenvalues alone."""
    options = {"lower": lower, "type": type, "subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    return eigh(a, b, eigvals_only=True, **options)


@supports_tracing
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: Any = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:
    """Eigenvalues and -vectors of the symmetric matrix with this diagonal and the one beside it."""
    refuse("eigh_tridiagonal", {"select": select}, select="a")
    diagonal, beside = Tensor(floating("eigh_tridiagonal", d)), Tensor(floating("eigh_tridiagonal", e))
    matrix: Any = np.diag(diagonal) + np.diag(beside, -1) + np.diag(beside, 1)
    return np.linalg.eigvalsh(matrix) if eigvals_only else tuple(np.linalg.eigh(matrix))


@supports_tracing
def eigvalsh_tridiagonal(
    d: Any,
    e: Any,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
    tol: Any = 0.0,
    lapack_driver: Any = "auto",
) -> Any:
    """The eigenvalues alone."""
    return eigh_tridiagonal(d, e, eigvals_only=True, select=select)


@supports_tracing
def svd(
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    overwrite_a: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any:
    """Singular values and vectors."""
    matrix: Any = _rectangular("svd", a)
    if not compute_uv:
        return np.linalg.svd(matrix, compute_uv=False)
    return tuple(np.linalg.svd(matrix, full_matrices=bool(full_matrices)))


@supports_tracing
def svdvals(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The singular values alone."""
    return np.linalg.svd(_rectangular("svdvals", a), compute_uv=False)


@supports_tracing
def diagsvd(s: Any, M: Any, N: Any) -> Any:
    """The ``M x N`` matrix with the singular values on its diagonal."""
    values = Tensor(floating("diagsvd", s))
    size = values.shape[-1]
    if size not in (M, N) or values.ndim != 1:
        raise ValueError(f"scipy.linalg.diagsvd needs a vector of M or N values, got shape {values.shape}")
    return np.pad(np.diag(values), ((0, M - size), (0, N - size)))


@supports_tracing
def qr(
    a: Any,
    overwrite_a: Any = False,
    lwork: Any = None,
    mode: Any = "full",
    pivoting: Any = False,
    check_finite: Any = True,
) -> Any:
    """The factors Q and R; of a tall matrix they are thin, with ``mode="economic"``."""
    refuse("qr", {"pivoting": pivoting}, pivoting=False)
    choice("qr", "mode", mode, ("full", "economic", "r"))
    matrix = _rectangular("qr", a)
    rows, columns = matrix.shape[-2:]
    if mode != "economic" and rows > columns:
        if mode == "r":
            return (
                np.concatenate(
                    [np.linalg.qr(matrix, "r"), np.zeros((*matrix.shape[:-2], rows - columns, columns), matrix.dtype)],
                    -2,
                ),
            )
        raise refused("scipy.linalg.qr", "mode")
    return (np.linalg.qr(matrix, "r"),) if mode == "r" else tuple(np.linalg.qr(matrix))


@supports_tracing
def rq(a: Any, overwrite_a: Any = False, lwork: Any = None, mode: Any = "full", check_finite: Any = True) -> Any:
    """The factors R and Q; of a wide matrix they are small, with ``mode="economic"``.

    With J for the order reversed, ``J aᵀ J = Q' R'`` gives ``R = J R'ᵀ J`` and ``Q = J Q'ᵀ J``.
    """
    choice("rq", "mode", mode, ("full", "economic", "r"))
    matrix = _rectangular("rq", a)
    rows, columns = matrix.shape[-2:]
    wide = rows < columns
    if wide and mode == "full":
        raise refused("scipy.linalg.rq", "mode")
    turned = _transposed(matrix[..., ::-1, ::-1])
    if mode == "r":
        right = _transposed(np.linalg.qr(turned, "r"))[..., ::-1, ::-1]
        beside = np.zeros((*right.shape[:-1], columns - right.shape[-1]), right.dtype)
        return np.concatenate([beside, right], -1) if wide else right
    return tuple([_transposed(factor)[..., ::-1, ::-1] for factor in reversed(np.linalg.qr(turned))])


@supports_tracing
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: Any = False, check_finite: Any = True) -> Any:
    """The pseudo-inverse at fixed rank."""
    return _pinv("pinv", _rectangular("pinv", a), atol, rtol, return_rank)


@supports_tracing
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: Any = True, return_rank: Any = False, check_finite: Any = True
) -> Any:
    """The pseudo-inverse of a symmetric matrix, of which one triangle is read."""
    matrix = _mirrored(Tensor(matrices("pinvh", a)), "L" if lower else "U")
    return _pinv("pinvh", matrix, atol, rtol, return_rank, hermitian=True)


def _pinv(name: str, matrix: Any, atol: Any, rtol: Any, return_rank: Any, **options: Any) -> Any:
    refuse(name, {"atol": atol or None, "return_rank": bool(return_rank)}, atol=None, return_rank=False)
    default = max(matrix.shape[-2:]) * float(np.finfo(matrix.dtype).eps)
    return np.linalg.pinv(matrix, default if rtol is None else rtol, **options)


@supports_tracing
def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = None,
) -> Any:
    """The solution of least norm, residuals, rank and singular values. The matrix has to be known."""
    matrix, right = _rectangular("lstsq", a), Tensor(floating("lstsq", b))
    cut = float(np.finfo(np.result_type(matrix.dtype, right.dtype)).eps) if cond is None else cond
    solution, residuals, rank, values = np.linalg.lstsq(matrix, right, cut)
    return solution, residuals[0] if right.ndim == 1 and residuals.size else residuals, rank, values


@supports_tracing
def polar(a: Any, side: Any = "right") -> Any:
    """The factors U, with orthonormal columns or rows, and P, positive semidefinite: ``a = U P`` or ``a = P U``."""
    choice("polar", "side", side, ("right", "left"))
    left, values, right = np.linalg.svd(_rectangular("polar", a), full_matrices=False)
    if side == "right":
        return left @ right, (_transposed(right) * values[..., None, :]) @ right
    return left @ right, (left * values[..., None, :]) @ _transposed(left)


@supports_tracing
def orthogonal_procrustes(A: Any, B: Any, check_finite: Any = True) -> Any:
    """The orthogonal R that brings ``A R`` nearest to B, and the sum of the singular values of ``A^T B``."""
    first, second = _rectangular("orthogonal_procrustes", A), _rectangular("orthogonal_procrustes", B)
    if first.shape != second.shape or first.ndim != 2:
        raise ShapeError(f"scipy.linalg.orthogonal_procrustes needs two alike matrices: {first.shape}, {second.shape}")
    left, values, right = np.linalg.svd(first.T @ second)
    return left @ right, np.sum(values)
