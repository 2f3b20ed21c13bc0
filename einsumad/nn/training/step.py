"""One step of training as one compiled plan: value, gradients, and what the optimiser makes of them.

Owns :class:`TrainingStep`. Imports model and loss as one, the context of calls and optimisers. Invariant: a plan is
made once for each form of a batch and found again by its structure; between steps everything that changes is kept here,
and the model has it after `store`; what is given to the model meanwhile is taken over by the next step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import einsumad as ea
from einsumad.nn.context import Given, calling, within_call
from einsumad.nn.module import Module
from einsumad.nn.parameter import Buffer, Parameter
from einsumad.nn.state import values_by_identity
from einsumad.nn.training.composed import Composed
from einsumad.nn.training.drawing import Draws
from einsumad.nn.training.settings import Settings
from einsumad.optim import Optimizer, clipped_by_norm
from einsumad.optim.first_order.dependence import depends_on
from einsumad.optim.first_order.shared import Shared


class _Held(NamedTuple):
    """What a step starts from: arrays that are learned, all others, and the optimiser's arrays, numbers and flags."""

    learned: list[Any]
    others: dict[str, Any]
    states: list[dict[str, Any]]
    numbers: Shared
    flags: Shared


class TrainingStep:
    """A step of training: call it with the arrays of a batch, the inputs and then the target.

    Gives the loss before the step and the outputs of the model. `clip_norm` bounds the norm of all gradients together.
    Parameters that the loss does not depend on stay as they are, as without a gradient, and take part in no decay.

    The model has what the steps have made after `store`, the optimiser at once. Arrays that the model is given between
    steps, as by ``load_state_dict``, and whatever else modules hold, such as ``dropout.p``, hold from the next step on.
    A new value that is no array is traced and planned anew: what changes at every step belongs into a buffer or into
    the batch.

    Raises :class:`ValueError` if the optimiser has parameters that neither model nor loss has, or that are frozen.

    >>> import numpy as np
    >>> from einsumad import nn, optim
    >>> net, x = nn.Linear(2, 1, rng=0), np.ones((4, 2), np.float32)
    >>> step = nn.TrainingStep(net, nn.MSELoss(), optim.SGD(net.parameters(), lr=0.1))
    >>> before = net.bias.data
    >>> loss, outputs = step(x, np.zeros((4, 1), np.float32))
    >>> net.bias.data is before
    True
    >>> step.store()
    >>> bool(net.bias.data == before)
    False
    """

    def __init__(
        self, model: Module, loss: Callable[..., Any], optimizer: Optimizer, clip_norm: float | None = None
    ) -> None:
        self._whole = Composed(model, loss)
        self._optimizer = optimizer
        self._clip_norm = clip_norm
        self._compiled = ea.compile(self._step)
        self._draws, self._settings = Draws(self._whole), Settings(self._whole)
        self._known: tuple[int, int] | None = None
        self.load()

    def load(self) -> None:
        """Begin with what the model holds now, and forget what was not stored."""
        self._look()
        self._now: dict[str, Any] = {}
        self._seen: dict[str, np.ndarray] = {}
        self._follow()

    def store(self) -> None:
        """Give the model what the steps have made; the optimiser has it."""
        self._follow()
        for name, held in self._arrays.items():
            if self._now[name] is not self._seen[name]:
                held.data = self._now[name]
                self._now[name] = self._seen[name] = held.data

    def __call__(self, *batch: np.ndarray) -> tuple[Any, Any]:
        """The loss before the step, and the outputs."""
        settings = self._settings.number()
        known = settings, sum([len(group["params"]) for group in self._optimizer.param_groups])
        if known != self._known:
            self._look()
            self._known = known
        self._follow()
        draws = self._draws(settings, batch)
        held = _Held(
            [self._now[name] for name in self._names],
            {name: self._now[name] for name in self._others},
            self._optimizer.states(),
            Shared.of(self._optimizer.numbers()),
            Shared.of(self._optimizer.flags()),
        )
        loss, outputs, values, states, updates = self._compiled(settings, held, draws, batch)
        self._now.update({**values, **updates})
        self._optimizer.take([states.get(name) for name in self._names])
        return loss, outputs

    def _look(self) -> None:
        """Find out which arrays there are. Raises where one that is learned is frozen by now, or gone."""
        learned = [p for group in self._optimizer.param_groups for p in group["params"]]
        self._names = self._whole.names_of(learned)
        names = set(self._names)
        self._arrays: dict[str, Parameter | Buffer] = {
            **dict(self._whole.named_parameters()),
            **dict(self._whole.named_buffers()),
        }
        self._others = [name for name in self._arrays if name not in names]

    def _follow(self) -> None:
        """Take over the arrays that the model was given since it was looked at."""
        for name, held in self._arrays.items():
            array = held.data
            if self._seen.get(name) is not array:
                self._now[name] = self._seen[name] = array

    def _called(
        self, learned: list[Any], others: Mapping[str, Any], draws: list[Any], batch: tuple[Any, ...]
    ) -> tuple[Any, Any, dict[str, Any]]:
        """The loss, the outputs, and the buffers that the call would change, of plain or traced arrays."""
        named = {**others, **dict(zip(self._names, learned, strict=True))}
        with calling(values_by_identity(self._whole, named), Given(draws)) as call, within_call():
            loss, outputs = self._whole(*batch)
        changed = {
            name: call.updates[id(buffer)] for name, buffer in self._whole.named_buffers() if id(buffer) in call.updates
        }
        return loss, outputs, changed

    def _step(
        self,
        settings: int,  # noqa: ARG002 (tells plans apart)
        held: _Held,
        draws: list[Any],
        batch: tuple[Any, ...],
    ) -> tuple[Any, Any, dict[str, Any], dict[str, dict[str, Any]], dict[str, Any]]:
        """The step as a pure function of arrays and numbers; settings and flags are its structure.

        It gives values and states of those parameters that the loss depends on, by name.
        """
        used: list[bool] = []

        def loss_of(values: list[Any]) -> Any:
            loss = self._called(values, held.others, draws, batch)[0]
            used[:] = depends_on(loss, values)
            return loss

        found = ea.grad(loss_of)(held.learned)
        gradients = [gradient if part else None for gradient, part in zip(found, used, strict=True)]
        if self._clip_norm is not None and any(used):
            clipped = iter(clipped_by_norm([g for g in gradients if g is not None], self._clip_norm))
            gradients = [None if gradient is None else next(clipped) for gradient in gradients]
        loss, outputs, changed = self._called(held.learned, held.others, draws, batch)
        new = self._optimizer.updated(held.learned, gradients, held.states, held.numbers.each(), held.flags.each())
        names = [name for name, part in zip(self._names, used, strict=True) if part]
        values, states = (dict(zip(self._names, made, strict=True)) for made in new)
        return loss, outputs, {name: values[name] for name in names}, {name: states[name] for name in names}, changed
