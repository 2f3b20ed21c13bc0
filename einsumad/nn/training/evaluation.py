"""Outputs, losses and metrics of a model that is not trained meanwhile.

Owns prediction and evaluation. Imports model and loss as one, and metrics. Invariant: the model is as it was before,
its mode included; a plan is made once for each form of a batch and number of the
settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.data import Dataset
from einsumad.nn.module import Module
from einsumad.nn.training.batches import Batches, batches_of
from einsumad.nn.training.composed import Composed
from einsumad.nn.training.metrics import Metric, metrics_of
from einsumad.nn.training.settings import Settings


class Evaluation:
    """A model and its loss in evaluation mode as a compiled function of their arrays, to be used again and again."""

    def __init__(self, model: Module, loss: Callable[..., Any] | None = None) -> None:
        self._whole = Composed(model, loss)
        self._settings = Settings(self._whole)
        self._compiled = ea.compile(self._outputs_and_loss)

    def __call__(self, inputs: Sequence[Any], target: Any = None) -> tuple[Any, Any]:
        """The outputs, and the loss if a target is given."""
        with evaluating(self._whole):
            held = {name: p.data for name, p in self._whole.named_parameters()}
            held |= {name: buffer.data for name, buffer in self._whole.named_buffers()}
            return self._compiled(self._settings.number(), held, tuple(inputs), target)  # type: ignore[no-any-return]

    def _outputs_and_loss(
        self,
        settings: int,  # noqa: ARG002 (of the plan)
        held: dict[str, Any],
        inputs: tuple[Any, ...],
        target: Any,
    ) -> tuple[Any, Any]:
        loss, outputs = self._whole.apply(held, *inputs, target)
        return outputs, loss


def predict(model: Module, *inputs: np.ndarray, batch_size: int = 256) -> np.ndarray:
    """The outputs of a model in evaluation mode, computed batch by batch.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.predict(nn.Linear(3, 2, rng=0), np.ones((1000, 3), np.float32)).shape
    (1000, 2)
    """
    if not inputs:
        raise TypeError("predict needs the inputs of the model")
    of, count = Evaluation(model), len(inputs[0])
    starts = range(0, max(count, 1), batch_size)
    parts = [of([array[start : start + batch_size] for array in inputs])[0] for start in starts]
    return np.concatenate(parts)


def evaluate(
    model: Module,
    loss: Callable[..., Any],
    data: Batches | Dataset | tuple[np.ndarray, ...],
    metrics: Sequence[str] | Mapping[str, Metric] = (),
    *,
    batch_size: int = 256,
) -> dict[str, float]:
    """The mean loss and metrics in evaluation mode; each batch counts by its size.

    `data` gives batches of inputs and, last, the target, or is a tuple of arrays or a data set, which is cut into
    batches of `batch_size`, as :func:`fit` takes them.

    >>> import numpy as np, einsumad.nn as nn
    >>> net, x = nn.Linear(3, 2, rng=0), np.zeros((5, 3), np.float32)
    >>> sorted(nn.evaluate(net, nn.CrossEntropyLoss(), (x, np.array([0, 1, 0, 1, 1])), ["accuracy"]))
    ['accuracy', 'loss']
    """
    return measured(Evaluation(model, loss), batches_of(data, batch_size), metrics_of(metrics))


def measured(of: Evaluation, data: Batches, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """The means over the batches."""
    means = Means()
    for batch in data:
        outputs, loss = of(batch[:-1], batch[-1])
        means.add(len(batch[-1]), {"loss": loss, **{name: f(outputs, batch[-1]) for name, f in metrics.items()}})
    return means.found()


class Means:
    """Means of numbers by name, weighted by the sizes of batches."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._count = 0

    def add(self, size: int, values: Mapping[str, Any]) -> None:
        """Take in the values of a batch."""
        self._count += size
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + size * float(value)

    def found(self) -> dict[str, float]:
        """The means so far. Raises :class:`ValueError` if there was no sample."""
        if not self._count:
            raise ValueError("there was no sample to measure: is the data empty, or smaller than a batch?")
        return {name: total / self._count for name, total in self._sums.items()}


@contextmanager
def evaluating(model: Module) -> Iterator[None]:
    """The model in evaluation mode, and each module in its own again afterwards."""
    before = [(module, module.training) for _, module in model.named_modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in before:
            module.training = mode
