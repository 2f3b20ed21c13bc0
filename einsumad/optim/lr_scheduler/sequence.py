"""One schedule after another, such as a warm-up and what follows it.

Owns :class:`SequentialLR`. Imports what schedules have in common. Invariant: the schedule that is stepped is the one
whose stretch the epoch is in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from einsumad.optim.lr_scheduler.schedule import INITIAL, Curve, LRScheduler


class SequentialLR(LRScheduler):
    """The first schedule until the first milestone, then the second from its own epoch 0 on, and so on.

    A schedule that is come to starts from the initial rates, whatever the one before has left.

    Raises :class:`ValueError` if there is not one milestone fewer than schedules or they do not rise, and
    :class:`TypeError` for a schedule that needs more than the epoch.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> from einsumad.optim.lr_scheduler import ExponentialLR, LinearLR, SequentialLR
    >>> optimizer = optim.SGD([nn.Parameter(np.ones(2))], lr=1.0)
    >>> warm_up = LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> schedule = SequentialLR(optimizer, [warm_up, ExponentialLR(optimizer, gamma=0.5)], milestones=[2])
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    >>> rates
    [0.5, 0.75, 1.0, 0.5, 0.25]
    """

    saved = ("last_epoch", "last_lr", "schedulers")

    def __init__(self, optimizer: Any, schedulers: Sequence[LRScheduler], milestones: Sequence[int]) -> None:
        self.parts: list[Curve | SequentialLR] = []
        for number, part in enumerate(schedulers):
            if not isinstance(part, Curve | SequentialLR):
                raise TypeError(
                    f"schedule {number} is a {type(part).__name__}, which does not follow from the epoch alone"
                )
            if part.optimizer is not optimizer:
                raise ValueError(f"schedule {number} was made for another optimiser")
            self.parts.append(part)
        self.milestones = list(milestones)
        if len(self.milestones) != len(self.parts) - 1:
            raise ValueError(
                f"{len(self.parts)} schedules need {len(self.parts) - 1} milestones, got {len(self.milestones)}"
            )
        if any(late <= early for early, late in pairwise(self.milestones)):
            raise ValueError(f"milestones must rise, got {self.milestones}")
        super().__init__(optimizer)
        self.begin()

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        part = self._part()
        if self.last_epoch in self.milestones:
            part.restart()
        else:
            part.step()
        self.last_lr = part.get_last_lr()

    def begin(self) -> None:
        """Go to epoch 0 from the initial rates, which the schedules have changed when they were made."""
        self.last_epoch = 0
        self.set_rates([group[INITIAL] for group in self.optimizer.param_groups])
        self._part().begin()
        self.last_lr = self._part().get_last_lr()

    restart = begin

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on, with the states of the schedules."""
        own = {"last_epoch": self.last_epoch, "last_lr": list(self.last_lr)}
        return {**own, "schedulers": [part.state_dict() for part in self.parts]}

    def check_state(self, state: Any) -> None:
        """Raise :class:`ValueError` if it is no state of this schedule."""
        super().check_state(state)
        if len(state["schedulers"]) != len(self.parts):
            raise ValueError(f"the state is of {len(state['schedulers'])} schedules, there are {len(self.parts)}")
        for part, own in zip(self.parts, state["schedulers"], strict=True):
            part.check_state(own)

    def take_state(self, state: Mapping[str, Any]) -> None:
        """Take over a state that was checked, without touching the optimiser."""
        self.last_epoch, self.last_lr = state["last_epoch"], list(state["last_lr"])
        for part, own in zip(self.parts, state["schedulers"], strict=True):
            part.take_state(own)

    @property
    def schedulers(self) -> list[Curve | SequentialLR]:
        """The schedules in their order."""
        return self.parts

    def _part(self) -> Curve | SequentialLR:
        return self.parts[bisect_right(self.milestones, self.last_epoch)]
