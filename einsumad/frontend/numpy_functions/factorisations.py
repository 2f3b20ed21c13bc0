"""numpy.linalg: Cholesky, eigenvalues of symmetric matrices, singular values, QR, pseudo-inverse, least squares, rank.

Owns these functions. Imports the registry and the catalogue. Invariant: what NumPy reads of a symmetric matrix, one
triangle, is mirrored first, and the derivative is that on symmetric matrices.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.coverage.numpy_limits import UNKNOWN
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.numpy_functions.linear_algebra import floating_matrix, square_matrices
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.registry import implements, is_given
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.graph import Node, transpose, zero

_EIGH_RESULT: Any = type(np.linalg.eigh(np.eye(1)))
_SVD_RESULT: Any = type(np.linalg.svd(np.eye(1)))
_QR_RESULT: Any = type(np.linalg.qr(np.eye(1)))
_NOT_GIVEN = signature(np.linalg.pinv).parameters["rtol"].default  # NumPy's own mark
_DEFAULT_CUT = 1e-15


def _matrices(name: str, a: Any) -> Node:
    node = floating_matrix(name, as_node(a))
    if len(node.shape) < 2:
        raise ShapeError(f"numpy.linalg.{name} needs matrices in the last two axes, got shape {node.shape}")
    return node


def _swapped(node: Node) -> Node:
    rank = len(node.shape)
    return transpose(node, [*range(rank - 2), rank - 1, rank - 2])


def _symmetric(name: str, a: Any, upper: int) -> Node:
    return call("mirrored", square_matrices(name, a), params=(upper,))


def _is_upper(UPLO: Any) -> int:
    side = str(UPLO).upper()
    if side not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return int(side == "U")


@implements(np.linalg.cholesky)
def _cholesky(a: Any, /, *, upper: Any = False) -> Node:
    found = call("cholesky", _symmetric("cholesky", a, int(bool(upper))))
    return _swapped(found) if upper else found


@implements(np.linalg.eigvalsh)
def _eigvalsh(a: Any, UPLO: Any = "L") -> Node:
    upper = _is_upper(UPLO)
    return call("eigh_values", _symmetric("eigvalsh", a, upper), params=(upper,))


@implements(np.linalg.eigh)
def _eigh(a: Any, UPLO: Any = "L") -> Any:
    upper = _is_upper(UPLO)
    matrix = _symmetric("eigh", a, upper)
    return _EIGH_RESULT(*[call(name, matrix, params=(upper,)) for name in ("eigh_values", "eigh_vectors")])


@implements(np.linalg.svdvals)
def _svdvals(x: Any, /) -> Node:
    return call("svd_values", _matrices("svdvals", x))


@implements(np.linalg.svd)
def _svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    if hermitian:
        return _svd_of_symmetric(a, compute_uv)
    matrix = _matrices("svd", a)
    values = call("svd_values", matrix)
    if not compute_uv:
        return values
    full = "_full" if full_matrices and matrix.shape[-1] != matrix.shape[-2] else ""
    left, right = (call(f"{name}{full}", matrix) for name in ("svd_left", "svd_right"))
    return _SVD_RESULT(left, values, _swapped(right))


def _svd_of_symmetric(a: Any, compute_uv: Any) -> Any:
    """The singular values are the absolute eigenvalues, the largest first, their signs in the right vectors."""
    matrix = _symmetric("svd", a, 0)
    eigenvalues = Tensor(call("eigh_values", matrix, params=(0,)))
    absolute = np.abs(eigenvalues)
    if not compute_uv:
        return as_node(np.sort(absolute)[..., ::-1])
    order = np.argsort(absolute)[..., ::-1]
    vectors: Any = Tensor(call("eigh_vectors", matrix, params=(0,)))
    signs = np.take_along_axis(np.copysign(1.0, eigenvalues), order, axis=-1)
    left: Any = np.take_along_axis(vectors, order[..., None, :], axis=-1)
    right = np.matrix_transpose(left * signs[..., None, :])
    return _SVD_RESULT(*[as_node(part) for part in (left, np.take_along_axis(absolute, order, axis=-1), right)])


@implements(np.linalg.qr)
def _qr(a: Any, mode: str = "reduced") -> Any:
    matrix = _matrices("qr", a)
    rows, columns = matrix.shape[-2:]
    if mode == "complete" and rows <= columns:
        mode = "reduced"
    if mode not in ("reduced", "r"):
        raise refused("numpy.linalg.qr", "mode", f"mode={mode!r}")
    square = matrix if rows >= columns else as_node(Tensor(matrix)[..., :rows])
    orthogonal, triangular = (call(name, square) for name in ("qr_orthogonal", "qr_triangular"))
    if rows < columns:
        others = np.matrix_transpose(Tensor(orthogonal)) @ Tensor(matrix)[..., rows:]
        triangular = as_node(np.concatenate([Tensor(triangular), others], axis=-1))
    return triangular if mode == "r" else _QR_RESULT(orthogonal, triangular)


@implements(np.linalg.pinv)
def _pinv(a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = _NOT_GIVEN) -> Node:
    matrix = _symmetric("pinv", a, 0) if hermitian else _matrices("pinv", a)
    if rcond is not None and rtol is not _NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if rcond is None:
        rcond = rtol if is_given(rtol) else _DEFAULT_CUT if rtol is not None else _rounding(matrix)
    if 0 in matrix.shape[-2:]:
        return zero((*matrix.shape[:-2], matrix.shape[-1], matrix.shape[-2]), matrix.dtype)
    return call("pinv", matrix, params=(_number("pinv", rcond),))


def _rounding(matrix: Node) -> float:
    return max(matrix.shape[-2:]) * float(np.finfo(matrix.dtype).eps)


def _number(name: str, cut: Any) -> float:
    """A cut-off, which is no part of what is differentiated."""
    if is_python_number(cut) or (isinstance(cut, (np.generic, np.ndarray)) and np.ndim(cut) == 0):
        return float(cut)
    raise refused(f"numpy.linalg.{name}", "rcond", f"with rcond of type {type(cut).__name__}")


@implements(np.linalg.matrix_rank)
def _matrix_rank(A: Any, tol: Any = None, hermitian: Any = False, *, rtol: Any = None) -> Node:
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    node = as_node(A)
    if len(node.shape) < 2:
        return in_dtype(as_node(np.any(Tensor(node) != 0)), np.int64)
    values = Tensor(_svd(A, compute_uv=False, hermitian=hermitian))
    if tol is None:
        relative = max(node.shape[-2:]) * np.finfo(values.dtype).eps if rtol is None else np.asarray(rtol)[..., None]
        tol = (np.max(values, axis=-1, keepdims=True) if values.shape[-1] else 0) * relative
    else:
        tol = np.asarray(tol)[..., None]
    return as_node(np.sum(values > tol, axis=-1))


@implements(np.linalg.lstsq)
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    matrix, right = _matrices("lstsq", a), floating_matrix("lstsq", as_node(b))
    dtype = np.result_type(matrix.dtype, right.dtype)
    matrix, right = in_dtype(matrix, dtype), in_dtype(right, dtype)
    if len(matrix.shape) != 2 or len(right.shape) not in (1, 2):
        raise ShapeError(f"numpy.linalg.lstsq takes one matrix and one or two axes, got {matrix.shape}, {right.shape}")
    rows, columns = matrix.shape
    if right.shape[0] != rows:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    cut = _rounding(in_dtype(matrix, np.float64)) if rcond is None else _number("lstsq", rcond)
    cut = float(np.finfo(np.float64).eps) if cut < 0 else cut
    values = call("svd_values", matrix)
    rank = _known_rank(values, cut)
    solution = Tensor(_pinv(Tensor(matrix), cut)) @ Tensor(right)
    residuals: Node = zero((0,), dtype)
    if rank == columns and rows > columns:
        misfit = Tensor(matrix) @ solution - Tensor(right)
        residuals = as_node(np.atleast_1d(np.sum(misfit**2, axis=0)))
    return as_node(solution), residuals, rank, values


def _known_rank(values: Node, cut: float) -> Any:
    """The rank, which decides about the shape of what comes back."""
    known = concrete(values)
    if known is None:
        raise refused("numpy.linalg.lstsq", UNKNOWN)
    return np.int32(np.sum(known > cut * np.max(known, initial=0)))
