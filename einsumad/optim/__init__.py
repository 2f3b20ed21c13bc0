"""Optimisation with derivatives: what SciPy's optimisers are called with, second-order steps, and training.

Owns nothing but the names. Imports the modules of this folder. Invariant: SciPy's optimisers are loaded by whoever
calls them; second-order steps are for problems whose second derivatives have a structure that a dense matrix would
lose; first-order steps are pure functions of arrays beneath the optimisers that keep what they need.
"""

from einsumad.optim import curvature, lr_scheduler, updates
from einsumad.optim.arguments import Arguments
from einsumad.optim.clipping import (
    clip_grad_norm_,
    clip_grad_value_,
    clipped_by_norm,
    clipped_by_value,
    total_norm,
)
from einsumad.optim.curvature import KFAC, GaussNewton, NewtonCG, Objective, SecondOrderOptimizer
from einsumad.optim.first_order import SGD, Adagrad, Adam, AdamW, Method, Optimizer, RMSprop
from einsumad.optim.minimisation import minimize_arguments
from einsumad.optim.records import Record, Result, Step
from einsumad.optim.residuals import gauss_newton_step, levenberg_marquardt
from einsumad.optim.second_order import newton, newton_step
from einsumad.optim.systems import least_squares_arguments, root_arguments
from einsumad.optim.vectors import flatten

__all__ = [
    "KFAC",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Arguments",
    "GaussNewton",
    "Method",
    "NewtonCG",
    "Objective",
    "Optimizer",
    "RMSprop",
    "Record",
    "Result",
    "SecondOrderOptimizer",
    "Step",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clipped_by_norm",
    "clipped_by_value",
    "curvature",
    "flatten",
    "gauss_newton_step",
    "least_squares_arguments",
    "levenberg_marquardt",
    "lr_scheduler",
    "minimize_arguments",
    "newton",
    "newton_step",
    "root_arguments",
    "total_norm",
    "updates",
]
