"""What both estimators have in common: parameters, and how they are fitted.

Owns :class:`EinsumEstimator`. Imports scikit-learn, training, and the parts of this folder. Invariant: a fit that
fails leaves what was fitted before as it was; parameters are never changed.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np

from einsumad.data import ArrayDataset, DataLoader
from einsumad.nn.context import no_grad
from einsumad.nn.estimators.library import (
    BaseEstimator,
    ConvergenceWarning,
    check_is_fitted,
    check_sample_weight,
    is_classifier,
    validate_data,
)
from einsumad.nn.estimators.losses import PenalisedLoss, WithWeights
from einsumad.nn.estimators.networks import check_outputs
from einsumad.nn.estimators.samples import Samples
from einsumad.nn.estimators.settings import Settings, settings_of
from einsumad.nn.module import Module
from einsumad.nn.training.evaluation import evaluating
from einsumad.nn.training.fitting import fit
from einsumad.nn.training.history import History
from einsumad.nn.training.stopping import EarlyStopping

_ROWS_AT_ONCE = 1024


class EinsumEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn publishes no types
    """The base of both estimators."""

    named_losses: ClassVar[dict[str, Callable[..., Any]]]

    module_: Module
    history_: History
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        module: Any = None,
        loss: Any = None,
        solver: Any = "adam",
        alpha: float = 0.0001,
        batch_size: Any = "auto",
        learning_rate: Any = "constant",
        learning_rate_init: float = 0.001,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float | None = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.module = module
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a new network, or with `warm_start` the one that there is.

        Training takes `max_iter` epochs, or ends when the loss becomes no better. `X` is ``(n, features)``, `y` as the
        class says, `sample_weight` ``(n,)``: a sample of weight w counts as w samples do. Raises :class:`ValueError` or
        :class:`TypeError` for parameters and data that make no sense, and where training diverges.
        """
        settings = settings_of(self.get_params(deep=False), self.named_losses)
        goes_on = settings.warm_start and hasattr(self, "module_")
        samples, learned = self._samples(settings, X, y, sample_weight, goes_on=goes_on)
        rng = settings.generator()
        module = deepcopy(self.module_) if goes_on else self._new_module(settings, samples, learned, rng)
        parts = _Parts(settings, module)
        history = parts.train(samples, settings.max_iter, rng, is_classifier(self))
        self._take(learned, parts, history, rng)
        if not history.stopped and settings.tol is not None:
            warnings.warn(
                f"the loss still changed by more than tol={settings.tol} when max_iter={settings.max_iter} epochs were "
                "over: raise max_iter, or say tol=None to train for that many without this warning",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """One epoch, from where the last one ended; the first time with a new network."""
        settings = settings_of(self.get_params(deep=False), self.named_losses)
        if settings.early_stopping:
            raise ValueError("partial_fit takes one epoch, for which early_stopping=True means nothing")
        goes_on = hasattr(self, "module_")
        samples, learned = self._samples(settings, X, y, sample_weight, goes_on=goes_on, classes=classes)
        rng = deepcopy(self._rng) if goes_on else settings.generator()
        module = deepcopy(self.module_) if goes_on else self._new_module(settings, samples, learned, rng)
        parts = _Parts(settings, module)
        before = self.history_.records if goes_on else []
        if goes_on:
            parts.load(self._states)
        (record,) = parts.train(samples, 1, rng, is_classifier(self)).records
        self._take(learned, parts, History([*before, {**record, "epoch": len(before) + 1}]), rng)
        return self

    def _samples(
        self, settings: Settings, X: Any, y: Any, sample_weight: Any, *, goes_on: bool, classes: Any = None
    ) -> tuple[Samples, dict[str, Any]]:
        """The samples that count, and what the estimator learns from targets before any training."""
        dtype = self._dtype() if goes_on else [np.float64, np.float32]
        x, y = validate_data(self, X, y, dtype=dtype, reset=not goes_on, **self._target_options())
        target, learned = self._encoded(y, x.dtype, goes_on, classes)
        weights = None
        if sample_weight is not None:
            settings.losses.check_weights()
            weights = check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
            if not np.any(weights > 0):
                raise ValueError("all weights in sample_weight are zero: there is no sample to fit to")
        samples = Samples(x, target, weights).that_count()
        if not goes_on and classes is None:
            self._check_targets(samples.target)
        return samples, learned

    def _new_module(
        self, settings: Settings, samples: Samples, learned: dict[str, Any], rng: np.random.Generator
    ) -> Module:
        outputs = learned["n_outputs_"]
        module = settings.network(samples.x.shape[1], outputs, samples.x.dtype, rng)
        check_outputs(module, samples.x, outputs)
        return module

    def _take(self, learned: dict[str, Any], parts: _Parts, history: History, rng: np.random.Generator) -> None:
        """Keep what was fitted."""
        for name, value in learned.items():
            setattr(self, name, value)
        self.module_, self.history_ = parts.module.eval(), history
        self.n_iter_, self.loss_ = len(history), history.last["loss"]
        self._states, self._rng = parts.states(), rng

    def _outputs(self, X: Any) -> np.ndarray:
        """What the network gives for the inputs, in evaluation mode and its own dtype."""
        check_is_fitted(self, "module_")
        x = validate_data(self, X, dtype=self._dtype(), reset=False)
        starts = range(0, len(x), _ROWS_AT_ONCE)
        with no_grad(), evaluating(self.module_):
            return np.concatenate([self.module_(x[start : start + _ROWS_AT_ONCE]) for start in starts])

    def _dtype(self) -> np.dtype[Any]:
        return next(self.module_.parameters()).data.dtype

    @abstractmethod
    def _target_options(self) -> dict[str, Any]:
        """What scikit-learn's check of the data is told of targets."""

    @abstractmethod
    def _encoded(self, y: np.ndarray, dtype: Any, goes_on: bool, classes: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """Targets as the loss takes them, and the attributes that follow, `n_outputs_` among them."""

    def _check_targets(self, target: np.ndarray) -> None:
        """Raise :class:`ValueError` for targets that nothing can be learned from."""


class _Parts:
    """What a fit changes: the network, the optimiser, the schedule."""

    def __init__(self, settings: Settings, module: Module) -> None:
        self.settings, self.module = settings, module
        self._optimizer = settings.optimizer(module.parameters())
        self._schedule = None if settings.schedule is None else settings.schedule(self._optimizer)

    def states(self) -> dict[str, Any]:
        """Where optimiser and schedule stand."""
        return {
            "optimizer": self._optimizer.state_dict(),
            "schedule": None if self._schedule is None else self._schedule.state_dict(),
        }

    def load(self, states: dict[str, Any]) -> None:
        """Go on from there. Raises :class:`ValueError` if it is another optimiser or schedule by now."""
        if (self._schedule is None) != (states["schedule"] is None):
            raise ValueError("learning_rate has changed between calls of partial_fit")
        self._optimizer.load_state_dict(states["optimizer"])
        if self._schedule is not None:
            self._schedule.load_state_dict(states["schedule"])

    def train(self, samples: Samples, epochs: int, rng: np.random.Generator, stratified: bool) -> History:
        """Epochs over the samples. Raises :class:`ValueError` if the network is not finite afterwards."""
        settings, held_out = self.settings, None
        if settings.early_stopping:
            samples, held_out = samples.split(settings.validation_fraction, rng, stratified)
        loss = PenalisedLoss(self.module, settings.losses, settings.alpha, samples.mean_weight)
        size = settings.rows_of_batch(len(samples))
        history = fit(
            (self.module if samples.weights is None else WithWeights(self.module)).train(),
            loss,
            DataLoader(ArrayDataset(*samples.arrays()), size, shuffle=settings.shuffle, rng=rng),
            self._optimizer,
            epochs,
            validation=None if held_out is None else held_out.arrays(),
            scheduler=self._schedule,
            early_stopping=self._stopping(epochs),
            progress=settings.verbose,
        )
        known = settings.early_stopping or np.isfinite(history.last["loss"])
        if not (known and all(np.all(np.isfinite(array)) for array in self.module.state_dict().values())):
            raise ValueError(
                "training diverged: the loss or parameters are not finite. Scale the inputs and targets, or use a "
                f"smaller learning_rate_init than {settings.learning_rate_init}"
            )
        return history

    def _stopping(self, epochs: int) -> EarlyStopping | None:
        settings = self.settings
        least = settings.tol or 0.0
        if settings.early_stopping:
            return EarlyStopping("val_loss", settings.n_iter_no_change, least)
        if settings.tol is None or epochs == 1:
            return None
        return EarlyStopping("loss", settings.n_iter_no_change, least, restore_best=False)
