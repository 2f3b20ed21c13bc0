"""A model and its loss as what second-order optimisers minimise, and a step of training with one.

Owns both. Imports modules, the context of calls and optimisers. Invariant: whatever the model holds, but for what is
learned, is an argument of the plans or part of their structure, so that nothing is out of date; running statistics are
those of the values before the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from einsumad.nn.context import Given, calling, within_call
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.state import values_by_identity
from einsumad.nn.training.composed import Composed
from einsumad.nn.training.drawing import Draws
from einsumad.nn.training.settings import Settings
from einsumad.optim import Objective, SecondOrderOptimizer


class NetworkObjective(Objective):
    """The outputs of a model and their loss, by the values of its parameters."""

    def __init__(self, model: Module, loss: Callable[..., Any], parameters: Iterable[Parameter] | None) -> None:
        self._whole, self._loss_of = Composed(model, loss), loss
        wanted = [p for p in model.parameters() if p.requires_grad] if parameters is None else list(parameters)
        self._names = self._whole.names_of(wanted)
        of_loss = [name for name in self._names if not name.startswith("model.")]
        if of_loss:
            raise ValueError(
                f"{', '.join(of_loss)} are parameters of the loss, and second-order steps learn those of the model: "
                "leave them out of the optimiser"
            )
        super().__init__(self._outputs, self._loss)
        self.parameters = self._learned = tuple(wanted)
        self._settings, self._known = Settings(self._whole), -1
        self._draws, self._drawn_by_model = Draws(self._whole), Draws(model)

    def arguments(self, *batch: Any) -> tuple[Any, ...]:
        """The number of the settings of all modules, all arrays that are not learned, random numbers, and the batch."""
        if len(batch) < 2:
            raise TypeError(f"a batch has the inputs of the model and last the target, got {len(batch)} arrays")
        settings = self._settings.number()
        if settings != self._known:
            self._names, self._known = self._whole.names_of(self._learned), settings
        learned = set(self._names)
        fixed = {name: p.data for name, p in self._whole.named_parameters() if name not in learned}
        fixed |= {name: buffer.data for name, buffer in self._whole.named_buffers()}
        drawn, count = self._draws(settings, batch), len(self._drawn_by_model.requests(settings, batch[:-1]))
        return settings, fixed, drawn[:count], drawn[count:], tuple(batch)

    def values(self) -> list[np.ndarray]:
        """The arrays of the parameters as they are."""
        return [parameter.data for parameter in self._learned]

    @property
    def has_buffers(self) -> bool:
        """Whether there is anything that a call may change."""
        return any(True for _ in self._whole.named_buffers())

    def keep(self, buffers: dict[str, np.ndarray]) -> None:
        """Give the model new values of its buffers."""
        for name, buffer in self._whole.named_buffers():
            buffer.data = buffers.get(name, buffer.data)

    def buffers_after(self, values: Any, args: tuple[Any, ...]) -> dict[str, Any]:
        """The values of all buffers after a call, plain or traced."""
        _, fixed, drawn, _, batch = args
        with calling(self._by_identity(values, fixed), Given(drawn)) as call, within_call():
            self._whole.model(*batch[:-1])
        return {name: call.updates.get(id(buffer), fixed[name]) for name, buffer in self._whole.named_buffers()}

    def _outputs(self, values: Any, settings: Any, fixed: Any, drawn: Any, _: Any, batch: Any) -> Any:  # noqa: ARG002 (of the plan)
        with calling(self._by_identity(values, fixed), Given(drawn)), within_call():
            return self._whole.model(*batch[:-1])

    def _loss(self, outputs: Any, settings: Any, fixed: Any, _: Any, drawn: Any, batch: Any) -> Any:  # noqa: ARG002 (of the plan)
        with calling(values_by_identity(self._whole, fixed), Given(drawn)), within_call():
            return self._loss_of(outputs, batch[-1])

    def _by_identity(self, values: Any, fixed: Any) -> dict[int, Any]:
        return values_by_identity(self._whole, {**fixed, **dict(zip(self._names, values, strict=True))})


def objective(
    model: Module, loss: Callable[..., Any], parameters: Iterable[Parameter] | None = None
) -> NetworkObjective:
    """What a second-order optimiser minimises: the loss of the outputs of a model, for batches of inputs and target.

    `parameters` are those of the optimiser, in its order (default: all of the model that require gradients). It is made
    once, as plans are kept with it. The mode of the model and its other arrays are those of each step; running
    statistics do not change (:class:`SecondOrderStep` does that), and the masks of dropout are drawn once a step.

    >>> import numpy as np
    >>> from einsumad import nn, optim
    >>> x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    >>> net = nn.Sequential(nn.Linear(1, 8, rng=0), nn.Tanh(), nn.Linear(8, 1, rng=1))
    >>> optimizer, goal = optim.GaussNewton(net.parameters()), nn.objective(net, nn.MSELoss())
    >>> losses = [float(optimizer.step(goal, x, x**2)) for _ in range(20)]
    >>> losses[-1] < 1e-4 * losses[0]
    True
    """
    return NetworkObjective(model, loss, parameters)


class SecondOrderStep:
    """A step of training with a second-order optimiser: call it with the inputs of a batch and then the target.

    Gives the loss before the step and the outputs of the model, as :class:`TrainingStep` does. The model has what a
    step makes at once. Raises :class:`ValueError` if the optimiser has parameters that the model has not.
    """

    def __init__(self, model: Module, loss: Callable[..., Any], optimizer: SecondOrderOptimizer) -> None:
        self._optimizer = optimizer
        self._objective = NetworkObjective(model, loss, optimizer.param_groups[0]["params"])

    def load(self) -> None:
        """Begin with what model and optimiser hold now, as every step does."""

    def store(self) -> None:
        """Give the model what the steps have made, which it has already."""

    def __call__(self, *batch: np.ndarray) -> tuple[Any, Any]:
        """The loss before the step, and the outputs."""
        args = self._objective.arguments(*batch)
        values = self._objective.values()
        changed: dict[str, np.ndarray] = {}
        if self._objective.has_buffers:
            changed = self._objective.ask(NetworkObjective.buffers_after, values, args)
        made = self._optimizer.advance(self._objective, values, args)
        self._objective.keep(changed)
        return made.loss, made.outputs
