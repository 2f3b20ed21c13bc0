"""Polynomials fitted to points by least squares: polyfit.

Owns this function. Imports the surface. Invariant: it is the least-squares problem of the scaled Vandermonde matrix as
NumPy has it, at fixed rank; what depends on the rank needs known points.
"""

# ruff: noqa: PLR0917 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.exceptions import RankWarning

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.evaluation import concrete
from einsumad.frontend.known import at_known
from einsumad.frontend.lifting import as_node
from einsumad.frontend.looks import look
from einsumad.frontend.promotion import tensor
from einsumad.frontend.registry import implements
from einsumad.frontend.tensor import Tensor


@implements(np.polyfit)
@at_known("polyfit", "deg", "rcond")
def _polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False) -> Any:
    points, samples, order = _floats(x), tensor(y) + 0.0, int(deg) + 1
    _check(points, samples, order)
    cut = len(points) * float(np.finfo(points.dtype).eps) if rcond is None else float(rcond)
    matrix, right, scale = _problem(points, samples, order, w)
    coefficients = np.linalg.pinv(matrix, cut if cut >= 0 else float(np.finfo(np.float64).eps)) @ right
    found = as_node((coefficients.T / scale).T)
    singular = np.linalg.svdvals(matrix)
    rank = _rank(singular, cut)
    if rank is not None and rank != order and not full:
        look()  # every call warns
        warnings.warn("Polyfit may be poorly conditioned", RankWarning, stacklevel=3)
    if full:
        if rank is None:
            raise refused("numpy.polyfit", "full")
        residuals = _residuals(matrix, coefficients, right, rank)
        return found, as_node(residuals), rank, as_node(singular), cut if rcond is None else rcond
    if not cov:
        return found
    covariance = np.linalg.inv(matrix.T @ matrix) / np.outer(scale, scale)
    if samples.ndim == 2:
        covariance = covariance[:, :, None]
    if isinstance(cov, str) and cov == "unscaled":
        return found, as_node(covariance * np.ones((), samples.dtype))
    if len(points) <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    if rank is None:
        raise refused("numpy.polyfit", "cov")
    return found, as_node(covariance * (_residuals(matrix, coefficients, right, rank) / (len(points) - order)))


def _floats(x: Any) -> Any:
    """The operand as floats: traced if it is, else plain, so that what is made of it is a constant."""
    return tensor(x) + 0.0 if isinstance(x, Tensor) else np.asarray(x) + 0.0


def _check(points: Any, samples: Any, order: int) -> None:
    if order < 1:
        raise ValueError("expected deg >= 0")
    if points.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if not points.size:
        raise TypeError("expected non-empty vector for x")
    if samples.ndim not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if points.shape[0] != samples.shape[0]:
        raise TypeError("expected x and y to have same length")


def _problem(points: Any, samples: Any, order: int, w: Any) -> tuple[Any, Any, Any]:
    """The Vandermonde matrix and the right side, both weighted, and what the columns of the matrix are divided by."""
    matrix, right = np.vander(points, order), samples
    if w is not None:
        weights = _floats(w)
        if weights.ndim != 1:
            raise TypeError("expected a 1-d array for weights")
        if weights.shape[0] != samples.shape[0]:
            raise TypeError("expected w and y to have the same length")
        matrix = matrix * weights[:, None]
        right = tensor(right * (weights[:, None] if right.ndim == 2 else weights), samples.dtype)
    scale = np.sqrt(np.sum(matrix * matrix, axis=0))
    return matrix / scale, right, scale


def _rank(singular: Any, cut: float) -> Any:
    """The number of singular values above the cut-off, or None where they are not known."""
    values = concrete(singular.node) if isinstance(singular, Tensor) else singular
    least = cut if cut >= 0 else float(np.finfo(np.float64).eps)
    return None if values is None else np.int32(np.sum(values > least * np.max(values, initial=0)))


def _residuals(matrix: Any, coefficients: Any, right: Any, rank: Any) -> Any:
    """The sums of squares that are left, none where the rank is less than the number of coefficients."""
    rows, columns = matrix.shape
    if rank < columns or rows <= columns:
        return np.zeros(0, np.result_type(matrix.dtype, right.dtype))
    return np.atleast_1d(np.sum((matrix @ coefficients - right) ** 2, axis=0))
