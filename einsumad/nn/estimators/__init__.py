"""Networks as estimators of scikit-learn, for its pipelines, searches and scores.

Owns nothing but the names. Imports the modules of this folder, and with them scikit-learn: neither ``einsumad`` nor
``einsumad.nn`` imports it.
"""

from einsumad.nn.estimators.classifier import EinsumClassifier
from einsumad.nn.estimators.regressor import EinsumRegressor

__all__ = ["EinsumClassifier", "EinsumRegressor"]
