"""One step of training as one compiled plan: value, gradients, and what the optimiser makes of them.

Owns :class:`TrainingStep`. Imports modules, the context of calls, and nothing of an optimiser but what it is asked.
Invariant: a plan is made once for each form of a batch and found again by its structure; between steps everything that
changes is kept here, and the model has it after `store`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

import einsumad as ea
from einsumad.nn.context import Copies, Given, Recorded, calling, no_grad, within_call
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.state import values_by_identity

Arrays = dict[str, np.ndarray]


class Optimizer(Protocol):
    """What a step asks of an optimiser: see :class:`einsumad.optim.Optimizer`."""

    param_groups: list[dict[str, Any]]

    def states(self) -> list[Arrays]:
        """The arrays kept for each parameter."""

    def numbers(self) -> list[dict[str, Any]]:
        """The numbers of the coming step for each parameter."""

    def updated(self, values: Any, gradients: Any, states: Any, numbers: Any) -> tuple[Any, Any]:
        """New values and states."""

    def take(self, states: Any) -> None:
        """Keep the states after a step."""


class _Objective(Module):
    """A model and its loss as one module, so that a loss may have parameters too."""

    def __init__(self, model: Module, loss: Callable[..., Any]) -> None:
        self.model = model
        self.loss = loss

    def forward(self, *batch: Any) -> tuple[Any, Any]:
        """The loss and the outputs, for inputs and, last, the target."""
        outputs = self.model(*batch[:-1])
        return self.loss(outputs, batch[-1]), outputs


class TrainingStep:
    """A step of training: call it with the arrays of a batch, the inputs and then the target.

    Gives the loss before the step and the outputs of the model. `clip_norm` bounds the norm of all gradients together.
    Raises :class:`ValueError` if the optimiser has parameters that neither model nor loss has.
    """

    def __init__(
        self, model: Module, loss: Callable[..., Any], optimizer: Optimizer, clip_norm: float | None = None
    ) -> None:
        self._objective = _Objective(model, loss)
        self._optimizer = optimizer
        self._clip_norm = clip_norm
        named = {id(parameter): name for name, parameter in self._objective.named_parameters()}
        self._learned: list[Parameter] = [p for group in optimizer.param_groups for p in group["params"]]
        lost = [p.shape for p in self._learned if id(p) not in named]
        if lost:
            raise ValueError(
                f"the optimiser has {len(lost)} parameters that the model has not, of shapes {lost}: was it made for "
                "another model? It is made with model.parameters()"
            )
        frozen = [named[id(p)] for p in self._learned if not p.requires_grad]
        if frozen:
            raise ValueError(f"{', '.join(frozen)} do not require gradients: leave them out of the optimiser")
        self._names = [named[id(p)] for p in self._learned]
        self._compiled = ea.compile(self._step)
        self._requests: dict[Any, list[Any]] = {}
        self.load()

    def load(self) -> None:
        """Begin with what model and optimiser hold now."""
        held = dict(self._objective.named_parameters())
        self._values = [held[name].data for name in self._names]
        self._fixed = {name: p.data for name, p in held.items() if name not in set(self._names)}
        self._buffers = {name: buffer.data for name, buffer in self._objective.named_buffers()}
        self._states = self._optimizer.states()

    def store(self) -> None:
        """Give model and optimiser what the steps have made."""
        for parameter, value in zip(self._learned, self._values, strict=True):
            parameter.data = value
        for name, buffer in self._objective.named_buffers():
            buffer.data = self._buffers[name]

    def __call__(self, *batch: np.ndarray) -> tuple[Any, Any]:
        """The loss before the step, and the outputs."""
        draws = [how(generator) for generator, how in self._drawn(batch)]
        modes = tuple([module.training for _, module in self._objective.named_modules()])
        loss, outputs, self._values, self._states, updates = self._compiled(
            modes, self._values, self._fixed, self._buffers, self._states, self._optimizer.numbers(), draws, batch
        )
        self._buffers = {**self._buffers, **updates}
        self._optimizer.take(self._states)
        return loss, outputs

    def _drawn(self, batch: Sequence[np.ndarray]) -> list[Any]:
        """What random numbers a call on such a batch draws, in order; found by a call that changes nothing."""
        modes = tuple([module.training for _, module in self._objective.named_modules()])
        form = (modes, tuple([(array.shape, array.dtype) for array in batch]))
        if form not in self._requests:
            recorded = Recorded()
            with no_grad(), calling({}, recorded), within_call():
                self._objective(*batch)
            self._requests[form] = recorded.requests
        return self._requests[form]

    def _step(
        self,
        modes: Any,  # noqa: ARG002 (part of the signature: the plan of one mode is not that of another)
        values: list[Any],
        fixed: dict[str, Any],
        buffers: dict[str, Any],
        states: list[Any],
        numbers: list[Any],
        draws: list[Any],
        batch: tuple[Any, ...],
    ) -> tuple[Any, Any, list[Any], list[Any], dict[str, Any]]:
        def called(learned: list[Any]) -> tuple[Any, Any, dict[str, Any]]:
            named = {**fixed, **buffers, **dict(zip(self._names, learned, strict=True))}
            random = Given(draws) if draws else Copies()
            with calling(values_by_identity(self._objective, named), random) as call, within_call():
                loss, outputs = self._objective(*batch)
            updates = {
                name: call.updates[id(buffer)]
                for name, buffer in self._objective.named_buffers()
                if id(buffer) in call.updates
            }
            return loss, outputs, updates

        gradients = ea.grad(lambda learned: called(learned)[0])(values)
        loss, outputs, updates = called(values)
        if self._clip_norm is not None:
            gradients = clipped(gradients, self._clip_norm)
        moved, kept = self._optimizer.updated(values, gradients, states, numbers)
        return loss, outputs, moved, kept, updates


def clipped(gradients: Sequence[Any], most: float) -> list[Any]:
    """The gradients, scaled down together where their common norm is larger (Pascanu et al., 2013)."""
    norm = np.sqrt(sum([np.sum(gradient**2) for gradient in gradients]))
    factor = np.minimum(most / (norm + 1e-6), 1)
    return [gradient * factor for gradient in gradients]
