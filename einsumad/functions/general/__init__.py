"""The rows of the functions from tensors to tensors. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module with rows is imported here.
"""

from einsumad.functions.general import (
    determinants,
    linear,
    orthogonal,
    reductions,
    singular,
    singular_functions,
    sorting,
    spectral,
    symmetric,
)

__all__ = [
    "determinants",
    "linear",
    "orthogonal",
    "reductions",
    "singular",
    "singular_functions",
    "sorting",
    "spectral",
    "symmetric",
]
