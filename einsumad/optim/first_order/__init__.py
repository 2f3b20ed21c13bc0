"""Optimisers for parameters that hold their gradients, with the names and defaults of PyTorch.

Owns nothing but the names. Imports the modules of this folder. Invariant: what a step computes is a pure update; what
an optimiser keeps are its groups and, for each parameter, the state and the number of steps.
"""

from einsumad.optim.first_order.method import Method
from einsumad.optim.first_order.methods import SGD, Adagrad, Adam, AdamW, RMSprop
from einsumad.optim.first_order.optimizer import Optimizer

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Method", "Optimizer", "RMSprop"]
