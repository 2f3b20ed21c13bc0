"""Points at which the general rows are tested; each family of rows has a list of its own."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.functions.matrix_function_cases import MATRIX_FUNCTIONS
from tests.functions.points import Array, Case, invertible, normal, positive

__all__ = ["CASES", "Array", "Case", "normal"]

SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
RANK_ONE = np.outer([1.0, -2.0, 0.5], [3.0, 1.0, 2.0])
multilinear = partial(Case, exact=True)
PRODUCTS_AND_ORDER = [
    Case("inverse", (invertible(3, 3),)),
    Case("inverse", (invertible(2, 2, 2),)),
    Case("inverse", (np.array([[0.4]]),)),
    Case("inverse", (positive(3, 3),), ("positive",)),
    Case("inverse", (invertible(2, 2, 2),), (1,)),
    Case("solve", (invertible(2, 2, 2), normal(2, 2, 1)), (1,)),
    Case("solve", (positive(2, 2, 2), normal(2, 2, 1)), ("positive",)),
    Case("logdet", (positive(2, 3, 3),), ("positive",)),
    *[Case("declared", (normal(2, 3, 3),), (fact,)) for fact in ("symmetric", "positive definite", "diagonal")],
    Case("solve", (invertible(3, 3), normal(3, 2))),
    Case("solve", (invertible(2, 2, 2), normal(2, 2, 1))),
    Case("logabsdet", (normal(3, 3),)),
    Case("logabsdet", (invertible(2, 2, 2),)),
    Case("logdet", (positive(3, 3),)),
    Case("sign_determinant", (normal(2, 3, 3),)),
    *[
        multilinear("determinant", (matrix,), order=3)
        for matrix in (
            normal(3, 3),
            SINGULAR,
            RANK_ONE,
            np.zeros((3, 3)),
            np.eye(3),
            normal(1, 1),
            normal(0, 0),
            np.stack([np.eye(2), np.ones((2, 2)), np.diag([2.0, 0.0])]),
        )
    ],
    *[multilinear("determinant_minors", (normal(3, 3),), (k,), order=1) for k in (1, 2, 3, 4)],
    multilinear("determinant_minors", (SINGULAR,), (1,)),
    *[
        multilinear("product", (vector,), order=3)
        for vector in (
            normal(4),
            np.array([2.0, 0.0, 3.0, 4.0]),
            np.array([0.0, 0.0, 3.0]),
            np.zeros(3),
            normal(1),
            normal(0),
            np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0]]),
        )
    ],
    *[multilinear("product_of_others", (normal(4),), (k,), order=1) for k in (1, 2, 3, 4, 5)],
    Case("max_reduce", (normal(3, 4),)),
    Case("max_reduce", (normal(1),)),
    Case("min_reduce", (normal(2, 2, 3),)),
    Case("fmax_reduce", (normal(3, 4),)),
    Case("fmin_reduce", (normal(2, 2, 3),)),
    Case("fmin_reduce", (normal(2, 2, 3),), (2,)),
    Case("searchsorted", (np.sort(normal(2, 4)), normal(2, 3, seed=1))),
    Case("whole", (3 * normal(2, 4),), ("int32",)),
    Case("argpartition", (normal(2, 4),), (1,)),
    Case("sort", (normal(3, 4),)),
    Case("sort", (normal(1),)),
    Case("partition", (normal(2, 5),), (1, 3)),
    *[Case(name, (normal(2, 4),)) for name in ("tie_count", "tie_place", "argsort", "argmax", "argmin")],
    Case("log_softmax", (normal(3, 4),)),
    Case("log_softmax", (normal(5),), order=3),
    Case("logsumexp", (normal(3, 4),)),
    Case("logsumexp", (normal(5),), order=3),
]

CASES = [*PRODUCTS_AND_ORDER, *MATRIX_FUNCTIONS]
