"""What SciPy's optimisers are called with: functions of one vector and the derivatives that each method takes.

Owns nothing but the names. Imports the modules of this folder. Invariant: nothing here optimises; SciPy does, and is
loaded by whoever calls it.
"""

from einsumad.optim.arguments import Arguments
from einsumad.optim.minimisation import minimize_arguments
from einsumad.optim.systems import least_squares_arguments, root_arguments
from einsumad.optim.vectors import flatten

__all__ = ["Arguments", "flatten", "least_squares_arguments", "minimize_arguments", "root_arguments"]
