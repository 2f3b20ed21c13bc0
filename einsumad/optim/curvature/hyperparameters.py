"""Checks of the numbers that second-order optimisers take.

Owns those that first-order methods do not have. Imports these, and NumPy. Invariant: a check gives the number as it is
kept, or raises an error that names it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.optim.first_order.groups import Check, at_least_zero


def above_zero(name: str, number: Any) -> float:
    """A finite number above 0."""
    found = at_least_zero(name, number)
    if not found:
        raise ValueError(f"{name} must be above 0")
    return found


def whole(name: str, number: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise TypeError(f"{name} must be a whole number of at least 1, got {number!r}")
    if number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}")
    return int(number)


def or_none(check: Check) -> Check:
    """None, or what a check allows."""
    return lambda name, value: None if value is None else check(name, value)
