"""The rows of the functions applied entry by entry. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module here is imported here.
"""

from einsumad.functions.elementwise import (
    bessel,
    betas,
    comparisons,
    distributions,
    elliptic,
    errors,
    exponential,
    gammas,
    hypergeometric,
    kinks,
    polynomials,
    powers,
    quotients,
    running,
    scaled,
    special,
    transformations,
    trigonometric,
)

__all__ = [
    "bessel",
    "betas",
    "comparisons",
    "distributions",
    "elliptic",
    "errors",
    "exponential",
    "gammas",
    "hypergeometric",
    "kinks",
    "polynomials",
    "powers",
    "quotients",
    "running",
    "scaled",
    "special",
    "transformations",
    "trigonometric",
]
