"""Points at which the rows of the factorisations are tested: definite, distinct, of full or fixed rank."""

from __future__ import annotations

from functools import partial

import numpy as np

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


FACTORISATIONS = [
    symmetric("mirrored", (normal(3, 3),), (0,), exact=True),
    symmetric("mirrored", (normal(2, 2, 2),), (1,), exact=True),
    Case("triangle_weights", (normal(2, 3),), (1, 0.5, 0)),
    symmetric("cholesky", (positive(3, 3),)),
    symmetric("cholesky", (positive(2, 2, 2),)),
    symmetric("eigh_values", (distinct(3, 3),), (0,)),
    symmetric("eigh_values", (distinct(2, 2, 2),), (1,)),
    symmetric("eigh_vectors", (distinct(3, 3),), (0,)),
    symmetric("eigh_vectors", (distinct(2, 2, 2),), (1,), order=1),
    Case("eigh_packed", (distinct(3, 3),), (0,), order=0),
    Case("eigh_alone", (distinct(3, 3),), (0,), order=0),
    Case("gaps", (np.array([0.3, 1.0, 2.5]),), (-1,)),
    Case("gaps", (np.array([[0.3, 1.0], [0.5, 2.5]]),), (1,)),
    Case("svd_values", (apart(3, 2),), (0,)),
    Case("svd_values", (apart(2, 2, 2),), (0,)),
    *[Case(name, (apart(*shape),), (0,)) for name in ("svd_left", "svd_right") for shape in ((3, 2), (2, 3))],
    *[Case(name, (apart(2, 2, 2),), (1,), order=1) for name in ("svd_left", "svd_right")],
    Case("svd_packed", (apart(3, 2),), (0,), order=0),
    *[Case(name, (apart(3, 2),)) for name in ("qr_orthogonal", "qr_triangular")],
    *[Case(name, (apart(2, 2, 2),)) for name in ("qr_orthogonal", "qr_triangular")],
    Case("qr_packed", (apart(3, 2),), order=0),
    Case("pinv", (apart(3, 2),), (1e-10,)),
    Case("pinv", (apart(2, 2, 3),), (1e-10,), order=1),
    Case("pinv", (apart(2, 2),), (1e-10,)),
]
