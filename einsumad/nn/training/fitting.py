"""Training a model: epochs of compiled steps.

Owns :func:`fit`. Imports the step, evaluation, the history and what may end a run. Invariant: after it, however it
ends, the model and the optimiser hold what the last whole step made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from einsumad.data import ArrayDataset, DataLoader
from einsumad.nn.module import Module
from einsumad.nn.training.bars import Bar
from einsumad.nn.training.checkpoints import Checkpoint
from einsumad.nn.training.evaluation import Evaluation, Means, measured
from einsumad.nn.training.history import History, Record
from einsumad.nn.training.metrics import Metric, metrics_of
from einsumad.nn.training.step import TrainingStep
from einsumad.nn.training.stopping import EarlyStopping
from einsumad.optim import Optimizer
from einsumad.optim.lr_scheduler import ReduceLROnPlateau

Batches = Iterable[Sequence[np.ndarray]]


@dataclass
class _Run:
    """What the epochs of a run need."""

    model: Module
    step: TrainingStep
    evaluation: Evaluation
    loader: Batches
    validation: Batches | None
    metrics: dict[str, Metric]
    optimizer: Optimizer
    progress: bool

    def epoch(self, number: int, epochs: int) -> Record:
        """One epoch: all batches, then what is measured on the data held out."""
        began, means = perf_counter(), Means()
        bar = Bar(f"epoch {number}/{epochs}", self.progress)
        count = len(self.loader) if isinstance(self.loader, Sized) else None
        rate = float(self.optimizer.param_groups[0]["lr"])
        try:
            for batch in bar.over(self.loader, count):
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
    data: Batches | tuple[np.ndarray, ...],
    optimizer: Optimizer,
    epochs: int = 10,
    *,
    batch_size: int = 32,
    validation: Batches | tuple[np.ndarray, ...] | None = None,
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
    can be iterated anew each epoch, or a tuple of arrays, which are shuffled and cut into batches of `batch_size` by
    `rng`. `loss` takes the outputs and the target. `metrics` are names or functions of outputs and target. `scheduler`
    is stepped after each epoch. With a `checkpoint` the run is saved after epochs, and goes on from what was saved.

    >>> import numpy as np
    >>> from einsumad import nn, optim
    >>> x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    >>> net = nn.Sequential(nn.Linear(1, 16, rng=0), nn.Tanh(), nn.Linear(16, 1, rng=1))
    >>> optimizer = optim.Adam(net.parameters(), lr=0.01)
    >>> history = nn.fit(net, nn.functional.mse_loss, (x, x**2), optimizer, epochs=50, progress=False, rng=0)
    >>> history["loss"][-1] < 0.1 * history["loss"][0]
    True
    """
    loader = _batches(data, batch_size, shuffle=True, rng=rng)
    held_out = None if validation is None else _batches(validation, max(batch_size, 256), shuffle=False, rng=None)
    step = TrainingStep(model, loss, optimizer, clip_norm)
    run = _Run(model, step, Evaluation(model, loss), loader, held_out, metrics_of(metrics), optimizer, progress)
    history = History()
    parts = {"optimizer": optimizer, "scheduler": scheduler, "loader": loader, "early_stopping": early_stopping}
    if checkpoint is not None and checkpoint.exists():
        history.records = checkpoint.restore(model, parts)
        step.load()
    while len(history) < epochs:
        record = run.epoch(len(history) + 1, epochs)
        history.records.append(record)
        _advance(scheduler, record)
        if early_stopping is not None and early_stopping.is_over(record, model):
            history.stopped = f"{early_stopping.monitor} has not become better for {early_stopping.waited} epochs"
        if checkpoint is not None and (history.stopped or checkpoint.is_due(len(history), epochs)):
            checkpoint.save(model, parts, history.records)
        if history.stopped:
            break
    if early_stopping is not None:
        early_stopping.restore(model)
    return history


def _batches(data: Any, batch_size: int, *, shuffle: bool, rng: Any) -> Batches:
    if isinstance(data, tuple) and all(isinstance(part, np.ndarray) for part in data):
        return DataLoader(ArrayDataset(*data), batch_size, shuffle=shuffle, rng=rng)
    batches: Batches = data
    return batches


def _advance(scheduler: Any, record: Record) -> None:
    """Step a schedule; one that watches a measure is given it."""
    if isinstance(scheduler, ReduceLROnPlateau):
        scheduler.step(record.get("val_loss", record["loss"]))
    elif scheduler is not None:
        scheduler.step()
