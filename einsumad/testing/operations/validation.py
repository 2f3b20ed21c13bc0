"""What may stand in the fields of an operation.

Owns these rules and the texts of their errors. Imports settings. Invariant: every error names the
operation, the field, what was found and what to give instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

import numpy as np

from einsumad.testing.checks.settings import Settings
from einsumad.testing.comparison import KINK_POLICIES

BY_HAND = ("gradient", "jacobian", "hessian", "hvp", "jvp", "vjp")
"""The derivatives that may be written by hand."""

_OWN = ("kink", "manifold", "minimal")
_OPTIONS = ("modes", *[each.name for each in fields(Settings) if each.name not in _OWN])


def validate(operation: Any) -> None:
    """Raise ``TypeError`` or ``ValueError`` for fields that cannot be meant."""
    if not isinstance(operation.name, str) or not operation.name:
        raise TypeError(f"an operation needs a name, got {operation.name!r}")
    for what in ("value", *BY_HAND):
        given = getattr(operation, what)
        if not callable(given) and (what == "value" or given is not None):
            raise TypeError(f"{_named(operation)}: {what} has to be a function, got {type(given).__name__}")
    if not callable(operation.sample) and not hasattr(operation.sample, "example"):
        raise TypeError(
            f"{_named(operation)}: sample has to be a Hypothesis strategy or a function of a random generator that "
            f"gives a tuple of arguments, got {type(operation.sample).__name__}"
        )
    _validate_numbers(operation)
    for name in operation.options:
        if name in _OWN:
            raise TypeError(f"{_named(operation)}: {name!r} is no option, but a field of the operation or set by it")
        _known(operation, "option", name, _OPTIONS)
    checked = {name: value for name, value in operation.options.items() if name != "modes"}
    Settings(manifold=operation.manifold, **checked)


def _validate_numbers(operation: Any) -> None:
    order = operation.order
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ValueError(f"{_named(operation)}: order must be a whole number of at least 1, got {order!r}")
    if operation.kink not in KINK_POLICIES:
        kinks = ", ".join(KINK_POLICIES)
        raise ValueError(f"{_named(operation)}: kink must be one of {kinks}, got {operation.kink!r}")
    if not operation.dtypes or any(np.dtype(dtype).kind != "f" for dtype in operation.dtypes):
        raise ValueError(f"{_named(operation)}: dtypes must name floating dtypes, got {operation.dtypes!r}")
    for interval in operation.domain or ():
        if interval is not None and None in interval:
            raise TypeError(f"{_named(operation)}: the domain has {interval!r}: write np.inf where there is no bound")
        if interval is not None and not interval[0] < interval[1]:
            raise ValueError(f"{_named(operation)}: the domain has {interval!r}: give intervals (low, high), low first")


def validate_skips(operation: Any) -> None:
    """Raise for skips without a reason, or of checks that would not run anyway."""
    for name, reason in operation.skips.items():
        _known(operation, "check", name, operation.checks)
        if not isinstance(reason, str) or not reason.strip():
            raise TypeError(f"{_named(operation)}: the skip of {name!r} needs a reason, got {reason!r}")


def _named(operation: Any) -> str:
    return f"operation {operation.name!r}"


def _known(operation: Any, what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        near = get_close_matches(name, known, n=2)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(known)}"
        raise ValueError(f"{_named(operation)} has no {what} {name!r}: {hint}")
