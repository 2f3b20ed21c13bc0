"""Matrix functions: exponential, logarithm, powers, trigonometric and hyperbolic functions.

Owns these functions. Imports the rows and the reading of matrices. Invariant: they are put together from the rows in
the way in which SciPy puts its values together.
"""

# ruff: noqa: ARG001 (functions have SciPy's signatures)
from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import in_dtype
from einsumad.frontend.scipy_linalg.dispatch import choice, in_common, matrices, supports_tracing
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.graph import Node


def _row(name: str, a: Any) -> Tensor:
    return Tensor(call(name, matrices(name, a)))


@supports_tracing
def expm(A: Any) -> Tensor:
    """The matrix exponential."""
    return _row("expm", A)


@supports_tracing
def logm(A: Any) -> Tensor:
    """The principal matrix logarithm. It is real: matrices with eigenvalues that are negative or zero raise."""
    return _row("logm", A)


@supports_tracing
def sqrtm(A: Any) -> Tensor:
    """The principal matrix square root. It is real: matrices with negative eigenvalues raise."""
    return _row("sqrtm", A)


@supports_tracing
def signm(A: Any) -> Tensor:
    """The matrix sign. An eigenvalue on the imaginary axis raises."""
    return _row("signm", A)


@supports_tracing
def cosm(A: Any) -> Tensor:
    """The matrix cosine."""
    return _row("cosm", A)


@supports_tracing
def sinm(A: Any) -> Tensor:
    """The matrix sine."""
    return _row("sinm", A)


@supports_tracing
def tanm(A: Any) -> Any:
    """The matrix tangent, ``cos(A)^-1 sin A``."""
    return np.linalg.solve(_row("cosm", A), _row("sinm", A))


@supports_tracing
def coshm(A: Any) -> Any:
    """The hyperbolic matrix cosine, ``(exp A + exp -A) / 2``."""
    a = Tensor(matrices("coshm", A))
    return 0.5 * (_row("expm", a) + _row("expm", -a))


@supports_tracing
def sinhm(A: Any) -> Any:
    """The hyperbolic matrix sine, ``(exp A - exp -A) / 2``."""
    a = Tensor(matrices("sinhm", A))
    return 0.5 * (_row("expm", a) - _row("expm", -a))


@supports_tracing
def tanhm(A: Any) -> Any:
    """The hyperbolic matrix tangent, ``cosh(A)^-1 sinh A``."""
    return np.linalg.solve(coshm(A), sinhm(A))


@supports_tracing
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: Any = True, check_finite: Any = True) -> Any:
    """The exponential of A and its derivative in the direction E, or the derivative alone."""
    choice("expm_frechet", "method", method, (None, "SPS", "blockEnlarge"))
    a, direction = in_common(matrices("expm_frechet", A), matrices("expm_frechet", E))
    if a.shape != direction.shape:
        raise ShapeError(f"scipy.linalg.expm_frechet of a matrix {a.shape} in a direction {direction.shape}")
    derivative = call("expm", a, direction)
    return (call("expm", a), derivative) if compute_expm else derivative


@supports_tracing
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """``A^t = exp(t log A)``; for a whole number t the product, of any matrix, as in SciPy."""
    if isinstance(t, (int, float, np.integer, np.floating)) and float(t).is_integer():
        return _power(A, int(t))
    exponent = as_node(t)
    if exponent.shape or exponent.dtype.kind not in "iuf":
        raise refused("scipy.linalg.fractional_matrix_power", "t", f"with t of shape {exponent.shape}")
    logarithm = _row("logm", Tensor(matrices("fractional_matrix_power", A)))
    return _row("expm", Tensor(in_dtype(exponent, logarithm.dtype)) * logarithm)


def _power(a: Any, exponent: int) -> Any:
    """The product of so many matrices, by repeated squares; integers stay integers unless the inverse is needed."""
    node: Node = as_node(a)
    if len(node.shape) < 2 or node.shape[-1] != node.shape[-2]:
        raise ShapeError(f"scipy.linalg.fractional_matrix_power needs square matrices, got shape {node.shape}")
    square: Any = Tensor(node)
    if exponent < 0:
        square, exponent = np.linalg.inv(square), -exponent
    result: Any = np.broadcast_to(np.eye(node.shape[-1], dtype=square.dtype), node.shape)
    if exponent == 0:
        return np.zeros_like(square) + result
    first = True
    while exponent:
        if exponent % 2:
            result = square if first else result @ square
            first = False
        exponent //= 2
        square = square @ square if exponent else square
    return result
