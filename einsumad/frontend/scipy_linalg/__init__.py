"""scipy.linalg on traced values: its functions, which know nothing of NumPy's protocols, written once more.

Owns nothing but the order of import. Imports its modules. Invariant: every module with functions is imported here.
"""

from einsumad.frontend.scipy_linalg import (
    counterparts,
    elimination,
    equations,
    factorisations,
    matrix_functions,
    riccati,
    structured,
)
from einsumad.frontend.scipy_linalg.dispatch import FUNCTIONS

__all__ = [
    "FUNCTIONS",
    "counterparts",
    "elimination",
    "equations",
    "factorisations",
    "matrix_functions",
    "riccati",
    "structured",
]
