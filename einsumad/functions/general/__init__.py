"""The rows of the functions from tensors to tensors. Importing this package registers them.

Owns the order of import. Imports its modules. Invariant: every module with rows is imported here.
"""

from einsumad.functions.general import (
    declared,
    determinants,
    linear,
    matrix_equations,
    matrix_functions,
    orthogonal,
    pivoted,
    pseudo_inverse,
    reductions,
    resolvents,
    riccati,
    searching,
    singular,
    singular_functions,
    singular_resolvents,
    sorting,
    spectral,
    symmetric,
    whole,
)

__all__ = [
    "declared",
    "determinants",
    "linear",
    "matrix_equations",
    "matrix_functions",
    "orthogonal",
    "pivoted",
    "pseudo_inverse",
    "reductions",
    "resolvents",
    "riccati",
    "searching",
    "singular",
    "singular_functions",
    "singular_resolvents",
    "sorting",
    "spectral",
    "symmetric",
    "whole",
]
