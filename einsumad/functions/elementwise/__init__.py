"""The rows of the functions applied entry by entry. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module here is imported here.
"""

from einsumad.functions.elementwise import (
    comparisons,
    exponential,
    kinks,
    powers,
    running,
    special,
    spherical,
    trigonometric,
)

__all__ = ["comparisons", "exponential", "kinks", "powers", "running", "special", "spherical", "trigonometric"]
