"""One step of training as one compiled plan: value, gradients, and what the optimiser makes of them.

Owns :class:`TrainingStep`. Imports model and loss as one, the context of calls and optimisers. Invariant: a plan is
made once for each form of a batch and found again by its structure; between steps everything that changes is kept here,
and the model has it after `store`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import einsumad as ea
from einsumad.nn.context import Given, calling, within_call
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.state import values_by_identity
from einsumad.nn.training.composed import Composed
from einsumad.nn.training.drawing import Draws
from einsumad.nn.training.settings import Settings
from einsumad.optim import Optimizer, clipped_by_norm


class _Held(NamedTuple):
    """What a step changes: parameters that are learned and those that are not, buffers, states of the optimiser."""

    values: list[Any]
    fixed: dict[str, Any]
    buffers: dict[str, Any]
    states: list[dict[str, Any]]


class TrainingStep:
    """A step of training: call it with the arrays of a batch, the inputs and then the target.

    Gives the loss before the step and the outputs of the model. `clip_norm` bounds the norm of all gradients together.
    Raises :class:`ValueError` if the optimiser has parameters that neither model nor loss has.
    """

    def __init__(
        self, model: Module, loss: Callable[..., Any], optimizer: Optimizer, clip_norm: float | None = None
    ) -> None:
        self._whole = Composed(model, loss)
        self._optimizer = optimizer
        self._clip_norm = clip_norm
        self._learned: list[Parameter] = [p for group in optimizer.param_groups for p in group["params"]]
        self._names = self._whole.names_of(self._learned)
        self._compiled = ea.compile(self._step)
        self._draws, self._settings = Draws(self._whole), Settings(self._whole)
        self.load()

    def load(self) -> None:
        """Begin with what model and optimiser hold now."""
        parameters = dict(self._whole.named_parameters())
        self._held = _Held(
            [parameters[name].data for name in self._names],
            {name: p.data for name, p in parameters.items() if name not in set(self._names)},
            {name: buffer.data for name, buffer in self._whole.named_buffers()},
            self._optimizer.states(),
        )

    def store(self) -> None:
        """Give the model what the steps have made; the optimiser has it."""
        for parameter, value in zip(self._learned, self._held.values, strict=True):
            parameter.data = value
        for name, buffer in self._whole.named_buffers():
            buffer.data = self._held.buffers[name]

    def __call__(self, *batch: np.ndarray) -> tuple[Any, Any]:
        """The loss before the step, and the outputs."""
        settings = self._settings.number()
        draws = self._draws(settings, batch)
        structure = settings, self._optimizer.flags()
        loss, outputs, values, states, updates = self._compiled(
            structure, self._held, self._optimizer.numbers(), draws, batch
        )
        self._held = _Held(values, self._held.fixed, {**self._held.buffers, **updates}, states)
        self._optimizer.take(states)
        return loss, outputs

    def _step(
        self,
        structure: tuple[Any, Any],
        held: _Held,
        numbers: list[dict[str, Any]],
        draws: list[Any],
        batch: tuple[Any, ...],
    ) -> tuple[Any, Any, list[Any], list[dict[str, Any]], dict[str, Any]]:
        """The step as a pure function; the settings of the modules and the flags of the optimiser are its structure."""

        def called(learned: list[Any]) -> tuple[Any, Any, dict[str, Any]]:
            named = {**held.fixed, **held.buffers, **dict(zip(self._names, learned, strict=True))}
            with calling(values_by_identity(self._whole, named), Given(draws)) as call, within_call():
                loss, outputs = self._whole(*batch)
            changed = {
                name: call.updates[id(buffer)]
                for name, buffer in self._whole.named_buffers()
                if id(buffer) in call.updates
            }
            return loss, outputs, changed

        gradients = ea.grad(lambda learned: called(learned)[0])(held.values)
        loss, outputs, changed = called(held.values)
        if self._clip_norm is not None:
            gradients = clipped_by_norm(gradients, self._clip_norm)
        values, states = self._optimizer.updated(held.values, gradients, held.states, numbers, structure[1])
        return loss, outputs, values, states, changed
