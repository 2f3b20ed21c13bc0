"""What all schedules have in common, and those whose rates follow from the number of the epoch.

Owns :class:`LRScheduler` and :class:`Curve`. Imports the standard library. Invariant: rates are Python floats; a state
that is loaded is checked before anything changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

INITIAL = "initial_lr"


class LRScheduler:
    """The base of all schedules: `step` after each epoch sets "lr" of the groups of the optimiser.

    A schedule sets the rates of epoch 0 when it is made. States have the progress only: give the same arguments again
    when a schedule is made anew to go on.
    """

    saved: ClassVar[tuple[str, ...]] = ("last_epoch", "last_lr")
    """The attributes that make up the state."""

    def __init__(self, optimizer: Any) -> None:
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"a schedule is made for an optimiser, got {type(optimizer).__name__}")
        self.optimizer = optimizer
        self.last_epoch = 0
        self.last_lr = self.rates()

    def rates(self) -> list[float]:
        """The learning rates that the groups have now."""
        return [float(group["lr"]) for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The learning rates of the groups as the last step left them."""
        return list(self.last_lr)

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on: numbers and lists of numbers."""
        return {name: _copied(getattr(self, name)) for name in self.saved}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a state of a schedule of the same kind; the groups get the rates that they had then.

        Raises :class:`ValueError` where it does not fit; nothing is changed then.
        """
        self.check_state(state_dict)
        self.take_state(state_dict)
        self.set_rates(self.last_lr)

    def check_state(self, state: Any) -> None:
        """Raise :class:`ValueError` if it is no state of this schedule."""
        if not isinstance(state, Mapping) or set(state) != set(self.saved):
            found = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
            raise ValueError(
                f"a state of {type(self).__name__} has the entries {', '.join(self.saved)}, this has {found}"
            )
        count = len(self.optimizer.param_groups)
        for name in self.saved:
            own, new = getattr(self, name), state[name]
            if isinstance(own, list) != isinstance(new, list | tuple) or isinstance(new, str | bytes):
                raise ValueError(f"the state of {type(self).__name__} has {new!r} for {name}")
            if name in ("last_lr", "base_lrs") and len(new) != count:
                raise ValueError(f"the state has {name} for {len(new)} groups, the optimiser has {count}")

    def take_state(self, state: Mapping[str, Any]) -> None:
        """Take over a state that was checked, without touching the optimiser."""
        for name in self.saved:
            setattr(self, name, _copied(state[name]))

    def set_rates(self, rates: Iterable[float]) -> None:
        """Give the groups these learning rates, and note them."""
        found = list(rates)
        groups = self.optimizer.param_groups
        if len(found) != len(groups):
            raise ValueError(
                f"{type(self).__name__} was made for {len(found)} groups, now there are {len(groups)}: make the "
                "schedule when all groups are there"
            )
        for group, rate in zip(groups, found, strict=True):
            group["lr"] = float(rate)
        self.last_lr = self.rates()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(last_epoch={self.last_epoch}, last_lr={self.last_lr})"


class Curve(LRScheduler, ABC):
    """A schedule in which the rate of an epoch follows from the one before, so that several may be used together.

    A subclass says what the rate becomes: `first_rate` at epoch 0, `next_rate` after that; `rate_at` is the same
    without the rates before, where a :class:`SequentialLR` comes to this schedule.
    """

    saved = ("last_epoch", "base_lrs", "last_lr")

    def __init__(self, optimizer: Any) -> None:
        super().__init__(optimizer)
        for group in optimizer.param_groups:
            group.setdefault(INITIAL, float(group["lr"]))
        self.base_lrs = [float(group[INITIAL]) for group in optimizer.param_groups]
        self.begin()

    def first_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (of subclasses)
        """The rate of a group at epoch 0, from the one that it was given."""
        return rate

    @abstractmethod
    def next_rate(self, group: int, rate: float) -> float:
        """The rate of a group at `last_epoch`, from the one that it has."""

    @abstractmethod
    def rate_at(self, group: int) -> float:
        """The rate of a group at `last_epoch`, from its initial one."""

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        self.set_rates([self.next_rate(k, rate) for k, rate in enumerate(self._known_rates())])

    def begin(self) -> None:
        """Go to epoch 0 from the rates that the groups have."""
        self.last_epoch = 0
        self.set_rates([self.first_rate(k, rate) for k, rate in enumerate(self._known_rates())])

    def restart(self) -> None:
        """Go to epoch 0 from the initial rates."""
        self.last_epoch = 0
        self.set_rates([self.rate_at(k) for k in range(len(self.base_lrs))])

    def _known_rates(self) -> list[float]:
        """The rates of the groups that there were when the schedule was made."""
        return self.rates()[: len(self.base_lrs)]


def _copied(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value
