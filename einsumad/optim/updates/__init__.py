"""Steps of first-order methods as pure functions of arrays: one for each method.

Owns nothing but the names. Imports the modules of this folder. Invariant: a function takes a value, its gradient, the
state (arrays of the same shape by name) and the numbers of the step (by name, in the dtype of the value), plain or
traced, and returns the new value and the new state; keywords are flags, which choose the formula.
"""

from einsumad.optim.updates.moments import adam
from einsumad.optim.updates.momentum import sgd
from einsumad.optim.updates.scaling import adagrad, rmsprop

__all__ = ["adagrad", "adam", "rmsprop", "sgd"]
