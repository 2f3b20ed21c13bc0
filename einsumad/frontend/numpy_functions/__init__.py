"""The NumPy surface: handlers for ufuncs and array functions. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module here is imported here.
"""

from einsumad.frontend.numpy_functions import (
    arithmetic,
    contractions,
    creation,
    cumulative,
    elementwise,
    factorisations,
    indexing,
    joining,
    layout,
    linear_algebra,
    matrix_products,
    norms,
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
    "factorisations",
    "indexing",
    "joining",
    "layout",
    "linear_algebra",
    "matrix_products",
    "norms",
    "rearranging",
    "reductions",
    "selections",
    "sorting",
    "windows",
    "writing",
]
