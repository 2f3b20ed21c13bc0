"""Optimisers: parameters in groups, what is kept for each, and the steps.

Owns :class:`Optimizer`. Imports compilation, the groups and what is saved. Invariant: arrays that are kept are
read-only and replaced as a whole; a step computes with the pure update only, and what it was given as a number never
makes a new plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.errors import ShapeError
from einsumad.optim.first_order.groups import Parameter, check_distinct, checked, complete_group, is_parameter
from einsumad.optim.first_order.kept import Kept, fitting_state, loaded, saved
from einsumad.optim.first_order.method import Method
from einsumad.optim.first_order.shared import Shared

_MOST_SHOWN = 8


class Optimizer:
    """The base of all first-order optimisers: :class:`SGD`, :class:`Adam` and the others.

    Parameters are anything with `data`, `grad` and `requires_grad`, such as ``nn.Parameter``, given as a list or as a
    list of groups: dictionaries with the list under "params" and hyperparameters of their own. `param_groups` has them
    all; a number there may be changed between steps, which is what schedules do with "lr".

    `step` updates all parameters that have a gradient. For steps that run within a larger plan there is the same as a
    pure function: `updated`, of what `states` and `numbers` give; `take` stores what came of it.

    A method of your own is a :class:`Method` record and an update:

    >>> import numpy as np, einsumad.nn as nn
    >>> from einsumad.optim import Method, Optimizer
    >>> def signs(value, gradient, state, numbers):
    ...     return value - numbers["lr"] * np.sign(gradient), state
    >>> method = Method(
    ...     "Signs",
    ...     {"lr": lambda name, value: float(value)},
    ...     update=signs,
    ...     flags=lambda group: {},
    ...     arrays=(),
    ...     state=lambda group: {},
    ...     numbers=lambda group, t, started: {"lr": group["lr"]},
    ... )
    >>> p = nn.Parameter(np.array([1.0, 2.0]))
    >>> p.grad = np.array([0.3, -0.2])
    >>> Optimizer([p], method, {"lr": 0.5}).step()
    >>> p.data
    array([0.5, 2.5])
    """

    def __init__(self, params: Any, method: Method, defaults: Mapping[str, Any]) -> None:
        self._method = method
        self.defaults = checked(defaults, method.hyperparameters, method.name)
        method.check(self.defaults)
        self.param_groups: list[dict[str, Any]] = []
        self._kept: list[Kept] = []
        given = [params] if is_parameter(params) else _listed(params)
        if not given:
            raise ValueError(f"{method.name} was given no parameters")
        for group in given if isinstance(given[0], Mapping) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a group: a dictionary with "params" and those hyperparameters that differ from the defaults."""
        group = complete_group(param_group, self.defaults, self._method.hyperparameters, self._method.name)
        self._method.check(group)
        check_distinct([*self.param_groups, group])
        self.param_groups.append(group)
        self._kept += [Kept() for _ in group["params"]]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters that have a gradient; what `closure` gives, which is called before that.

        Raises :class:`ShapeError` where a gradient has another shape than its parameter; nothing is changed then.
        """
        loss = None if closure is None else closure()
        every = [(number, *member) for number, member in enumerate(self._members())]
        taken = [(number, group, p) for number, group, p, _ in every if p.grad is not None]
        if not taken:
            return loss
        values = [np.asarray(p.data) for _, _, p in taken]
        gradients = [_gradient(p, value, number) for (number, _, p), value in zip(taken, values, strict=True)]
        flags, numbers, states = (
            [of_all[number] for number, _, _ in taken] for of_all in (self.flags(), self.numbers(), self.states())
        )
        new_values, new_states = _planned(
            self._method.update, Shared.of(flags), Shared.of(numbers), values, gradients, states
        )
        for (number, _, p), value, state in zip(taken, new_values, new_states, strict=True):
            p.data = value
            self._kept[number].advance(state)
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set those that there are to zero."""
        for _, parameter, _ in self._members():
            if parameter.grad is not None:
                parameter.grad = None if set_to_none else np.zeros_like(parameter.data)

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on from here: {"state": {place: {"step": ..., name: array}}, "param_groups": [...]}.

        Places are those in the order of all groups, also under "params" of the groups. Arrays are read-only; what else
        there is are ints, floats, truth values and tuples of them.
        """
        return saved(self.param_groups, self._kept)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave for an optimiser of the same method and parameters of the same shapes.

        Raises :class:`ValueError` (:class:`ShapeError` for shapes) or :class:`TypeError` where it does not fit; nothing
        is changed then.
        """
        groups, kept = loaded(state_dict, self.param_groups, self._method)
        for group, values in zip(self.param_groups, groups, strict=True):
            group.update(values)
        self._kept = kept

    def states(self) -> list[dict[str, np.ndarray]]:
        """The arrays kept for each parameter, in the order of all groups; the initial ones where no step was taken."""
        found = []
        for group, parameter, kept in self._members():
            value = np.asarray(parameter.data)
            initial = self._method.state(group)
            found.append({name: kept.array(name, value, fill) for name, fill in initial.items()})
        return found

    def numbers(self) -> list[dict[str, np.floating]]:
        """The numbers of the coming step for each parameter, computed in double precision, in the parameter's dtype.

        Parameters with equal numbers share one dictionary.
        """
        known: dict[Any, dict[str, np.floating]] = {}
        found = []
        for group, parameter, kept in self._members():
            dtype = np.asarray(parameter.data).dtype
            key = id(group), dtype, kept.steps, tuple(kept.arrays)
            if key not in known:
                numbers = self._method.numbers(group, kept.steps + 1, kept.arrays)
                known[key] = {name: dtype.type(number) for name, number in numbers.items()}
            found.append(known[key])
        return found

    def flags(self) -> list[dict[str, bool]]:
        """The keywords of the update for each parameter. Where they change, so does what `updated` computes."""
        by_group = {id(group): self._method.flags(group) for group in self.param_groups}
        return [by_group[id(group)] for group, _, _ in self._members()]

    def updated(
        self,
        values: Sequence[Any],
        gradients: Sequence[Any],
        states: Sequence[Mapping[str, Any]],
        numbers: Sequence[Mapping[str, Any]],
        flags: Sequence[Mapping[str, bool]] | None = None,
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """The values and states after a step, as a pure function of plain or traced arrays.

        All are lists in the order of the parameters of all groups. Where a gradient is None, value and state come back
        as they are. `flags` are those of now if they are not given; a function that is compiled reads them when it is
        traced, unless they are among its arguments.
        """
        chosen = self.flags() if flags is None else flags
        counts = [len(part) for part in (values, gradients, states, numbers, chosen)]
        if counts != [len(self._kept)] * len(counts):
            raise ValueError(
                f"there are {len(self._kept)} parameters, but {counts[0]} values, {counts[1]} gradients, {counts[2]} "
                f"states, {counts[3]} numbers and {counts[4]} flags"
            )
        return _all_updated(self._method.update, Shared.of(chosen), Shared.of(numbers), values, gradients, states)

    def take(self, states: Sequence[Mapping[str, Any] | None]) -> None:
        """Store the states after a step that ran elsewhere, and count it for each parameter whose state is not None.

        The arrays are kept as they are: leave them alone. Values of the parameters are not concerned.
        """
        if len(states) != len(self._kept):
            raise ValueError(f"there are {len(self._kept)} parameters, but {len(states)} states")
        names = [self._method.state(group) for group, _, _ in self._members()]
        found = [
            None if state is None else fitting_state(state, wanted, np.asarray(p.data), f"the state of parameter {k}")
            for k, (state, wanted, (_, p, _)) in enumerate(zip(states, names, self._members(), strict=True))
        ]
        for kept, state in zip(self._kept, found, strict=True):
            if state is not None:
                kept.advance(state)

    def _members(self) -> Iterator[tuple[dict[str, Any], Parameter, Kept]]:
        pairs = [(group, parameter) for group in self.param_groups for parameter in group["params"]]
        return ((group, parameter, kept) for (group, parameter), kept in zip(pairs, self._kept, strict=True))

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            shapes = [np.shape(parameter.data) for parameter in group["params"]]
            shown = ", ".join(map(str, shapes[:_MOST_SHOWN])) + (", ..." if len(shapes) > _MOST_SHOWN else "")
            rest = ", ".join([f"{name}={value!r}" for name, value in group.items() if name != "params"])
            lines.append(f"  group {number}: {len(shapes)} parameters of shapes {shown}\n    {rest}\n")
        return f"{self._method.name}(\n{''.join(lines)})"


def _all_updated(  # noqa: PLR0917 (compiled functions are faster to call by position)
    update: Callable[..., tuple[Any, dict[str, Any]]],
    flags: Shared,
    numbers: Shared,
    values: Sequence[Any],
    gradients: Sequence[Any],
    states: Sequence[Mapping[str, Any]],
) -> tuple[list[Any], list[dict[str, Any]]]:
    """The values and states of all parameters after a step, each with its flags and numbers."""
    new_values, new_states = [], []
    parts = zip(flags.each(), numbers.each(), values, gradients, states, strict=True)
    for chosen, held, value, gradient, state in parts:
        new = (value, dict(state)) if gradient is None else update(value, gradient, state, held, **chosen)
        new_values.append(new[0])
        new_states.append(new[1])
    return new_values, new_states


_planned = ea.compile(_all_updated)
"""One plan for all parameters of a step; optimisers of equal parameters share it."""


def _gradient(parameter: Parameter, value: np.ndarray, number: int) -> np.ndarray:
    """The gradient of a parameter in its dtype. Raises where it has another shape or kind."""
    gradient = np.asarray(parameter.grad)
    if gradient.shape != value.shape:
        raise ShapeError(f"parameter {number} has shape {value.shape}, its gradient {gradient.shape}")
    if not np.can_cast(gradient.dtype, value.dtype, "same_kind"):
        raise TypeError(f"parameter {number} has dtype {value.dtype}, its gradient {gradient.dtype}")
    return gradient.astype(value.dtype, copy=False)


def _listed(params: Any) -> list[Any]:
    """What was given as a list; groups and parameters are looked at one by one afterwards."""
    if isinstance(params, Mapping | set | frozenset | str) or not hasattr(params, "__iter__"):
        raise TypeError(
            f"parameters are given as a list, such as model.parameters(), or as a list of groups, got "
            f"{type(params).__name__}"
        )
    return list(params)
