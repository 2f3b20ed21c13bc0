"""Optimisation with derivatives: what SciPy's optimisers are called with, and second-order steps in structure.

Owns nothing but the names. Imports the modules of this folder. Invariant: SciPy's optimisers are loaded by whoever
calls them; what is optimised here are problems whose second derivatives have a structure that a dense matrix would
lose.
"""

from einsumad.optim.arguments import Arguments
from einsumad.optim.minimisation import minimize_arguments
from einsumad.optim.records import Record, Result, Step
from einsumad.optim.residuals import gauss_newton_step, levenberg_marquardt
from einsumad.optim.second_order import newton, newton_step
from einsumad.optim.systems import least_squares_arguments, root_arguments
from einsumad.optim.vectors import flatten

__all__ = [
    "Arguments",
    "Record",
    "Result",
    "Step",
    "flatten",
    "gauss_newton_step",
    "least_squares_arguments",
    "levenberg_marquardt",
    "minimize_arguments",
    "newton",
    "newton_step",
    "root_arguments",
]
