"""Conjugate gradients that stop at the boundary of a region, where the model curves down, or when it is good enough.

Owns that iteration. Imports NumPy. Invariant: the model decreases from step to step, so whatever ends it, what is
returned is at least as good as the best step along the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Truncated:
    """A step, its slope ``gᵀp`` and curvature ``pᵀBp``, and how the iteration ended.

    `reason` is "residual", "boundary", "curvature" (not positive along a direction) or "products" (as many as allowed).
    """

    vector: np.ndarray
    slope: float
    curvature: float
    reason: str
    products: int


def steihaug(
    product: Callable[[np.ndarray], np.ndarray], gradient: np.ndarray, radius: float, forcing: float, most: int
) -> Truncated:
    """A step p with ``|p| ≤ radius`` that makes ``gᵀp + ½ pᵀBp`` small, from products with B alone.

    It ends where ``|Bp + g| ≤ forcing |g|``; on the boundary; along a direction without positive curvature, which is
    followed to the boundary; and after `most` products.

    Source: T. Steihaug, The conjugate gradient method and trust regions in large scale optimization, 1983; Nocedal and
    Wright, Numerical Optimization, 2nd ed. 2006, algorithm 7.2.

    >>> found = steihaug(lambda v: np.array([1.0, 4.0]) * v, np.array([-1.0, -4.0]), 10.0, 1e-12, 10)
    >>> found.vector.round(12), found.reason
    (array([1., 1.]), 'residual')
    """
    residual = np.array(gradient, np.float64)
    p, turned = np.zeros_like(residual), np.zeros_like(residual)
    direction, squares = -residual, float(residual @ residual)
    enough = forcing * forcing * squares
    reason, count = "residual" if not squares else "products", 0
    while squares and count < most:
        image = np.asarray(product(direction), np.float64)
        count += 1
        curvature = float(direction @ image)
        length = squares / curvature if curvature > 0 else np.inf
        to_boundary = _to_boundary(p, direction, radius)
        if not length < to_boundary:
            p, turned = p + to_boundary * direction, turned + to_boundary * image
            reason = "boundary" if curvature > 0 else "curvature"
            break
        p, turned = p + length * direction, turned + length * image
        residual = residual + length * image
        before, squares = squares, float(residual @ residual)
        if squares <= enough:
            reason = "residual"
            break
        direction = (squares / before) * direction - residual
    return Truncated(p, float(gradient @ p), float(p @ turned), reason, count)


def _to_boundary(p: np.ndarray, direction: np.ndarray, radius: float) -> float:
    """The positive t with ``|p + t direction| = radius``."""
    a, b, c = float(direction @ direction), float(p @ direction), float(p @ p) - radius * radius
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    return max(-c / (b + root) if b > 0 else (root - b) / a, 0.0)
