"""What is measured beside the loss: functions of outputs and targets, as plain arrays.

Owns those that have a name. Imports NumPy. Invariant: a metric is a mean over samples, so that those of batches are
averaged with their sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

Metric = Callable[[np.ndarray, np.ndarray], Any]


def accuracy(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The share of samples whose class is right.

    Outputs are scores ``(n, classes, ...)`` beside classes ``(n, ...)`` or one-hot rows of their shape, or scores
    ``(n,)`` or ``(n, 1)`` of two classes beside zeros and ones, where a positive score means one.
    """
    if outputs.ndim == 1 or outputs.shape[1:2] == (1,):
        return float(np.mean((outputs.reshape(len(outputs), -1) > 0) == (targets.reshape(len(outputs), -1) > 0.5)))
    wanted = np.argmax(targets, axis=1) if targets.shape == outputs.shape else targets
    return float(np.mean(np.argmax(outputs, axis=1) == wanted))


def mean_absolute_error(outputs: np.ndarray, targets: np.ndarray) -> float:
    """The mean of ``|outputs - targets|``."""
    return float(np.mean(np.abs(outputs - targets)))


_NAMED: dict[str, Metric] = {"accuracy": accuracy, "mae": mean_absolute_error}


def metrics_of(asked: Sequence[str] | Mapping[str, Metric]) -> dict[str, Metric]:
    """The metrics by name. Raises :class:`ValueError` for a name that is not known."""
    if isinstance(asked, str):
        asked = [asked]
    if isinstance(asked, Mapping):
        return dict(asked)
    for name in asked:
        if name not in _NAMED:
            near = get_close_matches(str(name), _NAMED, 1)
            meant = f", is {near[0]} meant?" if near else "."
            raise ValueError(
                f"no metric has the name {name!r}{meant} Known are {', '.join(_NAMED)}; others are given as "
                "{'name': function of outputs and targets}"
            )
    return {name: _NAMED[name] for name in asked}
