"""How much of the identity is added to a matrix so that a step with it can be trusted.

Owns the direction of a damped step, and the rules by which damping grows and shrinks. Imports structured matrices and
the errors. Invariant: a direction comes from a matrix that its factorisation shows to be positive definite, so the
quadratic model decreases along it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from einsumad.compressed import BlockTensor, CompressedTensor
from einsumad.errors import LinearAlgebraError
from einsumad.optim.vectors import Layout, joined

Matrix = CompressedTensor | BlockTensor

_GROWTH = 4.0
_SHRINKING = 10.0
_HEAVIEST = 1e20
_POOR, _GOOD = 0.25, 0.75


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """A symmetric matrix with the size of its entries, and the vectors that it is solved with.

    `lowest` is the least damping in use: with less, rounding decides whether a singular matrix is definite.
    """

    matrix: Matrix
    layout: Layout
    scale: float
    lowest: float
    memory_limit: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Direction:
    """A damped step, and the decrease that the quadratic model predicts.

    `damping` is what it was made with, `pivot` the smallest pivot with that, `too_little` the most damping that was
    found not to be enough here.
    """

    vector: np.ndarray
    predicted: float
    damping: float
    pivot: float
    too_little: float


def scaled(matrix: Matrix, layout: Layout, gradient: np.ndarray, memory_limit: int | None) -> Scaled:
    """The matrix with the largest entry of its diagonal; where all are zero, steps have the length of one."""
    scale = float(np.max(np.abs(joined(matrix.diagonal(), "the diagonal"))))
    if not np.isfinite(scale):
        raise LinearAlgebraError("the diagonal of the matrix has entries that are not finite: NaN or infinity")
    if not scale:
        scale = float(np.max(np.abs(gradient))) or 1.0
        return Scaled(matrix, layout, scale, scale, memory_limit)
    return Scaled(matrix, layout, scale, float(np.finfo(matrix.dtype).eps) ** (2 / 3) * scale, memory_limit)


def direction(of: Scaled, gradient: np.ndarray, damping: float) -> Direction:
    """The solution p of ``(B + damping · 1) p = -gradient``, with as much more damping as makes B positive definite.

    Where none was given, the first amount that is tried is the smallest pivot, or the scale of B if that is less; then
    it is multiplied (Nocedal and Wright, Numerical Optimization, 2nd ed. 2006, algorithm 3.3). The model decreases by
    ``-½ gᵀp + ½ damping pᵀp``. Raises :class:`LinearAlgebraError` if no amount is enough.
    """
    too_little = 0.0
    while True:
        pivot = _definite_pivot(of, damping)
        if pivot > 0:
            break
        if damping > _HEAVIEST * of.scale:
            found = of.matrix.factorise(damping=damping, memory_limit=of.memory_limit)
            raise LinearAlgebraError(
                f"no damping makes the matrix positive definite: with {damping:.3g} its smallest pivot is "
                f"{found.smallest_pivot:.3g} ({found.method})"
            )
        too_little, damping = damping, _GROWTH * damping or max(of.lowest, min(-pivot, of.scale))
    right = of.layout.unflatten(-gradient)
    found = of.matrix.solve(right, damping=damping, memory_limit=of.memory_limit)
    vector = joined(found, "the step")
    predicted = 0.5 * (damping * float(vector @ vector) - float(gradient @ vector))
    return Direction(vector, predicted, damping, pivot, too_little)


def _definite_pivot(of: Scaled, damping: float) -> float:
    """The smallest pivot of the matrix with that damping, not above zero if it is not found to be positive definite."""
    try:
        found = of.matrix.factorise(damping=damping, memory_limit=of.memory_limit)
    except LinearAlgebraError:
        if damping > _HEAVIEST * of.scale:
            raise
        return 0.0
    pivot = found.smallest_pivot
    return pivot if found.positive_definite else min(pivot, 0.0)


def is_semidefinite(of: Scaled) -> bool:
    """Whether the matrix has no negative eigenvalue that rounding could not have made."""
    return of.matrix.is_positive_definite(damping=of.lowest, memory_limit=of.memory_limit)


def after_success(of: Scaled, taken: Direction, ratio: float, least: float) -> float:
    """The damping for the next step, from the ratio of the actual to the predicted decrease.

    Less where the model was good, more where it was poor (Nocedal and Wright, algorithms 4.1 and 10.3). It falls to
    `least` at once where the pivot shows that the matrix alone is likely to be definite, and not below what was too
    little just now.
    """
    damping = taken.damping
    if ratio < _POOR:
        return max(_GROWTH * damping, 1e-3 * of.scale)
    if ratio <= _GOOD:
        return damping
    if taken.too_little:
        return float(np.sqrt(taken.too_little * damping))
    if taken.pivot > 2 * damping or damping < _SHRINKING * of.lowest:
        return least
    return damping / _SHRINKING


def after_failure(of: Scaled, tried: Direction) -> float:
    """The damping after a step that did not decrease the value enough."""
    return max(_SHRINKING * tried.damping, 1e-3 * of.scale)
