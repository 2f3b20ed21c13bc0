"""Losses as modules: what a prediction and a target are given to.

Owns them. Imports modules and their functions. Invariant: each is its function with fixed options; weights are buffers,
as in PyTorch.
"""

from __future__ import annotations

from typing import Any, Literal

from einsumad.nn import functional
from einsumad.nn.functional.losses import Reduction, reduced
from einsumad.nn.module import Module


class Loss(Module):
    """A loss with a reduction: ``"mean"``, ``"sum"`` or ``"none"``."""

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        reduced(0, reduction)
        self.reduction = reduction

    def extra_repr(self) -> str:
        """The reduction, unless it is the mean."""
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"

    def keep(self, **weights: Any) -> None:
        """Weights as buffers, and those that are None as None."""
        for name, weight in weights.items():
            if weight is None:
                setattr(self, name, None)
            else:
                self.register_buffer(name, weight)


class MSELoss(Loss):
    """``(input - target)²``.

    >>> import numpy as np, einsumad.nn as nn
    >>> float(nn.MSELoss(reduction="sum")(np.array([1.0, 2.0]), np.array([1.0, 4.0])))
    4.0
    """

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of predictions and targets of one shape."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(Loss):
    """``|input - target|``."""

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of predictions and targets of one shape."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class HuberLoss(Loss):
    """``e²/2`` where the error is at most delta, else ``delta (|e| - delta/2)`` (Huber, 1964)."""

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not delta > 0:
            raise ValueError(f"delta is positive, got {delta}")
        self.delta = float(delta)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of predictions and targets of one shape."""
        return functional.huber_loss(input, target, self.reduction, self.delta)


class CrossEntropyLoss(Loss):
    """Minus the log-probability of the right class, of scores; targets are classes or probabilities.

    Options are those of :func:`einsumad.nn.functional.cross_entropy`.

    >>> import numpy as np, einsumad.nn as nn
    >>> loss, scores = nn.CrossEntropyLoss(), np.array([[0.0, 0.0]])
    >>> bool(loss(scores, np.array([1])) == loss(scores, np.array([[0.0, 1.0]])))
    True
    """

    weight: Any

    def __init__(
        self,
        weight: Any = None,
        *,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction=reduction)
        if not 0 <= label_smoothing <= 1:
            raise ValueError(f"label_smoothing is between 0 and 1, got {label_smoothing}")
        self.keep(weight=weight)
        self.ignore_index, self.label_smoothing = int(ignore_index), float(label_smoothing)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of scores ``(n, classes, ...)`` and classes ``(n, ...)`` or probabilities."""
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(Loss):
    """Minus the log-probability of the right class, of log-probabilities."""

    weight: Any

    def __init__(self, weight: Any = None, *, ignore_index: int = -100, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.keep(weight=weight)
        self.ignore_index = int(ignore_index)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of log-probabilities ``(n, classes, ...)`` and classes ``(n, ...)``."""
        return functional.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class BCELoss(Loss):
    """``-t log p - (1 - t) log(1 - p)`` of probabilities."""

    weight: Any

    def __init__(self, weight: Any = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.keep(weight=weight)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of probabilities and targets of one shape."""
        return functional.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(Loss):
    """The same of scores, whose sigmoid is the probability; `pos_weight` multiplies the term of positive targets."""

    weight: Any
    pos_weight: Any

    def __init__(self, weight: Any = None, *, reduction: Reduction = "mean", pos_weight: Any = None) -> None:
        super().__init__(reduction=reduction)
        self.keep(weight=weight, pos_weight=pos_weight)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of scores and targets of one shape."""
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(Loss):
    """``t (log t - input)``, where the input is a logarithm; ``"batchmean"`` is the divergence, averaged over rows."""

    def __init__(self, *, reduction: Reduction | Literal["batchmean"] = "mean", log_target: bool = False) -> None:
        super().__init__(reduction="mean" if reduction == "batchmean" else reduction)
        self.form, self.log_target = reduction, bool(log_target)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of log-probabilities and probabilities of one shape."""
        return functional.kl_div(input, target, reduction=self.form, log_target=self.log_target)
