"""Second-order optimisers: parameters, hyperparameters, what is kept, and steps that never raise the loss.

Owns :class:`SecondOrderOptimizer` and the loop of a step. Imports objectives, the updates, the groups of parameters and
the errors. Invariant: parameters and what is kept change together at the end of a step, or not at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from einsumad.optim.curvature.flat import moved
from einsumad.optim.curvature.objective import Objective, loss_of, value, value_and_gradient
from einsumad.optim.curvature.updates import gain_ratio
from einsumad.optim.first_order.groups import Check, check_distinct, checked, is_parameter, parameters_of
from einsumad.optim.vectors import rounding_of

State: TypeAlias = dict[str, Any]
"""What is kept from step to step: numbers, None, and arrays or lists of them, by name."""

_ENOUGH = 1e-4
_MOST_TRIES = 20


class Point(NamedTuple):
    """The values of the parameters, the arguments of the objective, and value, outputs and gradient there."""

    values: list[np.ndarray]
    args: tuple[Any, ...]
    value: Any
    outputs: Any
    gradient: np.ndarray


class Direction(NamedTuple):
    """A step p with its slope ``gᵀp`` and curvature ``pᵀBp``; whether it was cut off."""

    vector: np.ndarray
    slope: float
    curvature: float
    is_cut: bool = False

    def predicted(self, share: float) -> float:
        """By how much the model decreases along this share of the step."""
        return -share * self.slope - 0.5 * share * share * self.curvature


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """What a step makes: new values and what is to be kept; the loss and the outputs before it; whether it was taken.

    A step is not taken where nothing that was tried lowers the loss; values are the old ones then.
    """

    values: list[np.ndarray]
    state: State
    loss: Any
    outputs: Any
    taken: bool


class Region(ABC):
    """How steps from a point are found, and how the trust in them changes."""

    @abstractmethod
    def direction(self) -> Direction | None:
        """The step with the trust of now; None where none can be computed."""

    @abstractmethod
    def accepted(self, direction: Direction, ratio: float) -> State:
        """What is kept after a step that was taken."""

    @abstractmethod
    def rejected(self, direction: Direction | None, failures: int) -> None:
        """Trust less, after a step that did not lower the loss."""

    @abstractmethod
    def given_up(self) -> State:
        """What is kept where no step was taken."""


class SecondOrderOptimizer(ABC):
    """The base of :class:`NewtonCG`, :class:`GaussNewton` and :class:`KFAC`.

    Parameters are anything with `data` and `requires_grad`, such as ``nn.Parameter``, in one list: a step belongs to
    all of them together. Where `requires_grad` is False they have to be left out. `param_groups` has one group, whose
    numbers may be changed between steps; "lr" is the share of each step that is taken.

    A subclass names its `hyperparameters` with their checks, what it keeps at first (`initial_state`), and the
    :class:`Region` of a point.
    """

    hyperparameters: ClassVar[Mapping[str, Check]]
    initial_state: ClassVar[Mapping[str, Any]]

    def __init__(self, params: Any, given: Mapping[str, Any]) -> None:
        self.defaults = checked(given, self.hyperparameters, type(self).__name__)
        self._parameters = self._listed(params)
        self.param_groups: list[dict[str, Any]] = [{"params": self._parameters, **self.defaults}]
        self._state: State = {"step": 0, **self.initial_state}

    @abstractmethod
    def region(self, objective: Objective, point: Point, state: State) -> Region:
        """The region of a point, with the trust that was kept."""

    @property
    def needs_outputs(self) -> bool:
        """Whether outputs and loss of an objective have to be known apart."""
        return True

    def step(self, objective: Objective, *batch: Any) -> Any:
        """Take a step on a batch and give the loss before it.

        The loss of the batch is not larger afterwards, but for rounding.

        Raises :class:`ValueError` where loss or gradient are not finite; nothing is changed then.
        """
        if not isinstance(objective, Objective):
            raise TypeError(
                f"{type(self).__name__}.step needs an optim.Objective, made once, and the batch after it, got "
                f"{type(objective).__name__}"
            )
        strangers = objective.parameters is not None and list(map(id, objective.parameters)) != list(
            map(id, self._parameters)
        )
        if strangers:
            raise ValueError(
                "the objective belongs to other parameters, or to these in another order: make it with those of the "
                "optimiser"
            )
        values = [np.asarray(p.data) for p in self._parameters]
        return self.advance(objective, values, objective.arguments(*batch)).loss

    def advance(self, objective: Objective, values: Sequence[np.ndarray], args: tuple[Any, ...]) -> Stepped:
        """Take the step from these values, which are those of the parameters, and keep what it makes."""
        made = self.stepped(objective, values, args)
        for parameter, array in zip(self._parameters, made.values, strict=True):
            parameter.data = array
        self.take(made.state)
        return made

    def stepped(self, objective: Objective, values: Sequence[np.ndarray], args: tuple[Any, ...]) -> Stepped:
        """The step from these values, with arguments as the objective gives them; nothing is changed."""
        held = list(values)
        if self.needs_outputs:
            loss_of(objective)
        found, outputs, gradient = objective.ask(value_and_gradient, held, args)
        if not np.isfinite(found) or not np.all(np.isfinite(gradient)):
            raise ValueError(
                f"the loss is {found}, and {np.count_nonzero(~np.isfinite(gradient))} of {gradient.size} entries of "
                "its gradient are not finite: a second-order step needs both finite"
            )
        point = Point(held, args, found, outputs, gradient)
        region = self.region(objective, point, dict(self._state))
        with np.errstate(all="ignore"):
            values, state = descended(objective, point, region, self.param_groups[0]["lr"])
        taken = state is not None
        kept = region.given_up() if state is None else state
        return Stepped(values, {**kept, "step": self._state["step"] + 1}, found, outputs, taken)

    def take(self, state: State) -> None:
        """Keep what a step made that ran elsewhere. Values of the parameters are not concerned."""
        self._state = {name: _kept(part) for name, part in state.items()}

    def zero_grad(self, set_to_none: bool = True) -> None:  # noqa: ARG002 (PyTorch's)
        """Forget gradients that ``backward`` has left; steps do not use them."""
        for parameter in self._parameters:
            parameter.grad = None

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on from here: {"state": {name: ...}, "param_groups": [...]}; arrays are read-only."""
        group = {name: number for name, number in self.param_groups[0].items() if name != "params"}
        shapes = [tuple(np.shape(p.data)) for p in self._parameters]
        return {
            "state": {name: _kept(part) for name, part in self._state.items()},
            "param_groups": [{**group, "params": shapes}],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave for an optimiser of the same kind and parameters of the same shapes.

        Raises :class:`ValueError` or :class:`TypeError` where it does not fit; nothing is changed then.
        """
        given: Any = state_dict
        if not isinstance(given, Mapping) or set(given) != {"state", "param_groups"}:
            raise ValueError("a state of an optimiser is a dictionary with 'state' and 'param_groups'")
        state, groups = given["state"], given["param_groups"]
        if not isinstance(state, Mapping) or set(state) != {"step", *self.initial_state} or len(groups) != 1:
            raise ValueError(f"what is loaded is no state of {type(self).__name__}: it keeps {', '.join(self._state)}")
        shapes = [tuple(shape) for shape in groups[0].get("params", ())]
        own = [tuple(np.shape(p.data)) for p in self._parameters]
        if shapes != own:
            raise ValueError(f"what is loaded belongs to parameters of shapes {shapes}, there are those of {own}")
        numbers = checked(groups[0], self.hyperparameters, type(self).__name__)
        kept = self.checked_state(dict(state))
        self.param_groups[0].update(numbers)
        self.take(kept)

    def checked_state(self, state: State) -> State:
        """A state that is loaded; refuses numbers that no step makes."""
        step = state["step"]
        if isinstance(step, bool) or not isinstance(step, int | np.integer) or step < 0:
            raise ValueError(f"'step' must be a whole number of at least 0, got {step!r}")
        return state

    def _listed(self, params: Any) -> list[Any]:
        several = hasattr(params, "__iter__") and not isinstance(params, set | frozenset | str)
        given = list(params) if several and not is_parameter(params) else params
        if isinstance(given, list) and given and isinstance(given[0], Mapping):
            raise TypeError(f"{type(self).__name__} has no groups, as a step belongs to all parameters: pass one list")
        found: list[Any] = list(parameters_of(given))
        check_distinct([{"params": found}])
        if not any(np.size(p.data) for p in found):
            raise ValueError(f"{type(self).__name__} was given no parameters, or only empty ones")
        frozen = [np.shape(p.data) for p in found if not p.requires_grad]
        if frozen:
            raise ValueError(f"parameters of shapes {frozen} do not require gradients: leave them out of the optimiser")
        return found

    def __repr__(self) -> str:
        numbers = [f"{name}={number!r}" for name, number in self.param_groups[0].items() if name != "params"]
        count = sum([np.size(p.data) for p in self._parameters])
        return f"{type(self).__name__}({len(self._parameters)} arrays, {count} parameters, {', '.join(numbers)})"


def descended(
    objective: Objective, point: Point, region: Region, share: float
) -> tuple[list[np.ndarray], State | None]:
    """The values after the first step that lowers the loss enough, trusting less and less, and what is kept then.

    The old values and None where there is none, or where rounding hides whether there is.
    """
    rounding, before = rounding_of(point.value), float(point.value)
    for failures in range(1, _MOST_TRIES + 1):
        found = region.direction()
        if found is not None and np.all(np.isfinite(found.vector)):
            predicted = found.predicted(share)
            values = moved(point.values, share * found.vector)
            after = float(objective.ask(value, values, point.args))
            ratio = gain_ratio(before, after, predicted, rounding)
            if after <= before and ratio > _ENOUGH:
                return values, region.accepted(found, ratio)
            if 0 <= predicted <= rounding:
                break
        region.rejected(found, failures)
    return point.values, None


def _kept(part: Any) -> Any:
    """A part of a state, with arrays that are private and read-only."""
    if isinstance(part, list):
        return [_kept(each) for each in part]
    if isinstance(part, np.ndarray):
        part = part.copy() if part.flags.writeable else part
        part.flags.writeable = False
    return part
