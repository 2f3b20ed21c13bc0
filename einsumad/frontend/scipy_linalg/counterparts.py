"""Functions that numpy.linalg has too, with SciPy's signatures.

Owns these functions. Imports the reading of matrices. Invariant: they are calls of NumPy's functions on traced values;
where SciPy reads a part of a matrix only, the rest has the derivative 0.
"""

# ruff: noqa: ARG001, PLR0917 (functions have SciPy's signatures)
from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.scipy_linalg.dispatch import floating, matrices, supports_tracing
from einsumad.frontend.scipy_linalg.equations import adjoint, triangular
from einsumad.frontend.tensor import Tensor

_KINDS = {
    None: "general",
    "gen": "general",
    "sym": "symmetric",
    "her": "symmetric",
    "hermitian": "symmetric",
    "pos": "symmetric",
    "positive definite": "symmetric",
    "banded": "general",
}


@supports_tracing
def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The determinant, in float64 even of float32 matrices, as SciPy has it."""
    return np.linalg.det(Tensor(in_dtype(matrices("det", a), np.float64)))


@supports_tracing
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True) -> Any:  # noqa: A002
    """The norm of vectors or matrices."""
    return np.linalg.norm(Tensor(floating("norm", a)), ord, axis, keepdims)


@supports_tracing
def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True, *, assume_a: Any = None, lower: Any = False) -> Any:
    """The inverse. What `assume_a` says is believed: of a symmetric matrix one triangle is read."""
    return np.linalg.inv(_read("inv", Tensor(matrices("inv", a)), assume_a, bool(lower)))


@supports_tracing
def solve(
    a: Any,
    b: Any,
    lower: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    assume_a: Any = None,
    transposed: Any = False,
) -> Any:
    """The solution of ``a x = b``. What `assume_a` says is believed, so only that part of the matrix is read."""
    matrix, right = matrices("solve", a), floating("solve", b)
    if assume_a in ("upper triangular", "lower triangular"):
        below = (assume_a == "lower triangular") != bool(transposed)
        return triangular("solve", right, (adjoint(matrix) if transposed else matrix, below))
    read = _read("solve", Tensor(matrix), assume_a, bool(lower))
    return np.linalg.solve(np.swapaxes(read, -1, -2) if transposed else read, Tensor(right))


def _read(name: str, a: Tensor, assume_a: Any, lower: bool) -> Any:
    """The matrix that SciPy takes what it reads for."""
    kind = _KINDS.get(assume_a, assume_a)
    if kind == "general":
        return a
    if kind == "symmetric":
        half: Any = np.tril(a, -1) if lower else np.triu(a, 1)
        return half + np.swapaxes(half, -1, -2) + np.where(np.eye(a.shape[-1], dtype=bool), a, 0)
    if kind == "diagonal":
        return np.where(np.eye(a.shape[-1], dtype=bool), a, 0)
    if kind == "tridiagonal":
        return np.triu(np.tril(a, 1), -1)
    if kind in ("upper triangular", "lower triangular"):
        return np.tril(a) if kind[0] == "l" else np.triu(a)
    raise refused(f"scipy.linalg.{name}", "assume_a", f"assume_a={assume_a!r}")
