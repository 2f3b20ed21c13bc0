"""Second-order optimisers for parameters: steps from curvature, with the loss never rising on the batch.

Owns nothing but the names. Imports the modules of this folder. Invariant: what a step computes is made of pure
functions of arrays, which stand in `updates`; an optimiser keeps a few numbers, and arrays where its method has some.
"""

from einsumad.optim.curvature import updates
from einsumad.optim.curvature.gauss_newton import GaussNewton
from einsumad.optim.curvature.kfac import KFAC
from einsumad.optim.curvature.newton_cg import NewtonCG
from einsumad.optim.curvature.objective import Objective
from einsumad.optim.curvature.optimizer import SecondOrderOptimizer, Stepped

__all__ = ["KFAC", "GaussNewton", "NewtonCG", "Objective", "SecondOrderOptimizer", "Stepped", "updates"]
