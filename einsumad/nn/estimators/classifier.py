"""Classification.

Owns :class:`EinsumClassifier`. Imports the base. Invariant: the network gives a score for each class, in the order of
`classes_`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from einsumad.nn.estimators.base import EinsumEstimator
from einsumad.nn.estimators.scikit_learn import ClassifierMixin, check_classification_targets
from einsumad.nn.functional import cross_entropy, log_softmax, softmax


class EinsumClassifier(ClassifierMixin, EinsumEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A network that tells classes apart, as an estimator of scikit-learn.

    Parameters have the names, defaults and meaning of ``sklearn.neural_network.MLPClassifier``, but for what follows.

    - `hidden_layer_sizes`: the sizes of the layers between; ``()`` is multinomial logistic regression. Initial weights
      are those of ``nn.Linear``.
    - `activation`: ``"relu"``, ``"tanh"``, ``"logistic"``, ``"identity"``, ``"elu"``, ``"gelu"``, ``"leaky_relu"``,
      ``"silu"``, ``"softplus"``, or what makes a module.
    - `module`: another network in the place of these: a function ``(n_inputs, n_outputs, *, rng)`` that makes a module,
      or a module, of which each fit trains a copy. It takes rows ``(n, n_inputs)`` and gives scores ``(n, n_outputs)``.
    - `loss`: ``"log_loss"``, which is also what None means, or a function of scores and classes as whole numbers, such
      as ``nn.CrossEntropyLoss(label_smoothing=0.1)``. Probabilities are the softmax of the scores.
    - `solver`: ``"adam"``, ``"sgd"`` (momentum 0.9, Nesterov's), ``"rmsprop"``, ``"adagrad"``, or a function of the
      parameters that gives an optimiser, such as ``functools.partial(optim.AdamW, lr=0.01)``; `learning_rate_init` is
      for the named ones.
    - `alpha`: the squares of weights, times alpha / 2, are added to the loss, divided by the size of the batch. Weights
      are parameters of two axes or more.
    - `batch_size`: ``"auto"`` is ``min(200, n)``.
    - `learning_rate`: ``"constant"``, or a function of the optimiser that gives a schedule, stepped after each epoch.
    - `tol`: with None training takes `max_iter` epochs; else it ends after `n_iter_no_change` epochs in a row that made
      the loss no better by that much. With `early_stopping` it is the loss on data held out, and the network is that of
      the best epoch.
    - `random_state`: a seed, a RandomState, a NumPy generator, or None for the library's own (``nn.manual_seed``).
    - `verbose`: show a bar for each epoch (needs tqdm).

    Networks are trained in the dtype of X, float32 or float64; others become float64.

    Attributes: `classes_`; `module_`, the trained network; `history_`, what each epoch measured; `n_iter_`, the number
    of epochs; `loss_`, the loss of the last one; `n_outputs_`; `n_features_in_`, and `feature_names_in_` where X had
    names of columns.

    >>> import numpy as np
    >>> from einsumad.nn.estimators import EinsumClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> y = np.array(["same", "other", "other", "same"])
    >>> classifier = EinsumClassifier((16,), learning_rate_init=0.05, tol=None, random_state=0).fit(X, y)
    >>> classifier.predict(X).tolist()
    ['same', 'other', 'other', 'same']
    >>> classifier.predict_proba(X).shape
    (4, 2)
    """

    named_losses: ClassVar[dict[str, Any]] = {"log_loss": cross_entropy}

    classes_: np.ndarray

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these samples, going on from what was fitted; optimiser and schedule go on too.

        The first call needs all `classes`, unless `y` has them. Raises :class:`ValueError` for others later.
        """
        return self._partial_fit(X, y, sample_weight, classes=classes)

    def predict(self, X: Any) -> np.ndarray:
        """The class of the highest score for each row."""
        scores = self._outputs(X)
        found: np.ndarray = self.classes_[np.argmax(scores, axis=1)]
        return found

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of all classes ``(n, classes)``: the softmax of the scores."""
        found: np.ndarray = softmax(self._outputs(X))
        return found

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms, which are finite where probabilities are too small for a number."""
        found: np.ndarray = log_softmax(self._outputs(X))
        return found

    def _target_options(self) -> dict[str, Any]:
        return {}

    def _encoded(
        self,
        y: np.ndarray,
        dtype: Any,  # noqa: ARG002 (scores have the dtype, targets are whole numbers)
        goes_on: bool,
        classes: Any,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The number of each sample's class."""
        check_classification_targets(y)
        known = self.classes_ if goes_on else np.unique(y if classes is None else np.asarray(classes))
        if goes_on and classes is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(f"classes are {known.tolist()} since the first call, got {np.unique(classes).tolist()}")
        strange = np.setdiff1d(y, known)
        if len(strange):
            raise ValueError(
                f"y has classes {strange.tolist()} that are not among {known.tolist()}: with warm_start and "
                "partial_fit all classes are known from the first call on; a new network begins with warm_start=False"
            )
        if len(known) < 2:
            raise ValueError(f"a classifier needs at least two classes, y has one class: {known.tolist()}")
        return np.searchsorted(known, y), {"classes_": known, "n_outputs_": len(known)}

    def _check_targets(self, target: np.ndarray) -> None:
        """At least two classes, where the samples say which there are."""
        if len(np.unique(target)) < 2:
            raise ValueError("a classifier needs at least two classes, one class is left by the weights that are not 0")
