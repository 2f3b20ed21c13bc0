"""The NumPy surface: handlers for ufuncs and array functions. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module here is imported here.
"""

from einsumad.frontend.numpy_functions import (
    arithmetic,
    contractions,
    creation,
    elementwise,
    layout,
    linear_algebra,
    reductions,
    selections,
)

__all__ = [
    "arithmetic",
    "contractions",
    "creation",
    "elementwise",
    "layout",
    "linear_algebra",
    "reductions",
    "selections",
]
