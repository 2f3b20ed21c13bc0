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

from einsumad.nn.context import no_grad
from einsumad.nn.estimators.fitting import Fitting
from einsumad.nn.estimators.networks import check_outputs
from einsumad.nn.estimators.samples import Samples
from einsumad.nn.estimators.scikit_learn import (
    BaseEstimator,
    ConvergenceWarning,
    check_is_fitted,
    check_sample_weight,
    is_classifier,
    validate_data,
)
from einsumad.nn.estimators.settings import Settings, settings_of
from einsumad.nn.module import Module
from einsumad.nn.training.evaluation import evaluating
from einsumad.nn.training.history import History

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
        parts = Fitting(settings, module, samples.weights is not None)
        history = parts.train(samples, rng, is_classifier(self))
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
        parts = self._parts_going_on(settings, samples) if goes_on else None
        if parts is None:
            module = self._new_module(settings, samples, learned, rng)
            parts = Fitting(settings, module, samples.weights is not None)
        before = self.history_.records if goes_on else []
        record = parts.epoch(samples, rng)
        self._take(learned, parts, History([*before, {"epoch": len(before) + 1, **record}]), rng)
        return self

    def _parts_going_on(self, settings: Settings, samples: Samples) -> Fitting:
        """Those of the last call, whose step is compiled, if no parameter has changed; else new ones at that state."""
        weighted = samples.weights is not None
        last: Fitting | None = vars(self).get("_parts")
        if last is not None and last.module is self.module_ and last.serves(settings, weighted):
            return last
        parts = Fitting(settings, deepcopy(self.module_), weighted)
        parts.load(self._states)
        return parts

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

    def _take(self, learned: dict[str, Any], parts: Fitting, history: History, rng: np.random.Generator) -> None:
        """Keep what was fitted."""
        for name, value in learned.items():
            setattr(self, name, value)
        self.module_, self.history_ = parts.module.eval(), history
        self.n_iter_, self.loss_ = len(history), history.last["loss"]
        self._states, self._rng, self._parts = parts.states(), rng, parts

    def __getstate__(self) -> dict[str, Any]:
        """All but what was compiled."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_parts", None)
        return state

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
