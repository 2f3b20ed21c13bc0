"""scikit-learn's own checks of estimators, with small networks so that they are quick."""

from __future__ import annotations

from typing import Any

import pytest

checks = pytest.importorskip("sklearn.utils.estimator_checks")

from einsumad.nn.estimators import EinsumClassifier, EinsumRegressor  # noqa: E402 (where scikit-learn is missing)

SMALL: dict[str, Any] = {"hidden_layer_sizes": (10,), "max_iter": 30, "learning_rate_init": 0.03}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@checks.parametrize_with_checks([EinsumClassifier(**SMALL), EinsumRegressor(**SMALL)])
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
