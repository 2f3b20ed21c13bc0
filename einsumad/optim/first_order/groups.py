"""Groups of parameters, each with its own hyperparameters.

Owns the checks. Imports the standard library and NumPy. Invariant: a group has exactly the hyperparameters of its
method, each of the right kind and in its range, beside "params" and the "initial_lr" of schedules; no parameter is in
two groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol, TypeAlias

import numpy as np

INITIAL_RATE = "initial_lr"
"""The key under which schedules keep the learning rate that a group had at first."""


class Parameter(Protocol):
    """What is optimised: an array, its gradient or None, and whether it is to have one."""

    data: Any
    grad: Any
    requires_grad: bool


Check: TypeAlias = Callable[[str, Any], Any]
"""Gives the value of a hyperparameter as it is kept, from its name and what was given; raises for what it cannot be."""


def _number(name: str, value: Any, wanted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be {wanted}, got {value!r}")
    return value if type(value) is int else float(value)


def at_least_zero(name: str, value: Any) -> float:
    """A finite number of at least 0."""
    number = _number(name, value, "a finite number of at least 0")
    if not 0 <= number < float("inf"):
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number


def share(name: str, value: Any) -> float:
    """A number of at least 0 and below 1, the weight of what was before."""
    number = _number(name, value, "a number of at least 0 and below 1")
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value!r}")
    return number


def finite(name: str, value: Any) -> float:
    """A finite number."""
    number = _number(name, value, "a finite number")
    if not abs(number) < float("inf"):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number


def two_shares(name: str, value: Any) -> tuple[float, float]:
    """A pair of shares."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise TypeError(f"{name} must be two numbers, got {value!r}")
    return share(f"{name}[0]", value[0]), share(f"{name}[1]", value[1])


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def complete_group(group: Any, defaults: Mapping[str, Any], known: Mapping[str, Check], method: str) -> dict[str, Any]:
    """The group with checked parameters and hyperparameters, and defaults for those that it has not."""
    if not isinstance(group, Mapping) or "params" not in group:
        raise TypeError(f"a group is a dictionary with the parameters under 'params', got {group!r}")
    params = parameters_of(group["params"])
    return {"params": params, **checked({**defaults, **group}, known, method)}


def checked(given: Mapping[str, Any], known: Mapping[str, Check], method: str) -> dict[str, Any]:
    """The hyperparameters of a group, checked. Raises for names that the method does not have, and for missing ones."""
    unknown = [name for name in given if name not in known and name not in ("params", INITIAL_RATE)]
    if unknown:
        near = get_close_matches(str(unknown[0]), list(known), 1)
        hint = f": did you mean {near[0]!r}?" if near else f", whose hyperparameters are {', '.join(known)}"
        raise TypeError(f"{unknown[0]!r} is no hyperparameter of {method}{hint}")
    missing = [name for name in known if name not in given]
    if missing:
        raise ValueError(f"{missing[0]!r} is missing, a hyperparameter of {method}")
    values = {name: check(name, given[name]) for name, check in known.items()}
    if INITIAL_RATE in given:
        values[INITIAL_RATE] = finite(INITIAL_RATE, given[INITIAL_RATE])
    return values


def parameters_of(given: Any) -> list[Parameter]:
    """The parameters of a group as a list. Raises :class:`TypeError` for what is none."""
    if is_parameter(given):
        return [given]
    if isinstance(given, set | frozenset):
        raise TypeError("parameters must come in an order that stays the same: pass a list, not a set")
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"parameters are given as a list, such as model.parameters(), got {type(given).__name__}")
    found = list(given)
    for number, parameter in enumerate(found):
        if not is_parameter(parameter):
            raise TypeError(
                f"parameter {number} is a {type(parameter).__name__}, which has no data, grad and requires_grad: pass "
                "those of nn.Parameter, such as model.parameters()"
            )
        dtype = np.asarray(parameter.data).dtype
        if dtype.kind != "f":
            raise TypeError(f"parameter {number} has dtype {dtype}: optimisers work with real floating-point numbers")
    return found


def is_parameter(value: Any) -> bool:
    """Whether it has what a parameter has."""
    return all(hasattr(value, name) for name in ("data", "grad", "requires_grad"))


def check_distinct(groups: Sequence[Mapping[str, Any]]) -> None:
    """Raise :class:`ValueError` if a parameter is there twice: it would be updated twice in a step."""
    places: dict[int, int] = {}
    for number, group in enumerate(groups):
        for parameter in group["params"]:
            before = places.setdefault(id(parameter), -1)
            if before >= 0:
                where = f"twice in group {number}" if before == number else f"in groups {before} and {number}"
                raise ValueError(f"a parameter of shape {np.shape(parameter.data)} is {where}: name each once")
            places[id(parameter)] = number
