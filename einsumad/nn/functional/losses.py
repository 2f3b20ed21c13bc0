"""Losses of numbers and of probabilities: how far predictions are from targets.

Owns their formulas, and reductions. Imports NumPy. Invariant: each takes predictions first and targets second, of equal
shapes, and `reduction` is ``"mean"``, ``"sum"`` or ``"none"``; the logarithm of a sigmoid is never taken of a computed
one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import special

import einsumad as ea
from einsumad.nn.functional.indices import dtype_of

Reduction: TypeAlias = Literal["mean", "sum", "none"]

_REDUCTIONS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda losses: losses}


def mse_loss(input: Any, target: Any, *, reduction: Reduction = "mean") -> Any:
    """``(input - target)²``.

    Raises :class:`ShapeError` if the shapes differ, as all losses here do: ``(n, 1)`` beside ``(n,)`` would compare all
    pairs.

    >>> import numpy as np, einsumad.nn as nn
    >>> float(nn.functional.mse_loss(np.array([1.0, 2.0]), np.array([1.0, 4.0])))
    2.0
    """
    _check_equal("mse_loss", input, target)
    return reduced((input - target) ** 2, reduction)


def l1_loss(input: Any, target: Any, *, reduction: Reduction = "mean") -> Any:
    """``|input - target|``; the derivative where they agree is 0."""
    _check_equal("l1_loss", input, target)
    return reduced(np.abs(input - target), reduction)


def huber_loss(input: Any, target: Any, reduction: Reduction = "mean", delta: float = 1.0) -> Any:
    """``e²/2`` where the error is at most delta, else ``delta (|e| - delta/2)`` (Huber, 1964).

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.functional.huber_loss(np.array([0.5, 3.0]), np.zeros(2), reduction="none")
    array([0.125, 2.5  ])
    """
    _check_equal("huber_loss", input, target)
    if not delta > 0:
        raise ValueError(f"delta is positive, got {delta}")
    error = input - target
    size = np.abs(error)
    return reduced(np.where(size <= delta, 0.5 * error**2, delta * (size - 0.5 * delta)), reduction)


def binary_cross_entropy(input: Any, target: Any, weight: Any = None, *, reduction: Reduction = "mean") -> Any:
    """``-t log p - (1 - t) log(1 - p)``, each logarithm at least -100, as PyTorch has it.

    A logarithm that is cut off there has the derivative 0. `weight` multiplies losses, and broadcasts against them.
    Raises :class:`ValueError` for numbers that are no probabilities; traced ones give NaN.
    """
    _check_equal("binary_cross_entropy", input, target)
    for name, values in (("probabilities", input), ("targets", target)):
        if not isinstance(values, ea.Tensor) and np.any((np.asarray(values) < 0) | (np.asarray(values) > 1)):
            raise ValueError(
                f"binary_cross_entropy: {name} are between 0 and 1; for scores there is "
                "binary_cross_entropy_with_logits"
            )
    with np.errstate(divide="ignore"):
        one, other = np.maximum(np.log(input), -100), np.maximum(np.log1p(-input), -100)
    return reduced(_weighted(-(target * one + (1 - target) * other), weight), reduction)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, *, reduction: Reduction = "mean", pos_weight: Any = None
) -> Any:
    """The same of ``p = σ(score)``: ``w t log(1 + exp(-score)) + (1 - t) log(1 + exp(score))``, with pos_weight w.

    No digits are lost and nothing overflows for large scores. Both weights broadcast against the losses.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.functional.binary_cross_entropy_with_logits(np.array([1000.0, -1000.0]), np.ones(2), reduction="none")
    array([   0., 1000.])
    """
    _check_equal("binary_cross_entropy_with_logits", input, target)
    positive = _weighted(target * np.logaddexp(-input, 0), pos_weight)
    return reduced(_weighted(positive + (1 - target) * np.logaddexp(input, 0), weight), reduction)


def kl_div(
    input: Any, target: Any, *, reduction: Reduction | Literal["batchmean"] = "mean", log_target: bool = False
) -> Any:
    """``t (log t - input)``, and 0 where t is 0; the input is a logarithm, the target too with `log_target`.

    ``"batchmean"`` divides the sum by the number of rows, which is the divergence of Kullback and Leibler (1951).
    """
    _check_equal("kl_div", input, target)
    if log_target:
        losses = np.where(target == -np.inf, 0, np.exp(target) * (target - input))
    else:
        losses = special.xlogy(target, target) - times_logarithms(target, input)
    if reduction == "batchmean":
        total = np.sum(losses)
        return total / np.shape(losses)[0] if np.ndim(losses) else total
    return reduced(losses, reduction)


def reduced(losses: Any, reduction: str) -> Any:
    """The mean or sum of losses, or these themselves."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is one of {', '.join(map(repr, _REDUCTIONS))}, got {reduction!r}")
    return _REDUCTIONS[reduction](losses)


def times_logarithms(factors: Any, logarithms: Any) -> Any:
    """Products with logarithms of probabilities; what has the factor 0 and the probability 0 takes no part."""
    excluded = (factors == 0) & (logarithms == -np.inf)
    return np.where(excluded, 0, factors * np.where(excluded, 0, logarithms))


def like(weight: Any, losses: Any) -> Any:
    """Weights in the dtype of the losses."""
    array = weight if isinstance(weight, ea.Tensor) else np.asarray(weight)
    return array if array.dtype == losses.dtype else array.astype(losses.dtype)


def _weighted(losses: Any, weight: Any) -> Any:
    if weight is None:
        return losses
    weights = like(weight, losses)
    try:
        shape = np.broadcast_shapes(np.shape(weights), np.shape(losses))
    except ValueError:
        shape = None
    if shape != np.shape(losses):
        raise ea.ShapeError(
            f"weights of shape {np.shape(weights)} do not broadcast against losses of shape {np.shape(losses)}"
        )
    return weights * losses


def _check_equal(name: str, prediction: Any, target: Any) -> None:
    """Refuse shapes that would broadcast, and whole numbers as predictions."""
    if np.shape(prediction) != np.shape(target):
        raise ea.ShapeError(
            f"{name}: the prediction has shape {np.shape(prediction)}, the target {np.shape(target)}: they must agree"
        )
    if dtype_of(prediction).kind != "f":
        raise TypeError(f"{name}: predictions are floating-point numbers, got dtype {dtype_of(prediction)}")
