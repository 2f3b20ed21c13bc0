"""Block diagonal matrices of equal blocks: one block for all, a few large ones, or many small ones.

Owns the choice between these. Imports NumPy and the factorisations of blocks. Invariant: a block that is shared is
factorised once; the factors of small blocks are inverted, those of large blocks are not.
"""

from __future__ import annotations

import numpy as np

from einsumad.compressed.factorisations.base import Array, Delegating, Factorisation
from einsumad.compressed.factorisations.dense import factorise
from einsumad.compressed.factorisations.diagonal import Identity
from einsumad.compressed.factorisations.direct_sum import DirectSum
from einsumad.compressed.factorisations.kronecker import Kronecker
from einsumad.compressed.factorisations.pivots import square
from einsumad.compressed.factorisations.stacked import StackedCholesky, StackedEigen, StackedLU
from einsumad.errors import ShapeError

__all__ = ["Blocks"]

_LARGEST_STACKED = 128
"""Blocks up to this size are worked on as a stack; for larger ones a call each costs little."""


class Blocks(Delegating):
    """``count`` blocks of shape (n, n) along the diagonal: ``blocks`` has shape (count, n, n), or (1, n, n) for all.

    Positive definite blocks have Cholesky's factors, other symmetric ones ``L D Lᵀ`` or eigenvalues, the rest ``L U``.
    Of a symmetric block one triangle is read. A block that is singular relative to its own scale raises
    LinearAlgebraError.

    >>> blocks = Blocks(np.array([[[2.0, 1.0], [1.0, 2.0]]]), count=3, symmetric=True)
    >>> blocks.method, blocks.size
    ('identity ⊗ Cholesky 2×2', 6)
    >>> blocks.solve(np.full((6, 1), 3.0)).T.round(12)
    array([[1., 1., 1., 1., 1., 1.]])
    """

    def __init__(self, blocks: Array, count: int, symmetric: bool) -> None:
        blocks = square(blocks, "the blocks of a block diagonal matrix", 3)
        if len(blocks) not in (1, count):
            raise ShapeError(f"blocks of shape {blocks.shape} for {count} blocks: there has to be one, or {count}")
        super().__init__(_chosen(blocks, count, symmetric))


def _chosen(blocks: Array, count: int, symmetric: bool) -> Factorisation:
    if count == 0 or not blocks.size:
        return Identity(0, blocks.dtype)
    if len(blocks) == 1:
        one = factorise(blocks[0], symmetric)
        return one if count == 1 else Kronecker([Identity(count, blocks.dtype), one])
    if blocks.shape[1] > _LARGEST_STACKED:
        return DirectSum([factorise(block, symmetric) for block in blocks])
    if not symmetric:
        return StackedLU(blocks)
    try:
        factors = np.linalg.cholesky(blocks)
    except np.linalg.LinAlgError:
        return StackedEigen(blocks)
    return StackedCholesky(blocks, factors)
