"""The NumPy surface: handlers for ufuncs and array functions. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module here is imported here.
"""

from einsumad.frontend.numpy_functions import (
    arithmetic,
    contractions,
    creation,
    cumulative,
    elementwise,
    indexing,
    joining,
    layout,
    linear_algebra,
    rearranging,
    reductions,
    selections,
    sorting,
    windows,
    writing,
)

__all__ = [
    "arithmetic",
    "contractions",
    "creation",
    "cumulative",
    "elementwise",
    "indexing",
    "joining",
    "layout",
    "linear_algebra",
    "rearranging",
    "reductions",
    "selections",
    "sorting",
    "windows",
    "writing",
]
