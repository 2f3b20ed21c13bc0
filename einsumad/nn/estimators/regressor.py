"""Regression.

Owns :class:`EinsumRegressor`. Imports the base. Invariant: targets are fitted as they are, neither shifted nor scaled.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from einsumad.nn.estimators.base import EinsumEstimator
from einsumad.nn.estimators.scikit_learn import RegressorMixin
from einsumad.nn.functional import huber_loss, l1_loss, mse_loss
from einsumad.nn.functional.losses import Reduction


def half_of_squares(outputs: Any, target: Any, *, reduction: Reduction = "mean") -> Any:
    """``(outputs - target)² / 2``, as scikit-learn's networks have it."""
    return 0.5 * mse_loss(outputs, target, reduction=reduction)


class EinsumRegressor(RegressorMixin, EinsumEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A network that predicts numbers, as an estimator of scikit-learn.

    Parameters and attributes are those of :class:`EinsumClassifier`, which says what differs from scikit-learn's, but
    for `classes_` and these two:

    - `loss`: ``"squared_error"``, which is also what None means (half the square, as scikit-learn has it),
      ``"absolute_error"``, ``"huber"``, or a function of outputs and targets ``(n, targets)``.
    - `module` gives a column for each target.

    Targets are ``(n,)`` or ``(n, targets)``, and predictions have their form. They are fitted as they are: scale
    what is large or small, as by ``sklearn.compose.TransformedTargetRegressor``.

    Attributes: `module_`, `history_`, `n_iter_`, `loss_`, `n_outputs_`, `n_features_in_`, and `feature_names_in_` where
    X had names of columns.

    >>> import numpy as np
    >>> from einsumad.nn.estimators import EinsumRegressor
    >>> X = np.linspace(-1, 1, 100)[:, None]
    >>> y = np.sin(3 * X[:, 0])
    >>> regressor = EinsumRegressor((32,), "tanh", learning_rate_init=0.05, tol=None, random_state=0)
    >>> regressor.fit(X, y).score(X, y) > 0.99
    True
    """

    named_losses: ClassVar[dict[str, Any]] = {
        "squared_error": half_of_squares,
        "absolute_error": l1_loss,
        "huber": huber_loss,
    }

    n_outputs_: int

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch over these samples, going on from what was fitted; optimiser and schedule go on too."""
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """What the network gives, ``(n,)`` or ``(n, targets)`` as the targets were."""
        outputs = self._outputs(X)
        return outputs[:, 0] if self._one_axis else outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _target_options(self) -> dict[str, Any]:
        return {"multi_output": True, "y_numeric": True}

    def _encoded(
        self,
        y: np.ndarray,
        dtype: Any,
        goes_on: bool,
        classes: Any,  # noqa: ARG002 (there are none)
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Targets ``(n, targets)`` in the dtype of the network."""
        targets = y.reshape(len(y), -1)
        if goes_on and (targets.shape[1], y.ndim == 1) != (self.n_outputs_, self._one_axis):
            raise ValueError(
                f"y has shape {y.shape}, but the network was fitted to {self.n_outputs_} targets for a row"
            )
        with np.errstate(over="ignore"):
            converted = targets.astype(dtype)
        if not np.all(np.isfinite(converted)):
            raise ValueError(f"y has values that are too large for {np.dtype(dtype)}, the dtype of X: scale them")
        return converted, {"n_outputs_": targets.shape[1], "_one_axis": y.ndim == 1}
