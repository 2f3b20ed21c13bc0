"""Losses: how far predictions are from targets.

Owns their formulas. Imports NumPy. Invariant: each takes predictions first and targets second, of equal shapes unless
it says otherwise, and `reduction` is ``"mean"``, ``"sum"`` or ``"none"``; logarithms of probabilities are never taken
of computed ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import special

import einsumad as ea
from einsumad.nn.functional.activations import log_softmax

Reduction: TypeAlias = Literal["mean", "sum", "none"]

_REDUCTIONS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda losses: losses}


def mse_loss(prediction: Any, target: Any, reduction: Reduction = "mean") -> Any:
    """``(prediction - target)²``."""
    _check_equal("mse_loss", prediction, target)
    return reduced((prediction - target) ** 2, reduction)


def l1_loss(prediction: Any, target: Any, reduction: Reduction = "mean") -> Any:
    """``|prediction - target|``; the derivative where they agree is 0."""
    _check_equal("l1_loss", prediction, target)
    return reduced(np.abs(prediction - target), reduction)


def huber_loss(prediction: Any, target: Any, delta: float = 1.0, reduction: Reduction = "mean") -> Any:
    """``e²/2`` where the error is at most delta, else ``delta (|e| - delta/2)`` (Huber, 1964)."""
    _check_equal("huber_loss", prediction, target)
    if not delta > 0:
        raise ValueError(f"delta is positive, got {delta}")
    error = np.abs(prediction - target)
    return reduced(np.where(error <= delta, 0.5 * error**2, delta * (error - 0.5 * delta)), reduction)


def nll_loss(log_probabilities: Any, target: Any, reduction: Reduction = "mean") -> Any:
    """Minus the log-probability of the right class: ``(n, classes, ...)`` and whole numbers ``(n, ...)``."""
    return reduced(-_of_right_class("nll_loss", log_probabilities, target), reduction)


def cross_entropy(scores: Any, target: Any, reduction: Reduction = "mean", label_smoothing: float = 0.0) -> Any:
    """Minus the log-probability of the right class, of scores ``(n, classes, ...)`` or ``(classes,)``.

    Targets are whole numbers ``(n, ...)``, or probabilities of the shape of the scores, such as one-hot rows. The mean
    is over the samples. With `label_smoothing` s a target t counts as ``(1 - s) t + s / classes``
    (Szegedy et al., 2016).
    """
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing is between 0 and 1, got {label_smoothing}")
    axis = 1 if np.ndim(scores) > 1 else 0
    logs = log_softmax(scores, axis)
    if np.shape(target) == np.shape(scores) and _kind(target) == "f":
        losses = -np.sum(target * logs, axis=axis)
    else:
        losses = -_of_right_class("cross_entropy", logs, target)
    if label_smoothing:
        losses = (1 - label_smoothing) * losses - label_smoothing * np.mean(logs, axis=axis)
    return reduced(losses, reduction)


def binary_cross_entropy(probability: Any, target: Any, reduction: Reduction = "mean") -> Any:
    """``-t log p - (1 - t) log(1 - p)``, each logarithm at least -100, as PyTorch has it."""
    _check_equal("binary_cross_entropy", probability, target)
    one, other = np.maximum(np.log(probability), -100), np.maximum(np.log1p(-probability), -100)
    return reduced(-(target * one + (1 - target) * other), reduction)


def binary_cross_entropy_with_logits(score: Any, target: Any, reduction: Reduction = "mean") -> Any:
    """The same of ``p = σ(score)``: ``log(1 + exp(score)) - t score``."""
    _check_equal("binary_cross_entropy_with_logits", score, target)
    return reduced(np.logaddexp(score, 0) - target * score, reduction)


def kl_div(
    log_prediction: Any, target: Any, reduction: Reduction | Literal["batchmean"] = "mean", log_target: bool = False
) -> Any:
    """``t (log t - log p)``, and 0 where t is 0; ``"batchmean"`` divides the sum by the number of rows."""
    _check_equal("kl_div", log_prediction, target)
    losses = (
        np.exp(target) * (target - log_prediction)
        if log_target
        else special.xlogy(target, target) - (target * log_prediction)
    )
    return np.sum(losses) / np.shape(losses)[0] if reduction == "batchmean" else reduced(losses, reduction)


def reduced(losses: Any, reduction: str) -> Any:
    """The mean or sum of losses, or these themselves."""
    if reduction not in _REDUCTIONS:
        raise ValueError(f"reduction is one of {', '.join(map(repr, _REDUCTIONS))}, got {reduction!r}")
    return _REDUCTIONS[reduction](losses)


def _of_right_class(name: str, logs: Any, target: Any) -> Any:
    """The entries at the classes: axis 1 of the logarithms, or their only one."""
    shape = np.shape(logs)
    axis = 1 if len(shape) > 1 else 0
    needed = shape[:axis] + shape[axis + 1 :]
    if _kind(target) not in "iu":
        raise TypeError(
            f"{name} takes classes as whole numbers of shape {needed}, or probabilities of the shape of the scores, "
            f"{shape}; got dtype {getattr(target, 'dtype', type(target).__name__)} and shape {np.shape(target)}"
        )
    if np.shape(target) != needed:
        raise ea.ShapeError(f"{name}: scores of shape {shape} need classes of shape {needed}, got {np.shape(target)}")
    if isinstance(target, np.ndarray) and target.size and not (target.min() >= 0 and target.max() < shape[axis]):
        raise IndexError(f"{name}: classes are from 0 to {shape[axis] - 1}, got {target.min()} to {target.max()}")
    return np.squeeze(np.take_along_axis(logs, np.expand_dims(target, axis), axis), axis)


def _kind(x: Any) -> str:
    return str(np.dtype(x.dtype).kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind)


def _check_equal(name: str, prediction: Any, target: Any) -> None:
    """Refuse shapes that would broadcast: ``(n, 1)`` beside ``(n,)`` would compare all pairs."""
    if np.shape(prediction) != np.shape(target):
        raise ea.ShapeError(
            f"{name}: the prediction has shape {np.shape(prediction)}, the target {np.shape(target)}: they must agree"
        )
