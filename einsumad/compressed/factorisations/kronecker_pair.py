"""Sums of two Kronecker products: which factorisation they have.

Owns the choice. Imports NumPy and the two factorisations. Invariant: a sum that has neither is refused, never made
dense.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.compressed.factorisations.base import Array, Delegating, Factorisation
from einsumad.compressed.factorisations.diagonal import Identity
from einsumad.compressed.factorisations.generalised_schur import GeneralisedSchur
from einsumad.compressed.factorisations.pivots import common_dtype, square
from einsumad.compressed.factorisations.simultaneous import Simultaneous, definite_combination
from einsumad.errors import LinearAlgebraError, ShapeError

__all__ = ["KroneckerPair", "can_diagonalise"]


def can_diagonalise(first: Sequence[Array], second: Sequence[Array]) -> bool:
    """Whether each pair of symmetric matrices has a positive definite combination, tried by Cholesky's factorisation.

    >>> import numpy as np
    >>> can_diagonalise([np.eye(2)], [np.diag([1.0, -1.0])])
    True
    """
    first, second = _checked(first, second)
    return all(definite_combination(*pair) is not None for pair in zip(first, second, strict=True))


class KroneckerPair(Delegating):
    """``A1 ⊗ B1 ⊗ … + A2 ⊗ B2 ⊗ …``, in C order; ``first`` is [A1, B1, …] and ``second`` [A2, B2, …].

    ``symmetric`` says that each of these matrices is symmetric. Then, if each pair (A1, A2), (B1, B2), … has a positive
    definite combination, such as one of the two, both are diagonalised at once. Otherwise two pairs have a generalised
    Schur form, without inertia and root; another number of pairs raises LinearAlgebraError.

    >>> import numpy as np
    >>> one, two = np.eye(2), np.diag([1.0, 3.0])
    >>> KroneckerPair([two, one], [one, two], symmetric=True).solve(np.full((4, 1), 12.0)).T.round(12)
    array([[6., 3., 3., 2.]])
    """

    def __init__(self, first: Sequence[Array], second: Sequence[Array], symmetric: bool) -> None:
        super().__init__(_chosen(*_checked(first, second), symmetric))


def _checked(first: Sequence[Array], second: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    one, two = ([square(matrix, "a part of a Kronecker product") for matrix in part] for part in (first, second))
    shapes, others = [matrix.shape for matrix in one], [matrix.shape for matrix in two]
    if shapes != others or not shapes:
        raise ShapeError(f"two Kronecker products of matrices of shapes {shapes} and {others}: they have to be equal")
    dtype = common_dtype(matrix.dtype for matrix in [*one, *two])
    return [matrix.astype(dtype, copy=False) for matrix in one], [matrix.astype(dtype, copy=False) for matrix in two]


def _chosen(first: list[Array], second: list[Array], symmetric: bool) -> Factorisation:
    if not all(matrix.size for matrix in first):
        return Identity(0, first[0].dtype)
    if symmetric:
        found = [definite_combination(*pair) for pair in zip(first, second, strict=True)]
        combinations = [combination for combination in found if combination is not None]
        if len(combinations) == len(found):
            return Simultaneous(first, second, combinations)
    if len(first) == 2:
        return GeneralisedSchur(first, second, symmetric)
    raise LinearAlgebraError(
        f"a sum of two Kronecker products of {len(first)} matrices each: it is factorised if each pair of matrices is "
        "symmetric with one of the two definite, or if there are two pairs; make the matrix dense"
    )
