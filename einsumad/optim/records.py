"""What a step and a run of steps return, and what limits a run.

Owns these records. Imports nothing of the package. Invariant: they are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One damped step from a point.

    `x` is where it leads, like the argument: its tree, shapes and dtypes. `value` and `gradient_norm`, the largest
    absolute entry, belong to the point that it starts from. `predicted` is the decrease of the quadratic model.
    `damping` is what was added to the diagonal, which is more than was asked for where the matrix was not positive
    definite.
    """

    x: Any
    value: float
    gradient_norm: float
    predicted: float
    damping: float


@dataclass(frozen=True, slots=True)
class Record:
    """One point of a run: value and gradient there, the damping of the step to it, the seconds since the start."""

    value: float
    gradient_norm: float
    damping: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Where a run ended.

    `x` is like the argument that was optimised: its tree, shapes and dtypes. `gradient_norm` is the largest absolute
    entry of the gradient. `steps` counts the steps that were taken, and `history` has a :class:`Record` for the start
    and for each of them. `success` is False if the run ended for another reason than a minimum; `message` says why.
    """

    x: Any
    value: float
    gradient_norm: float
    steps: int
    message: str
    success: bool
    history: tuple[Record, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run stops: at which largest entry of the gradient, and after how many steps."""

    gtol: float | None
    maxiter: int

    def __post_init__(self) -> None:
        if self.gtol is not None and not self.gtol >= 0:
            raise ValueError(f"gtol must be a number of at least 0, got {self.gtol!r}")
        most: Any = self.maxiter
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise ValueError(f"maxiter must be a whole number of at least 0, got {most!r}")


def checked_damping(damping: Any) -> float:
    """The number; refuses one that is negative or not finite."""
    number = float(damping)
    if not isfinite(number) or number < 0:
        raise ValueError(f"damping must be a finite number of at least 0, got {damping!r}")
    return number
