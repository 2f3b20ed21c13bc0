"""Algebraic Riccati equations.

Owns these functions. Imports the rows and the reading of matrices. Invariant: the matrices of costs are symmetric to
rounding, as SciPy demands, and the derivative is that on symmetric matrices; results are float64, as SciPy's are.
"""

# ruff: noqa: PLR0917 (functions have SciPy's signatures)
from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.promotion import in_dtype, tensor
from einsumad.frontend.scipy_linalg.dispatch import in_common, matrices, rectangular, supports_tracing
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.graph import Node


@supports_tracing
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    """The stabilising X of ``aᵀ X e + eᵀ X a - (eᵀ X b + s) r⁻¹ (bᵀ X e + sᵀ) + q = 0``."""
    return _solve("solve_continuous_are", 0, (a, b, q, r, e, s), balanced)


@supports_tracing
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: Any = True) -> Any:
    """The stabilising X of ``aᵀ X a - eᵀ X e - aᵀ X b (r + bᵀ X b)⁻¹ bᵀ X a + q = 0``."""
    if s is not None:
        raise refused("scipy.linalg.solve_discrete_are", "s")
    return _solve("solve_discrete_are", 1, (a, b, q, r, e, None), balanced)


def _solve(name: str, discrete: int, given: tuple[Any, ...], balanced: Any) -> Node:
    """X, by an equation without e and s.

    That with e is the one of ``a e⁻¹``, ``e⁻ᵀ q e⁻¹`` and ``e⁻ᵀ s``, that with s the one of ``a - b r⁻¹ sᵀ`` and
    ``q - s r⁻¹ sᵀ``.
    """
    found: list[Any] = [None if x is None else _matrix(name, x, square=k not in (1, 5)) for k, x in enumerate(given)]
    a, b, q, r, e, s = found
    q, r = (_double(call("mirrored", x, params=(2,))) for x in (q, r))
    a, b = _double(a), _double(b)
    if e is not None:
        if balanced:
            raise refused(f"scipy.linalg.{name}", "e", "e=..., balanced=True")
        inverse = np.linalg.inv(_double(e))
        a, q = a @ inverse, _transposed(inverse) @ q @ inverse
    if s is not None:
        cross = _double(s) if e is None else _transposed(inverse) @ _double(s)
        gain = np.linalg.solve(r, _transposed(cross))
        a, q = a - b @ gain, q - cross @ gain
    return call("riccati", *in_common(*[x.node for x in (a, b, q, r)]), params=(discrete, int(bool(balanced))))


def _matrix(name: str, x: Any, *, square: bool) -> Any:
    """The node of matrices; what has less than two axes is a matrix of one row."""
    matrix = np.atleast_2d(tensor(x))
    return matrices(name, matrix) if square else rectangular(name, matrix)


def _double(node: Any) -> Any:
    return Tensor(in_dtype(node, np.float64))


def _transposed(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)
