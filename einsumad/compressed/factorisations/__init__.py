"""Factorised square matrices on plain arrays: solve, determinant, inertia and root, each in the matrix's own structure.

Owns one class for each structure, and the rule by which a matrix is called singular. Imports NumPy, SciPy when a matrix
is factorised, and the errors of the package: no graph, no indices. Invariant: everything is flat, a factorisation of
shape (N, N) takes right-hand sides of shape (N, m), and none makes its matrix dense.
"""

from __future__ import annotations

from einsumad.compressed.factorisations.banded import Banded
from einsumad.compressed.factorisations.base import Factorisation, Inertia
from einsumad.compressed.factorisations.blocks import Blocks
from einsumad.compressed.factorisations.bordered import Border, Bordered
from einsumad.compressed.factorisations.dense import factorise
from einsumad.compressed.factorisations.diagonal import Diagonal, Identity
from einsumad.compressed.factorisations.direct_sum import DirectSum
from einsumad.compressed.factorisations.iterative import conjugate_gradient
from einsumad.compressed.factorisations.kronecker import Kronecker
from einsumad.compressed.factorisations.kronecker_pair import KroneckerPair, can_diagonalise
from einsumad.compressed.factorisations.low_rank import LowRankUpdate
from einsumad.compressed.factorisations.permuted import Permuted
from einsumad.compressed.factorisations.refined import Refined
from einsumad.compressed.factorisations.sparse import Sparse

__all__ = [
    "Banded",
    "Blocks",
    "Border",
    "Bordered",
    "Diagonal",
    "DirectSum",
    "Factorisation",
    "Identity",
    "Inertia",
    "Kronecker",
    "KroneckerPair",
    "LowRankUpdate",
    "Permuted",
    "Refined",
    "Sparse",
    "can_diagonalise",
    "conjugate_gradient",
    "factorise",
]
