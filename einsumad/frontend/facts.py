"""What a user declares of a matrix: :func:`declare`.

Owns that function. Imports lifting and the catalogue. Invariant: a declaration changes no value that it is right about.
"""

from __future__ import annotations

from typing import Any

from einsumad.errors import TracingError
from einsumad.execution.backends import library_of
from einsumad.frontend.lifting import as_node, plain_array
from einsumad.frontend.met import in_trace
from einsumad.frontend.tensor import Tensor
from einsumad.functions import call
from einsumad.functions.general.declared import CHECKED, check_facts


def declare(
    matrix: Any,
    *,
    symmetric: bool = False,
    positive_definite: bool = False,
    diagonal: bool = False,
    orthogonal: bool = False,
    check: bool = False,
) -> Any:
    """The matrix (or matrices, in the last two axes) with facts that expressions may use.

    A symmetric matrix equals its transpose, so ``A + A.T`` is ``2 A``; inverse, solve and log-determinant of a positive
    definite one go by Cholesky's factors; products with a diagonal one are taken with its diagonal; the inverse of an
    orthogonal one is its transpose.

    The derivative is that on matrices of the declared kind: symmetric for symmetric and positive definite ones (the
    symmetric part of the one in unrestricted entries), diagonal for diagonal ones; with respect to an orthogonal matrix
    it raises :class:`DifferentiationError`. If a declaration is wrong, the result is that of the symmetric part or of
    the diagonal of the matrix; with ``check=True`` it raises :class:`DeclarationError` when the value is computed.
    Cholesky's factorisation raises it in any case if the matrix is not positive definite.

    Within a traced function a plain array becomes a constant with the facts; outside it is returned as it is.

    >>> import numpy as np, einsumad as ea
    >>> A, x = ea.variable("A", (3, 3)), ea.variable("x", 3)
    >>> S = ea.declare(A, symmetric=True)
    >>> print(ea.diff(x @ S @ x, x, x))
    2 A[i,j]  =  2 A
    """
    given = {
        "symmetric": symmetric,
        "positive definite": positive_definite,
        "diagonal": diagonal,
        "orthogonal": orthogonal,
    }
    facts = tuple(sorted(fact for fact, holds in given.items() if holds))
    if not facts:
        raise TypeError("declare needs a fact: symmetric, positive_definite, diagonal or orthogonal")
    if not isinstance(matrix, Tensor) and not in_trace():
        return _checked(plain_array(matrix), facts) if check else plain_array(matrix)
    node = as_node(matrix)
    if node.dtype.kind != "f":
        raise TracingError(f"facts are declared of matrices of floats, got dtype {node.dtype}: convert it with .astype")
    params = (*facts, CHECKED) if check else facts
    return Tensor(call("declared", node, params=params))


def _checked(array: Any, facts: tuple[str, ...]) -> Any:
    """A plain array, if the facts hold for it."""
    if library_of(array) is not None:
        raise TracingError("declarations of arrays of other libraries than NumPy are not checked: leave check=True out")
    check_facts(array, facts)
    return array
