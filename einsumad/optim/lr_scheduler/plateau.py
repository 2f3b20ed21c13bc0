"""Rates that are reduced when a measure has stopped improving.

Owns :class:`ReduceLROnPlateau`. Imports tensors and what schedules have in common. Invariant: rates only fall.
"""

# ruff: noqa: PLR0917 (the arguments are PyTorch's)

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Literal

from einsumad import frontend as ea
from einsumad.optim.lr_scheduler.schedule import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """Rates times `factor` when the measure did not improve for more than `patience` epochs.

    An improvement is one by more than `threshold`, a share of the best so far with ``threshold_mode="rel"``. For
    `cooldown` epochs after a reduction bad ones are not counted. Rates do not fall below `min_lr`, a number or one for
    each group, and not by less than `eps`. A measure that is NaN is no improvement.

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad import optim
    >>> optimizer = optim.SGD([nn.Parameter(np.ones(2))], lr=1.0)
    >>> schedule = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.5]
    """

    saved = ("last_epoch", "last_lr", "best", "num_bad_epochs", "cooldown_counter")

    def __init__(
        self,
        optimizer: Any,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        super().__init__(optimizer)
        if not 0 <= factor < 1:
            raise ValueError(f"factor must be at least 0 and below 1, got {factor!r}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode is 'min' or 'max', got {mode!r}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode is 'rel' or 'abs', got {threshold_mode!r}")
        count = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, Sequence) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"min_lr has {len(self.min_lrs)} numbers for {count} groups")
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.best = inf if mode == "min" else -inf
        self.num_bad_epochs = self.cooldown_counter = 0

    def step(self, metrics: Any) -> None:
        """Note the measure of an epoch, a number or a tensor that is known, and reduce the rates if it is time."""
        measure = float(metrics.numpy() if isinstance(metrics, ea.Tensor) else metrics)
        self.last_epoch += 1
        if self._is_better(measure):
            self.best, self.num_bad_epochs = measure, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        rates = self.rates()
        if self.num_bad_epochs > self.patience:
            lower = [max(rate * self.factor, least) for rate, least in zip(rates, self.min_lrs, strict=True)]
            rates = [new if old - new > self.eps else old for old, new in zip(rates, lower, strict=True)]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self.set_rates(rates)

    def _is_better(self, measure: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        if self.threshold_mode == "rel":
            return sign * measure < sign * self.best * (1 - sign * self.threshold)
        return sign * measure < sign * self.best - self.threshold
