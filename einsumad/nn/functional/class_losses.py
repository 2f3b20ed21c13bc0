"""Losses of classes: minus the log-probability of the right one.

Owns their formulas. Imports NumPy, the checks of indices, and reductions. Invariant: logarithms of probabilities come
from scores and are never taken of computed probabilities; the axis of classes is the second, or the only one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import einsumad as ea
import einsumad.numpy as enp
from einsumad.nn.functional.activations import log_softmax
from einsumad.nn.functional.indices import can_be, dtype_of, from_zero, wide
from einsumad.nn.functional.losses import Reduction, like, reduced, times_logarithms


def nll_loss(
    input: Any, target: Any, weight: Any = None, *, ignore_index: int = -100, reduction: Reduction = "mean"
) -> Any:
    """Minus the log-probability of the right class: logarithms ``(n, classes, ...)`` and classes ``(n, ...)``.

    Options are those of :func:`cross_entropy`, and so are errors.
    """
    reduced(0, reduction)
    return _of_classes(input, target, _Options("nll_loss", weight, ignore_index, reduction))


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Minus the log-probability of the right class, of scores ``(n, classes, ...)`` or ``(classes,)``.

    Targets are whole numbers ``(n, ...)``, or probabilities of the shape of the scores, such as one-hot rows. The mean
    is over the samples. With `label_smoothing` s a target t counts as ``(1 - s) t + s / classes``
    (Szegedy et al., 2016). `weight` has a number for each class, by which its term is multiplied; for whole numbers the
    mean is then the weighted one. Samples whose class is `ignore_index` take no part; if there are no others the mean
    is NaN. A class with the score -∞ and the probability 0 takes no part either.

    Raises :class:`ShapeError` for shapes that do not fit, :class:`TypeError` for classes that are no whole numbers and
    :class:`IndexError` for those that are out of range.

    >>> import numpy as np, einsumad.nn as nn
    >>> scores = np.array([[0.0, 1000.0], [0.0, 0.0]])
    >>> nn.functional.cross_entropy(scores, np.array([0, 1]), reduction="none")
    array([1.00000000e+03, 6.93147181e-01])
    """
    reduced(0, reduction)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing is between 0 and 1, got {label_smoothing}")
    _check_scores("cross_entropy", input)
    logs = log_softmax(input, _axis_of_classes(input))
    if np.shape(target) != np.shape(input) or dtype_of(target).kind != "f":
        return _of_classes(
            logs, target, _Options("cross_entropy", weight, ignore_index, reduction, float(label_smoothing))
        )
    if ignore_index >= 0:
        raise ValueError(f"ignore_index={ignore_index} is for classes, but targets are probabilities")
    return _of_probabilities(logs, target, weight, reduction, float(label_smoothing))


def _of_probabilities(logs: Any, target: Any, weight: Any, reduction: str, smoothing: float) -> Any:
    axis = _axis_of_classes(logs)
    if smoothing:
        target = (1 - smoothing) * target + smoothing / np.shape(logs)[axis]
    terms = times_logarithms(target, logs)
    if weight is not None:
        terms = _along_classes("cross_entropy", weight, logs) * terms
    return reduced(-np.sum(terms, axis=axis), reduction)


@dataclass(frozen=True, slots=True)
class _Options:
    """What losses of classes have in common."""

    name: str
    weight: Any
    ignore_index: int
    reduction: str
    smoothing: float = 0.0


def _of_classes(logs: Any, target: Any, options: _Options) -> Any:
    target = _checked(options.name, logs, target)
    kept = target != options.ignore_index if can_be(options.ignore_index, target) else None
    if kept is not None and not isinstance(kept, ea.Tensor) and np.all(kept):
        kept = None
    axis = _axis_of_classes(logs)
    chosen = target if kept is None else np.where(kept, target, 0)
    classes = from_zero(chosen, np.shape(logs)[axis], options.name, "classes")
    losses = -np.squeeze(np.take_along_axis(logs, np.expand_dims(classes, axis), axis), axis)
    counts = None
    if options.weight is not None:
        along = _along_classes(options.name, options.weight, logs)
        counts = enp.take(np.reshape(along, -1), classes)
        losses = counts * losses
    if options.smoothing:
        rest = np.mean(logs if options.weight is None else along * logs, axis=axis)
        losses = (1 - options.smoothing) * losses - options.smoothing * rest
    if kept is not None:
        losses = np.where(kept, losses, 0)
        counts = kept.astype(losses.dtype) if counts is None else np.where(kept, counts, 0)
    if options.reduction == "mean" and counts is not None:
        return _mean_of_counted(losses, counts, kept)
    return reduced(losses, options.reduction)


def _mean_of_counted(losses: Any, counts: Any, kept: Any) -> Any:
    """The sum over that of the counts; NaN where nothing counts, as in PyTorch.

    The derivative is 0 where nothing is kept, and NaN where something is that counts nothing.
    """
    total = np.sum(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        divisor = total if kept is None else np.where(np.any(kept), total, 1)
        return (np.sum(losses) / divisor + np.where(total == 0, np.nan, np.zeros((), dtype_of(losses))))[()]


def _checked(name: str, logs: Any, target: Any) -> Any:
    """The classes, whole numbers of the shape of the logarithms without their axis of classes."""
    _check_scores(name, logs)
    shape, axis = np.shape(logs), _axis_of_classes(logs)
    needed = shape[:axis] + shape[axis + 1 :]
    if dtype_of(target).kind not in "iu":
        raise TypeError(
            f"{name} takes classes as whole numbers of shape {needed}"
            + (f", or probabilities of the shape of the scores, {shape}" if name == "cross_entropy" else "")
            + f"; got dtype {dtype_of(target)} and shape {np.shape(target)}"
        )
    if np.shape(target) != needed:
        hint = "; one-hot rows are floating-point numbers" if np.shape(target) == shape else ""
        raise ea.ShapeError(
            f"{name}: scores of shape {shape} need classes of shape {needed}, got {np.shape(target)}{hint}"
        )
    return wide(target)


def _check_scores(name: str, scores: Any) -> None:
    if np.ndim(scores) == 0:
        raise ea.ShapeError(f"{name} takes scores (n, classes, ...) or (classes,), got a number")
    if dtype_of(scores).kind != "f":
        raise TypeError(f"{name}: scores are floating-point numbers, got dtype {dtype_of(scores)}")


def _along_classes(name: str, weight: Any, logs: Any) -> Any:
    """Weights of classes, with axes of size 1 after theirs."""
    axis = _axis_of_classes(logs)
    count = np.shape(logs)[axis]
    if np.shape(weight) != (count,):
        raise ea.ShapeError(f"{name}: {count} classes need weights of shape ({count},), got {np.shape(weight)}")
    return np.reshape(like(weight, logs), (count,) + (1,) * (np.ndim(logs) - axis - 1))


def _axis_of_classes(scores: Any) -> int:
    return 1 if np.ndim(scores) > 1 else 0
