"""The method of conjugate gradients, for matrices that are known by their product only.

Owns this function. Imports NumPy, the base and the errors, and SciPy when it is called. Invariant: what is returned has
the residual that was asked for.

M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, J. Res. Nat. Bur. Standards 49
(1952).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from einsumad.compressed.factorisations.base import Array, Factorisation
from einsumad.compressed.factorisations.pivots import entries
from einsumad.compressed.libraries import sparse_linear_algebra
from einsumad.errors import LinearAlgebraError

__all__ = ["conjugate_gradient"]

_SLACK = 10
"""The residual that the method updates may be this much smaller than the true one, by rounding."""


def conjugate_gradient(
    matvec: Callable[[Array], Array],
    rhs: Array,
    tolerance: float,
    most_steps: int,
    preconditioner: Factorisation | None = None,
) -> Array:
    """The solution X of ``M X = rhs``, shape (N, m), for a symmetric positive definite M with ``matvec(v) = M v``.

    Each column is solved until its residual is ``tolerance`` times the norm of its right-hand side. Raises
    LinearAlgebraError if that takes more than ``most_steps`` products, if rounding does not allow it, if a direction
    has a curvature ``pᵀ M p`` that is not positive, or if the preconditioner is not positive definite.

    >>> conjugate_gradient(lambda v: 2 * v, np.ones((3, 1)), 1e-10, 10).T
    array([[0.5, 0.5, 0.5]])
    """
    rhs = entries(rhs, "a right-hand side", 2)
    if preconditioner is not None and not preconditioner.positive_definite:
        raise LinearAlgebraError(
            "conjugate gradients with a preconditioner that is not positive definite: its smallest pivot is "
            f"{preconditioner.smallest_pivot:.3g} ({preconditioner.method})"
        )
    result = np.zeros_like(rhs)
    if rhs.size:
        for column in range(rhs.shape[1]):
            result[:, column] = _solved(matvec, rhs[:, column], tolerance, most_steps, preconditioner)
    return result


def _solved(
    matvec: Callable[[Array], Array],
    right: Array,
    tolerance: float,
    most_steps: int,
    preconditioner: Factorisation | None,
) -> Array:
    library, size = sparse_linear_algebra(), len(right)

    def product(direction: Array) -> Array:
        found = np.asarray(matvec(direction.reshape(-1, 1))).reshape(-1)
        curvature = float(direction @ found)
        if not curvature > 0:
            raise LinearAlgebraError(
                f"conjugate gradients met a direction of curvature {curvature / float(direction @ direction):.3g}: the "
                "matrix is not positive definite; pass damping= to add a multiple of the identity, or use a "
                "factorisation"
            )
        return found

    operator = library.LinearOperator((size, size), product, dtype=right.dtype)
    inverse = preconditioner and library.LinearOperator(
        (size, size), lambda v: preconditioner.solve(v.reshape(-1, 1)).reshape(-1), dtype=right.dtype
    )
    found, steps = library.cg(operator, right, rtol=tolerance, atol=0.0, maxiter=most_steps, M=inverse)
    norm = float(np.linalg.norm(right))
    residual = float(np.linalg.norm(right - np.asarray(matvec(found.reshape(-1, 1))).reshape(-1)))
    if steps or not residual <= _SLACK * tolerance * norm:
        raise LinearAlgebraError(
            f"conjugate gradients did not converge in {most_steps} steps: the residual is {residual / norm:.3g} of the "
            f"right-hand side, and {tolerance:.3g} was asked for; allow more steps, a larger tolerance, or give a "
            "preconditioner"
        )
    return np.asarray(found)
