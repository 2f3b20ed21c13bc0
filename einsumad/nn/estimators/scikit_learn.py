"""What is used of scikit-learn.

Owns the names, and the error where it is missing. Imports scikit-learn. Invariant: public names only, but for the check
of weights, for which there is no public one.
"""

from __future__ import annotations

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import (
        _check_sample_weight,
        check_is_fitted,
        column_or_1d,
        validate_data,
    )
except ImportError as error:
    raise ImportError(
        'EinsumClassifier and EinsumRegressor need scikit-learn 1.6 or later: pip install "einsumad[estimators]"'
    ) from error

check_sample_weight = _check_sample_weight

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "ConvergenceWarning",
    "RegressorMixin",
    "check_classification_targets",
    "check_is_fitted",
    "check_sample_weight",
    "column_or_1d",
    "is_classifier",
    "validate_data",
]
