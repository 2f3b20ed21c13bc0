"""What the updates have in common: the direction that is followed, and moving averages.

Owns both. Imports NumPy's types only. Invariant: all that is done is entrywise, and numbers are in the dtype of the
arrays, so that this dtype is that of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Numbers: TypeAlias = Mapping[str, Any]
"""The numbers of a step by name."""
State: TypeAlias = dict[str, Any]
"""The arrays that are kept for a parameter, by name."""


def direction(value: Any, gradient: Any, numbers: Numbers, *, maximize: bool, weight_decay: bool) -> Any:
    """The gradient of what is minimised: ``±g + weight_decay · p``, with the penalty ½ weight_decay ‖p‖²."""
    gradient = -gradient if maximize else gradient
    return gradient + numbers["weight_decay"] * value if weight_decay else gradient


def averaged(average: Any, new: Any, kept: Any, taken: Any, *, long: bool) -> Any:
    """``kept · average + taken · new`` with kept + taken = 1.

    It is written as a small step from the one that has the larger weight, which is the average if it is a `long` one:
    that one comes through unrounded.
    """
    return average + taken * (new - average) if long else new - kept * (new - average)
