"""Training a model: epochs of compiled steps.

Owns :func:`fit`. Imports the step, evaluation, the history and what may end a run. Invariant: after it, however it
ends, the model and the optimiser hold what the last whole step made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from einsumad.data import Dataset
from einsumad.nn.module import Module
from einsumad.nn.training.bars import Bar
from einsumad.nn.training.batches import Batches, batches_of
from einsumad.nn.training.checkpoints import Checkpoint
from einsumad.nn.training.composed import Composed
from einsumad.nn.training.evaluation import Evaluation, Means, measured
from einsumad.nn.training.history import History, Record
from einsumad.nn.training.metrics import Metric, metrics_of
from einsumad.nn.training.objectives import SecondOrderStep
from einsumad.nn.training.step import TrainingStep
from einsumad.nn.training.stopping import EarlyStopping
from einsumad.optim import Optimizer, SecondOrderOptimizer
from einsumad.optim.lr_scheduler import ReduceLROnPlateau


@dataclass
class _Run:
    """What the epochs of a run need, and what they change."""

    model: Module
    whole: Module
    step: TrainingStep | SecondOrderStep
    evaluation: Evaluation
    validation: Batches | None
    metrics: dict[str, Metric]
    parts: dict[str, Any]
    progress: bool
    history: History

    def whole_run(self, count: int, checkpoint: Checkpoint | None) -> History:
        """All epochs, from where a saved run was; in the end the model of the best one, if that is wanted."""
        if checkpoint is not None and checkpoint.exists():
            checkpoint.restore(self.model, self.parts, self.history)
            self.step.load()
        self.epochs(count, checkpoint)
        stopping: EarlyStopping | None = self.parts["early_stopping"]
        if stopping is not None:
            stopping.restore(self.whole)
        return self.history

    def epochs(self, count: int, checkpoint: Checkpoint | None) -> None:
        """Epochs until there are as many, or nothing more is learned."""
        stopping: EarlyStopping | None = self.parts["early_stopping"]
        while len(self.history) < count and not self.history.stopped:
            record = self._epoch(len(self.history) + 1, count)
            self.history.records.append(record)
            advance(self.parts["scheduler"], record)
            if stopping is not None and stopping.is_over(record, self.whole):
                self.history.stopped = f"{stopping.monitor} has not become better for {stopping.waited} epochs"
            if checkpoint is not None and (self.history.stopped or checkpoint.is_due(len(self.history), count)):
                checkpoint.save(self.model, self.parts, self.history)

    def _epoch(self, number: int, count: int) -> Record:
        """One epoch: all batches, then what is measured on the data held out."""
        began, means, loader = perf_counter(), Means(), self.parts["loader"]
        bar = Bar(f"epoch {number}/{count}", self.progress)
        rate = float(self.parts["optimizer"].param_groups[0]["lr"])
        try:
            for batch in bar.over(loader, len(loader) if isinstance(loader, Sized) else None):
                loss, outputs = self.step(*batch)
                found = {name: metric(outputs, batch[-1]) for name, metric in self.metrics.items()}
                means.add(len(batch[-1]), {"loss": loss, **found})
                bar.show(means.found())
        finally:
            self.step.store()
        record: Record = {"epoch": number, **means.found()}
        if self.validation is not None:
            held_out = measured(self.evaluation, self.validation, self.metrics)
            record |= {f"val_{name}": value for name, value in held_out.items()}
        return {**record, "lr": rate, "seconds": perf_counter() - began}


def fit(
    model: Module,
    loss: Callable[..., Any],
    data: Batches | Dataset | tuple[np.ndarray, ...],
    optimizer: Optimizer | SecondOrderOptimizer,
    epochs: int = 10,
    *,
    batch_size: int = 32,
    validation: Batches | Dataset | tuple[np.ndarray, ...] | None = None,
    metrics: Sequence[str] | Mapping[str, Metric] = (),
    scheduler: Any = None,
    clip_norm: float | None = None,
    early_stopping: EarlyStopping | None = None,
    checkpoint: Checkpoint | None = None,
    progress: bool = True,
    rng: np.random.Generator | int | None = None,
) -> History:
    """Train a model: for each batch one compiled step of value, gradients and updates.

    `data` gives batches as tuples, the inputs and last the target: a :class:`einsumad.data.DataLoader`, anything that
    can be iterated anew each epoch, or a tuple of arrays or a data set, which is shuffled and cut into batches of
    `batch_size` by `rng`. `loss` takes the outputs and the target. `metrics` are names or functions of outputs and
    target. `scheduler` is stepped after each epoch. With a `checkpoint` the run is saved after epochs, and goes on from
    what was saved.
    Second-order optimisers are taken too: give them large batches, such as all samples.

    >>> import numpy as np
    >>> from einsumad import nn, optim
    >>> x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    >>> net = nn.Sequential(nn.Linear(1, 16, rng=0), nn.Tanh(), nn.Linear(16, 1, rng=1))
    >>> optimizer = optim.Adam(net.parameters(), lr=0.01)
    >>> history = nn.fit(net, nn.functional.mse_loss, (x, x**2), optimizer, epochs=50, progress=False, rng=0)
    >>> history["loss"][-1] < 0.1 * history["loss"][0]
    True
    """
    parts = {
        "optimizer": optimizer,
        "loss": loss,
        "scheduler": scheduler,
        "loader": batches_of(data, batch_size, shuffle=True, rng=rng),
        "early_stopping": early_stopping,
    }
    held_out = None if validation is None else batches_of(validation, max(batch_size, 256))
    if early_stopping is not None:
        early_stopping.check(measuring=held_out is not None)
    step, whole = _step(model, loss, optimizer, clip_norm), Composed(model, loss)
    run = _Run(model, whole, step, Evaluation(model, loss), held_out, metrics_of(metrics), parts, progress, History())
    return run.whole_run(epochs, checkpoint)


def _step(
    model: Module, loss: Callable[..., Any], optimizer: Optimizer | SecondOrderOptimizer, clip_norm: float | None
) -> TrainingStep | SecondOrderStep:
    if not isinstance(optimizer, SecondOrderOptimizer):
        return TrainingStep(model, loss, optimizer, clip_norm)
    if clip_norm is not None:
        raise ValueError(
            f"clip_norm={clip_norm} is for steps along gradients, and {type(optimizer).__name__} bounds its own steps: "
            "leave it out"
        )
    return SecondOrderStep(model, loss, optimizer)


def advance(scheduler: Any, record: Record) -> None:
    """Step a schedule; one that watches a measure is given it."""
    if isinstance(scheduler, ReduceLROnPlateau):
        scheduler.step(record.get("val_loss", record["loss"]))
    elif scheduler is not None:
        scheduler.step()
