"""A network that is fitted: its loss, its optimiser and its schedule.

Owns :class:`Fitting`. Imports training, and the parts of this folder. Invariant: where training fails, the network and
the optimiser are those of before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from einsumad.data import ArrayDataset, DataLoader
from einsumad.nn.estimators.losses import PenalisedLoss, WithWeights
from einsumad.nn.estimators.samples import Samples
from einsumad.nn.estimators.settings import Settings
from einsumad.nn.module import Module
from einsumad.nn.training.evaluation import Means
from einsumad.nn.training.fitting import advance, fit
from einsumad.nn.training.history import History, Record
from einsumad.nn.training.step import TrainingStep
from einsumad.nn.training.stopping import EarlyStopping

_EQUAL = (str, bool, int, float, tuple, type(None))
"""What is compared by value; all else is the same only if it is the same object."""


class Fitting:
    """What a fit changes."""

    def __init__(self, settings: Settings, module: Module, weighted: bool) -> None:
        self.settings, self.module, self.weighted = settings, module, weighted
        self._model = WithWeights(module) if weighted else module
        self._optimizer = settings.optimizer(module.parameters())
        dtype = next(module.parameters()).data.dtype
        self._loss = PenalisedLoss(module, settings.losses, settings.alpha, dtype)
        self._schedule = None if settings.schedule is None else settings.schedule(self._optimizer)
        self._step: TrainingStep | None = None

    def serves(self, settings: Settings, weighted: bool) -> bool:
        """Whether these settings are those that it was made with."""
        old, new = self.settings.given, settings.given
        same = [
            new[name] is old[name]
            or (type(new[name]) is type(old[name]) and isinstance(new[name], _EQUAL) and new[name] == old[name])
            for name in old
        ]
        return all(same) and weighted == self.weighted

    def states(self) -> dict[str, Any]:
        """Where optimiser and schedule stand."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "schedule": None if self._schedule is None else self._schedule.state_dict(),
        }

    def load(self, states: dict[str, Any]) -> None:
        """Go on from there. Raises :class:`ValueError` if it is another optimiser or schedule by now."""
        try:
            self._optimizer.load_state_dict(states["optimizer"])
            if self._schedule is not None and states["schedule"] is not None:
                self._schedule.load_state_dict(states["schedule"])
        except (TypeError, ValueError) as error:
            raise ValueError(f"solver or learning_rate has changed between calls of partial_fit: {error}") from error
        if (self._schedule is None) != (states["schedule"] is None):
            raise ValueError("learning_rate has changed between calls of partial_fit")

    def train(self, samples: Samples, rng: np.random.Generator, stratified: bool) -> History:
        """Epochs over the samples, as the settings say.

        Raises :class:`ValueError` if the network is not finite afterwards.
        """
        settings, held_out = self.settings, None
        if settings.early_stopping:
            samples, held_out = samples.split(settings.validation_fraction, rng, stratified)
        with self._or_nothing():
            history = fit(
                self._model,
                self._loss,
                self._batches(samples, rng),
                self._optimizer,
                settings.max_iter,
                validation=None if held_out is None else held_out.arrays(),
                scheduler=self._schedule,
                early_stopping=self._stopping(),
                progress=settings.verbose,
            )
            self._check(0.0 if settings.early_stopping else history.last["loss"])
        return history

    def epoch(self, samples: Samples, rng: np.random.Generator) -> Record:
        """One epoch, by a step that is compiled once; what it measured."""
        began, means = perf_counter(), Means()
        rate = float(self._optimizer.param_groups[0]["lr"])
        with self._or_nothing():
            batches = self._batches(samples, rng)
            if self._step is None:
                self._step = TrainingStep(self._model, self._loss, self._optimizer)
            self._step.load()
            for batch in batches:
                means.add(len(batch[-1]), {"loss": self._step(*batch)[0]})
            self._step.store()
            record = means.found()
            self._check(record["loss"])
            advance(self._schedule, record)
        return {**record, "lr": rate, "seconds": perf_counter() - began}

    @contextmanager
    def _or_nothing(self) -> Iterator[None]:
        """Training mode within; where it fails, all is as it was."""
        arrays, states = self.module.state_dict(), self.states()
        self._model.train()
        try:
            yield
        except BaseException:
            self.module.load_state_dict(arrays)
            self.load(states)
            raise
        finally:
            self._model.eval()

    def _batches(self, samples: Samples, rng: np.random.Generator) -> DataLoader:
        self._loss.mean_weight = samples.mean_weight
        size = self.settings.rows_of_batch(len(samples))
        return DataLoader(ArrayDataset(*samples.arrays()), size, shuffle=self.settings.shuffle, rng=rng)

    def _check(self, loss: float) -> None:
        arrays = self.module.state_dict().values()
        if not (np.isfinite(loss) and all(np.all(np.isfinite(array)) for array in arrays)):
            raise ValueError(
                "training diverged: the loss or parameters are not finite. Scale the inputs and targets, or use a "
                f"smaller learning_rate_init than {self.settings.learning_rate_init}"
            )

    def _stopping(self) -> EarlyStopping | None:
        settings = self.settings
        least = settings.tol or 0.0
        if settings.early_stopping:
            return EarlyStopping("val_loss", settings.n_iter_no_change, least)
        if settings.tol is None:
            return None
        return EarlyStopping("loss", settings.n_iter_no_change, least, restore_best=False)
