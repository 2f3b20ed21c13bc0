"""Regions of damped systems: what is added to the diagonal grows and shrinks with the ratio of the decrease.

Owns :class:`Damped`. Imports the optimiser and the rules of damping. Invariant: damping is at least the rounding of the
largest entry of the diagonal, so that a singular matrix has a solution.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from einsumad.optim.curvature.optimizer import Direction, Region, State
from einsumad.optim.curvature.updates import accepted_damping, rejected_damping

_START = 1e-3


class Damped(Region):
    """Solutions of ``(B + λ 1) p = -g``. `scale` is the largest entry of the diagonal of B, in the dtype that it has.

    Without a damping that was kept, the first is `start`, or a thousandth of the scale.
    """

    def __init__(self, scale: float, dtype: np.dtype, kept: float | None, start: float | None) -> None:
        self.scale = scale if np.isfinite(scale) and scale > 0 else 1.0
        self._least = float(np.finfo(dtype).eps) * self.scale
        self.damping = max(kept if kept is not None else _START * self.scale if start is None else start, self._least)

    @abstractmethod
    def kept(self) -> State:
        """What is kept beside the damping, where no step was taken."""

    def after(self, direction: Direction) -> State:  # noqa: ARG002 (of subclasses)
        """What is kept beside the damping after a step."""
        return self.kept()

    def accepted(self, direction: Direction, ratio: float) -> State:
        """Less damping where the model was good, more where it was poor."""
        return {**self.after(direction), "damping": accepted_damping(self.damping, ratio, self._least)}

    def rejected(self, direction: Direction | None, failures: int) -> None:  # noqa: ARG002 (of the base)
        """More and more damping."""
        self.damping = rejected_damping(self.damping, failures)

    def given_up(self) -> State:
        """The damping that was tried last."""
        return {**self.kept(), "damping": self.damping}
