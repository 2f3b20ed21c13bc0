"""Descent by damped steps: the loop that Newton's method and that of Levenberg and Marquardt have in common.

Owns the loop, and when it stops. Imports damping, the records and the vectors. Invariant: no step that is taken raises
the value by more than rounding; the loop keeps nothing beside its local variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from einsumad.errors import LinearAlgebraError
from einsumad.optim.damping import (
    Direction,
    Matrix,
    Scaled,
    after_failure,
    after_success,
    direction,
    is_semidefinite,
    scaled,
)
from einsumad.optim.records import Limits, Record, Result, Step, checked_damping
from einsumad.optim.vectors import Layout

_ENOUGH = 1e-4
_LIGHT = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A vector, the value and the gradient there, and the matrix of the quadratic model, made when it is needed.

    `rounding` bounds the error of the value by rounding.
    """

    x: np.ndarray
    value: float
    rounding: float
    gradient: np.ndarray
    matrix: Callable[[], Matrix]

    @property
    def norm(self) -> float:
        """The largest absolute entry of the gradient."""
        return float(np.max(np.abs(self.gradient)))

    @property
    def finite(self) -> bool:
        """Whether value and gradient are finite."""
        return bool(np.isfinite(self.value) and np.isfinite(self.norm))


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """What is minimised: how a point is evaluated, and what its vectors stand for.

    `start` is the damping to begin with, as a multiple of the scale of the first matrix. `convex` says that no matrix
    has a negative eigenvalue, as that of Gauss and Newton; their damping goes to zero without reaching it.
    """

    evaluate: Callable[[np.ndarray], Point]
    layout: Layout
    memory_limit: int | None
    start: float
    convex: bool

    def scaled(self, point: Point) -> Scaled:
        """The matrix at a point."""
        return scaled(point.matrix(), self.layout, point.gradient, self.memory_limit)


@dataclass(frozen=True, slots=True, eq=False)
class _Taken:
    """A step that decreased the value: where it led, and the actual decrease divided by the predicted one."""

    direction: Direction
    point: Point
    ratio: float


def one_step(model: Model, x: np.ndarray, damping: float) -> Step:
    """One step, with at least that damping."""
    amount = checked_damping(damping)
    point = _first_point(model, x)
    found = direction(model.scaled(point), point.gradient, amount)
    moved = model.layout.unflatten(point.x + found.vector)
    return Step(moved, point.value, point.norm, found.predicted, found.damping)


def descend(model: Model, x: np.ndarray, damping: float | None, limits: Limits) -> Result:
    """Take damped steps from x until the gradient is small, or nothing decreases the value any more."""
    began = perf_counter()
    amount = None if damping is None else checked_damping(damping)
    point = _first_point(model, x)
    history = [Record(point.value, point.norm, amount or 0.0, perf_counter() - began)]
    gtol = _default_gtol(model.layout) if limits.gtol is None else limits.gtol
    success, message = False, ""
    while not message:
        try:
            if point.norm <= gtol:
                success, message = _at_small_gradient(model, point, gtol)
            elif len(history) > limits.maxiter:
                message = f"maxiter={limits.maxiter} steps were taken"
            else:
                of = model.scaled(point)
                amount = model.start * of.scale if amount is None else amount
                with np.errstate(all="ignore"):
                    taken, success, message = _decrease(model, of, point, amount)
                if taken is not None:
                    amount = after_success(of, taken.direction, taken.ratio, of.lowest if model.convex else 0.0)
                    point = taken.point
                    seconds = perf_counter() - began
                    history.append(Record(point.value, point.norm, taken.direction.damping, seconds))
        except LinearAlgebraError as error:
            message = f"no step from here: {error}"
    end = model.layout.unflatten(point.x)
    return Result(end, point.value, point.norm, len(history) - 1, message, success, tuple(history))


def _first_point(model: Model, x: np.ndarray) -> Point:
    """The point where a run starts. Raises ``ValueError`` where value or gradient are not finite."""
    point = model.evaluate(x)
    if not np.isfinite(point.value):
        raise ValueError(f"the value at the start is {point.value}: start where it is finite")
    if not point.finite:
        count = int(np.sum(~np.isfinite(point.gradient)))
        raise ValueError(
            f"the gradient at the start has {count} of {point.gradient.size} entries that are not finite, although the "
            "value is: start where the function is smooth"
        )
    return point


def _default_gtol(layout: Layout) -> float:
    return float(max([np.sqrt(np.finfo(dtype).eps) for dtype in layout.dtypes]))


def _decrease(model: Model, of: Scaled, point: Point, amount: float) -> tuple[_Taken | None, bool, str]:
    """The first step that decreases the value enough, with more and more damping; whether and why the run ends."""
    first = True
    while True:
        tried = direction(of, point.gradient, amount)
        x = model.layout.flatten(model.layout.unflatten(point.x + tried.vector))
        new = model.evaluate(x)
        ratio = _ratio(point, tried, new)
        negligible = tried.predicted <= point.rounding
        at_minimum = first and negligible and tried.damping <= _LIGHT * of.scale
        if new.finite and ratio > _ENOUGH:
            ends = at_minimum and 2 * new.norm > point.norm
            return _Taken(tried, new, ratio), ends, _EXHAUSTED if ends else ""
        if at_minimum:
            return None, True, _EXHAUSTED
        if negligible or np.array_equal(x, point.x):
            return None, False, "no step along the gradient decreases the value: is the function smooth here?"
        amount, first = after_failure(of, tried), False


_EXHAUSTED = "the value cannot be decreased further in working precision"


def _ratio(point: Point, tried: Direction, new: Point) -> float:
    """The actual decrease divided by the predicted one; both are lifted by what rounding may have hidden.

    (Conn, Gould and Toint, Trust-Region Methods, 2000, section 17.4.2.)
    """
    if not new.finite:
        return -np.inf
    return (point.value - new.value + point.rounding) / (tried.predicted + point.rounding or 1.0)


def _at_small_gradient(model: Model, point: Point, gtol: float) -> tuple[bool, str]:
    """Whether a point with a small gradient is a minimum as far as second derivatives show, and what it is."""
    if model.convex or is_semidefinite(model.scaled(point)):
        return True, f"the largest entry of the gradient is at most gtol={gtol:.3g}"
    return False, (
        "the gradient is zero to gtol, but the Hessian has a negative eigenvalue: this is a saddle or a maximum, start "
        "elsewhere"
    )
