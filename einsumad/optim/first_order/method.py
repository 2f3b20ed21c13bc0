"""What makes one first-order method: its hyperparameters, its update, and what it needs for a step.

Owns :class:`Method`. Imports the groups. Invariant: it is never changed, and nothing in it belongs to an optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from einsumad.optim.first_order.groups import Check

Group: TypeAlias = Mapping[str, Any]


def _anything(group: Group) -> None:
    """No hyperparameter forbids another."""


@dataclass(frozen=True, slots=True)
class Method:
    """A first-order method.

    `hyperparameters` has a check for each by its name, and `update` is the pure function of a step (see
    :mod:`einsumad.optim.updates`). All others are functions of a group: `flags` gives the keywords of the update, True
    and False only; `state` the arrays that are kept for a parameter by name, with the number that fills them at first,
    and `arrays` is all names there can be; `numbers` the numbers of step t = 1, 2, ... as floats, where `started`
    has the names of the arrays that were made in a step before.
    `check` raises :class:`ValueError` for hyperparameters that do not go together.
    """

    name: str
    hyperparameters: Mapping[str, Check]
    update: Callable[..., tuple[Any, dict[str, Any]]]
    flags: Callable[[Group], dict[str, bool]]
    arrays: tuple[str, ...]
    state: Callable[[Group], dict[str, float]]
    numbers: Callable[[Group, int, Container[str]], dict[str, float]]
    check: Callable[[Group], None] = _anything
