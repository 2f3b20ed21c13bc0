"""Points at which the rows of the factorisations are tested: definite, distinct, of full or fixed rank."""

from __future__ import annotations

from functools import partial

import numpy as np

from einsumad.functions import apply
from einsumad.functions.general.templates import slot, text_of
from einsumad.graph import add, multiply
from tests.functions.general_cases import Array, Case, normal, positive

symmetric = partial(Case, symmetric=True)


def distinct(*shape: int) -> Array:
    """Symmetric matrices whose eigenvalues are apart and of both signs."""
    root = 0.3 * normal(*shape, seed=3)
    return root + np.swapaxes(root, -1, -2) + np.diag(np.arange(shape[-1]) - 0.7)


def apart(*shape: int) -> Array:
    """Matrices whose singular values are apart."""
    rows, columns = shape[-2:]
    return 0.3 * normal(*shape, seed=2) + np.eye(rows, columns) * np.arange(1, columns + 1)


def exchanged(*shape: int) -> Array:
    """Matrices of which elimination exchanges rows, each by a clear choice."""
    return apart(*shape)[..., ::-1, :]


X, P = slot(0), slot(1)
EXPONENTIAL = text_of(apply("exp", multiply(X, P)))
CUBIC = text_of(add([multiply(X, X, X), multiply(X, P)]))
NO_PARAMETER = text_of(apply("sin", X))


def with_parameter(name: str, matrix: Array, params: tuple[int | float | str, ...], order: int = 2) -> Case:
    """A spectral row with one parameter for each matrix; only the matrix has to be symmetric."""
    return symmetric(
        name,
        (matrix, 0.5 + 0.1 * np.arange(matrix[..., 0, :1].size).reshape(matrix[..., 0, :1].shape)),
        params,
        order=order,
    )


FACTORISATIONS = [
    symmetric("mirrored", (distinct(3, 3),), (0,), exact=True),
    symmetric("mirrored", (distinct(2, 2, 2),), (1,), exact=True),
    symmetric("mirrored", (distinct(3, 3),), (2,), exact=True),
    Case("one_if_symmetric", (distinct(3, 3),), order=0),
    Case("triangle_weights", (normal(2, 3),), (1, 0.5, 0)),
    symmetric("cholesky", (positive(3, 3),)),
    symmetric("cholesky", (positive(2, 2, 2),)),
    symmetric("eigh_values", (distinct(3, 3),), (0,)),
    symmetric("eigh_values", (distinct(2, 2, 2),), (1,)),
    symmetric("eigh_vectors", (distinct(3, 3),), (0,)),
    symmetric("eigh_vectors", (distinct(2, 2, 2),), (1,), order=1),
    Case("eigh_packed", (distinct(3, 3),), (0,), order=0),
    Case("eigh_alone", (distinct(3, 3),), (0,), order=0),
    symmetric("eigh_values", (distinct(3, 3),), (0, 2, 1, 1)),
    symmetric("eigh_vectors", (distinct(3, 3),), (0, 2, -2, 2)),
    symmetric("eigenprojections", (distinct(3, 3),), (0, 0, 1, 3)),
    symmetric("eigenprojections", (distinct(2, 2, 2),), (1, 1, 1, 1), order=1),
    symmetric("reduced_resolvents", (distinct(3, 3),), (0, 0, 1, 3, 1, 1)),
    symmetric("reduced_resolvents", (distinct(2, 2, 2),), (1, 1, -1, 2, 2, 2), order=1),
    *[
        Case("singular_projections", (apart(*shape),), (side, 1, -1, 2))
        for shape in ((3, 2), (2, 3))
        for side in range(3)
    ],
    *[
        Case("singular_resolvents", (apart(*shape),), (side, 0, 1, 2, 1, 1))
        for shape in ((3, 2), (2, 3))
        for side in range(3)
    ],
    *[Case("singular_resolvents", (apart(2, 2, 2),), (side, 1, 1, 1, 2, 2), order=1) for side in range(3)],
    *[Case(name, (apart(3, 2),), (1, 1, 1)) for name in ("svd_values", "svd_left", "svd_right")],
    Case("equal_shares", (np.array([0.3, 1.0, 1.0, 2.5]),), order=0),
    Case("gaps", (np.array([0.3, 1.0, 2.5]),), (2, 2), order=0),
    Case("singular_gaps", (np.array([0.3, 1.0, 2.5]),), (2, 2, 2), order=0),
    Case("inverse_values", (np.array([[0.3, 1.0], [0.5, 2.5]]),), (1, 1), order=0),
    Case("svd_values", (apart(3, 2),)),
    Case("svd_values", (apart(2, 2, 2),)),
    *[Case(name, (apart(*shape),)) for name in ("svd_left", "svd_right") for shape in ((3, 2), (2, 3))],
    *[Case(name, (apart(2, 2, 2),), order=1) for name in ("svd_left", "svd_right")],
    *[Case(f"{name}_full", (apart(3, 2),), order=0) for name in ("svd_left", "svd_right")],
    Case("svd_packed", (apart(3, 2),), (0,), order=0),
    *[Case(name, (apart(3, 2),)) for name in ("qr_orthogonal", "qr_triangular")],
    *[Case(name, (apart(2, 2, 2),)) for name in ("qr_orthogonal", "qr_triangular")],
    Case("qr_packed", (apart(3, 2),), order=0),
    *[Case("lu", (exchanged(*shape),)) for shape in ((3, 3), (4, 2), (2, 3), (1, 2), (2, 1), (2, 2, 2))],
    Case("lu", (np.array([[2.0, 1.0], [4.0, 2.0]]),)),
    Case("lu", (np.zeros((2, 0)),)),
    Case("lu_with_pivots", (exchanged(3, 3),), order=0),
    Case("one_if_pivots", (exchanged(2, 3, 2),), order=0),
    Case("pivot_order", (np.array([[1, 1]]),), (3,), order=0),
    Case("lu_pivots", (exchanged(3, 3),)),
    Case("pivots_of_lu", (np.array([[2.0, 1.0, 1.0], [0.5, 3.0, 1.0]]),), order=0),
    Case("pinv", (apart(3, 2),), (1e-10,)),
    Case("pinv", (apart(2, 2, 3),), (1e-10,), order=1),
    Case("pinv", (apart(2, 2),), (1e-10,)),
    *[Case("unreached", (apart(*shape),), (1e-10, side)) for shape in ((3, 2), (2, 3)) for side in (0, 1)],
    Case("unreached", (apart(2, 3, 2),), (1e-10, 0), order=1),
    Case("inverse", (np.triu(positive(3, 3)),), (2,)),
    Case("inverse", (positive(2, 2, 2),), (1,), order=1),
    *[
        with_parameter(name, matrix, (0, text))
        for name in ("spectral_sum", "spectral_logsumexp")
        for matrix, text in ((distinct(2, 2), EXPONENTIAL), (distinct(2, 2, 2), CUBIC), (np.eye(2), EXPONENTIAL))
    ],
    *[
        with_parameter("spectral", matrix, (k, 0, text), order=2 - k // 2)
        for k, matrix, text in (
            (0, distinct(2, 2), EXPONENTIAL),
            (0, np.eye(2), EXPONENTIAL),
            (0, distinct(2, 2, 2), CUBIC),
            (1, np.diag([1.0, 1.0]), EXPONENTIAL),
            (1, np.diag([1.0, 2.0]), CUBIC),
            (2, np.diag([1.0, 2.0]), EXPONENTIAL),
        )
    ],
    Case("svd_alone", (apart(3, 2),), order=0),
    *[
        Case(name, (matrix, np.full((*matrix.shape[:-2], 1), 0.4)), (text,), order=2)
        for name in ("singular_sum", "singular_map")
        for matrix, text in ((apart(3, 2), EXPONENTIAL), (apart(2, 2, 2), CUBIC), (np.eye(2), EXPONENTIAL))
    ],
    *[
        Case("singular_square", (matrix, np.full((*matrix.shape[:-2], 1), 0.4)), (side, text), order=2)
        for side, matrix, text in (
            (0, apart(3, 2), EXPONENTIAL),
            (1, apart(3, 2), EXPONENTIAL),
            (1, apart(2, 2, 2), CUBIC),
            (0, np.eye(2), EXPONENTIAL),
        )
    ],
    Case("divided_differences", (np.array([0.3, 1.0, 1.0]), np.array([0.7])), (1, EXPONENTIAL)),
    Case("divided_differences", (np.array([[0.3, 1.0], [2.0, -1.0]]), np.zeros((2, 0))), (2, NO_PARAMETER), order=1),
]
