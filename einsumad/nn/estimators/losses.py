"""The loss of an estimator: with weights for samples, and with a penalty on the weights of the network.

Owns :class:`Losses`, :class:`PenalisedLoss` and :class:`WithWeights`. Imports modules. Invariant: a sample of weight w
counts as w equal samples do; the penalty belongs to training and not to what is measured.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from einsumad.nn.module import Module

Loss = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Losses:
    """A loss of outputs and targets: its mean, and the same for each sample, if it is known."""

    mean: Loss
    each: Loss | None
    why: str = ""

    def check_weights(self) -> None:
        """Raise :class:`ValueError` where samples cannot have weights."""
        if self.each is None:
            raise ValueError(f"sample_weight needs a loss for each sample: {self.why}")


def losses_of(given: Any, named: Mapping[str, Callable[..., Any]]) -> Losses:
    """What the parameter `loss` of an estimator means; None is the first of the names.

    Raises :class:`ValueError` for another name and :class:`TypeError` for what is no function.
    """
    if given is None:
        given = next(iter(named))
    if isinstance(given, str) and given in named:
        return Losses(named[given], partial(named[given], reduction="none"))
    if not callable(given):
        wrong = f"loss is one of {', '.join(map(repr, named))} or a function of outputs and targets, got {given!r}"
        raise ValueError(wrong) if isinstance(given, str) else TypeError(wrong)
    if getattr(given, "reduction", getattr(given, "keywords", {}).get("reduction", "mean")) != "mean":
        raise ValueError(f"loss gives the mean over samples: {given!r} has another reduction")
    given = deepcopy(given) if isinstance(given, Module) else given
    weight = given.weight if hasattr(given, "weight") else getattr(given, "keywords", {}).get("weight")
    if weight is not None:
        return Losses(given, None, "give the weights of classes as weights of their samples, not to the loss")
    if isinstance(given, Module) and hasattr(given, "reduction"):
        each = deepcopy(given)
        each.reduction = "none"
        return Losses(given, each)
    if not isinstance(given, Module) and "reduction" in inspect.signature(given).parameters:
        return Losses(given, partial(given, reduction="none"))
    return Losses(given, None, f"{given!r} has no argument or attribute reduction, to be 'none'")


class PenalisedLoss(Module):
    """The mean loss of a batch of n samples and, in training, ``alpha / (2 n) Σ w²`` over the weights of the network.

    Weights are the parameters of two axes or more. With weights of samples n is their sum, of which `mean_weight` is
    the mean over all samples; those of the batch are divided by it.
    """

    def __init__(self, module: Module, losses: Losses, alpha: float, dtype: Any) -> None:
        self.module, self.mean, self.each = module, losses.mean, losses.each
        self.alpha = alpha
        self.register_buffer("mean_weight", np.ones((), dtype), persistent=False)

    def forward(self, outputs: Any, target: Any) -> Any:
        """The loss of outputs, or of outputs and weights."""
        if not isinstance(outputs, tuple):
            loss = self.mean(outputs, target)
        else:
            outputs, weights = outputs
            losses = self.each(outputs, target)  # type: ignore[misc]  # checked where there are weights
            if np.shape(losses)[:1] != np.shape(weights):
                raise ValueError(f"sample_weight needs a loss for each sample, got shape {np.shape(losses)}")
            loss = np.mean(weights * np.mean(np.reshape(losses, (len(target), -1)), axis=1))
        if not (self.training and self.alpha):
            return loss
        squares = [np.sum(p**2) for p in self.module.parameters() if p.data.ndim >= 2 and p.requires_grad]
        return loss + 0.5 * self.alpha / len(target) * sum(squares, start=0.0) / self.mean_weight


class WithWeights(Module):
    """A network that hands the weights of samples on to the loss."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def forward(self, x: Any, weights: Any) -> tuple[Any, Any]:
        """The outputs, and the weights."""
        return self.module(x), weights
