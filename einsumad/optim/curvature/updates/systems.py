"""Damped Gauss–Newton systems: as many equations as parameters, or as many as outputs.

Owns both solutions. Imports NumPy, and SciPy when it is called. Invariant: they agree, and are computed in double
precision.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


def damped_solution(matrix: np.ndarray, right: np.ndarray, damping: float) -> np.ndarray:
    """The solution of ``(B + λ 1) x = right`` by Cholesky's factorisation; of B the lower triangle is read.

    Raises ``numpy.linalg.LinAlgError`` where ``B + λ 1`` is not positive definite.

    >>> damped_solution(np.array([[1.0, 9.0], [0.0, 3.0]]), np.array([2.0, 4.0]), 1.0)
    array([1., 1.])
    """
    damped = np.array(matrix, np.float64)
    damped.flat[:: len(damped) + 1] += damping
    library = _linear_algebra()
    factor = library.cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)
    found: np.ndarray = library.cho_solve(factor, np.asarray(right, np.float64), check_finite=False)
    return found


def dual_solution(gram: np.ndarray, curvature: np.ndarray, residual: np.ndarray, damping: float) -> np.ndarray:
    """The w for which ``Jᵀ w`` solves ``(JᵀLJ + λ 1) x = Jᵀ residual``: that of ``(L K + λ 1) w = residual``.

    K is ``J Jᵀ``. Both systems have the same solution by ``(JᵀLJ + λ 1) Jᵀ = Jᵀ (L J Jᵀ + λ 1)``, and this one is the
    smaller where there are fewer outputs than parameters. Raises ``numpy.linalg.LinAlgError`` where it is singular.

    >>> J, r = np.array([[1.0, 2.0, 2.0]]), np.array([10.0])
    >>> J.T @ dual_solution(J @ J.T, np.eye(1), r, 1.0)
    array([1., 2., 2.])
    """
    system = np.asarray(curvature, np.float64) @ np.asarray(gram, np.float64)
    system.flat[:: len(system) + 1] += damping
    return np.linalg.solve(system, np.asarray(residual, np.float64))


def _linear_algebra() -> Any:
    return import_module("scipy.linalg")
