"""The schedules that follow a curve: steps, lines, powers, a cosine, or a function of one's own.

Owns the formulas. Imports what schedules have in common. Invariant: where the groups had their initial rates at epoch
0, rates are those of the closed formula, to rounding.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import cos, pi
from typing import Any

from einsumad.optim.lr_scheduler.schedule import Curve


class LambdaLR(Curve):
    """The initial rate times ``lr_lambda(epoch)``; a list has a function for each group.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> optimizer = optim.SGD([nn.Parameter(np.ones(2))], lr=1.0)
    >>> schedule = optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]) -> None:
        count = len(getattr(optimizer, "param_groups", ()))
        self.lr_lambdas = [lr_lambda] * count if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != count or not all(map(callable, self.lr_lambdas)):
            raise ValueError(f"lr_lambda is a function, or a list of one for each of the {count} groups")
        super().__init__(optimizer)

    def first_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (it does not matter)
        """The initial rate times the function of 0."""
        return self.rate_at(group)

    def next_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (it does not matter)
        """The initial rate times the function of the epoch."""
        return self.rate_at(group)

    def rate_at(self, group: int) -> float:
        """The initial rate times the function of the epoch."""
        return self.base_lrs[group] * float(self.lr_lambdas[group](self.last_epoch))


class StepLR(Curve):
    """The rate is multiplied by `gamma` every `step_size` epochs.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> optimizer = optim.SGD([nn.Parameter(np.ones(2))], lr=1.0)
    >>> schedule = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += schedule.get_last_lr()
    ...     schedule.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1) -> None:
        self.step_size, self.gamma = _whole("step_size", step_size), float(gamma)
        super().__init__(optimizer)

    def next_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Times gamma where the epoch is a multiple of the step."""
        return rate if self.last_epoch % self.step_size else rate * self.gamma

    def rate_at(self, group: int) -> float:
        """``base gamma^(epoch // step_size)``."""
        return self.base_lrs[group] * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(Curve):
    """The rate is multiplied by `gamma` at each epoch that is a milestone, once for each time it is named."""

    def __init__(self, optimizer: Any, milestones: Iterable[int], gamma: float = 0.1) -> None:
        self.milestones, self.gamma = Counter(milestones), float(gamma)
        super().__init__(optimizer)

    def first_rate(self, group: int, rate: float) -> float:
        """Times gamma if 0 is a milestone."""
        return self.next_rate(group, rate)

    def next_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Times gamma for each milestone that the epoch is."""
        times = self.milestones[self.last_epoch]
        return rate * self.gamma**times if times else rate

    def rate_at(self, group: int) -> float:
        """``base gamma^(milestones so far)``."""
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return self.base_lrs[group] * self.gamma**passed


class ConstantLR(Curve):
    """The rate times `factor` until epoch `total_iters`, and the rate itself from then on."""

    def __init__(self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5) -> None:
        if not 0 < factor <= 1:
            raise ValueError(f"factor must be above 0 and at most 1, got {factor!r}")
        self.factor, self.total_iters = float(factor), _whole("total_iters", total_iters, 0)
        super().__init__(optimizer)

    def first_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Times the factor."""
        return rate * self.factor

    def next_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Divided by the factor once, at the end."""
        return rate if self.last_epoch != self.total_iters else rate * (1.0 / self.factor)

    def rate_at(self, group: int) -> float:
        """``base factor`` before the end."""
        return self.base_lrs[group] * (1.0 if self.last_epoch >= self.total_iters else self.factor)


class LinearLR(Curve):
    """The rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs, on a line."""

    def __init__(
        self, optimizer: Any, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(f"start_factor must be above 0 and at most 1, got {start_factor!r}")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"end_factor must be at least 0 and at most 1, got {end_factor!r}")
        self.start_factor, self.end_factor = float(start_factor), float(end_factor)
        self.total_iters = _whole("total_iters", total_iters)
        super().__init__(optimizer)

    def first_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Times the first factor."""
        return rate * self.start_factor

    def next_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Times the ratio of this factor to the one before."""
        if self.last_epoch > self.total_iters:
            return rate
        rise = self.end_factor - self.start_factor
        return rate * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def rate_at(self, group: int) -> float:
        """``base (start + (end - start) min(1, epoch / total_iters))``."""
        rise = (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch) / self.total_iters
        return self.base_lrs[group] * (self.start_factor + rise)


class ExponentialLR(Curve):
    """The rate is multiplied by `gamma` in every epoch."""

    def __init__(self, optimizer: Any, gamma: float) -> None:
        self.gamma = float(gamma)
        super().__init__(optimizer)

    def next_rate(self, group: int, rate: float) -> float:  # noqa: ARG002 (all are alike)
        """Times gamma."""
        return rate * self.gamma

    def rate_at(self, group: int) -> float:
        """``base gamma^epoch``."""
        return self.base_lrs[group] * self.gamma**self.last_epoch


class CosineAnnealingLR(Curve):
    """The rate goes down to `eta_min` in `T_max` epochs, on half a cosine, and up again in as many.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2017; without the restarts.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> optimizer = optim.SGD([nn.Parameter(np.ones(2))], lr=1.0)
    >>> schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> schedule.step()
    >>> round(schedule.get_last_lr()[0], 6)
    0.5
    """

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0) -> None:
        self.T_max, self.eta_min = _whole("T_max", T_max), float(eta_min)
        super().__init__(optimizer)

    def next_rate(self, group: int, rate: float) -> float:
        """The distance to the minimum times the ratio of this cosine to the one before."""
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return rate + (self.base_lrs[group] - self.eta_min) * (1 - cos(pi / self.T_max)) / 2
        now, before = (1 + cos(pi * epoch / self.T_max) for epoch in (self.last_epoch, self.last_epoch - 1))
        return now / before * (rate - self.eta_min) + self.eta_min

    def rate_at(self, group: int) -> float:
        """``eta_min + (base - eta_min) (1 + cos(π epoch / T_max)) / 2``."""
        share = (1 + cos(pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (self.base_lrs[group] - self.eta_min) * share


def _whole(name: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)
