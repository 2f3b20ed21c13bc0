"""What second-order steps are made of, as pure functions of arrays and numbers.

Owns nothing but the names. Imports the modules of this folder. Invariant: nothing is kept between calls; systems are
solved in double precision.
"""

from einsumad.optim.curvature.updates.conjugate import Truncated, steihaug
from einsumad.optim.curvature.updates.kronecker import (
    Spectrum,
    best_combination,
    kronecker_solution,
    spectrum_of,
    symmetric_solution,
)
from einsumad.optim.curvature.updates.systems import damped_solution, dual_solution
from einsumad.optim.curvature.updates.trust import (
    accepted_damping,
    accepted_radius,
    forcing_term,
    gain_ratio,
    rejected_damping,
    rejected_radius,
)

__all__ = [
    "Spectrum",
    "Truncated",
    "accepted_damping",
    "accepted_radius",
    "best_combination",
    "damped_solution",
    "dual_solution",
    "forcing_term",
    "gain_ratio",
    "kronecker_solution",
    "rejected_damping",
    "rejected_radius",
    "spectrum_of",
    "steihaug",
    "symmetric_solution",
]
