"""Matrices of which something was declared.

Owns the row and what follows from a declaration. Imports the catalogue and graph spelling. Invariant: a declared matrix
is a function of any matrix, its nearest one of the declared kind, with the derivative of that function; so whatever a
rewrite makes of the declaration, derivatives are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import DeclarationError, DifferentiationError
from einsumad.functions.catalogue import GeneralFunction, register_general
from einsumad.functions.general.local import axes_of, square_matrices, term, volume
from einsumad.graph import General, Node, Params, Shape, unit

Array = np.ndarray[Any, Any]
FACTS = ("diagonal", "orthogonal", "positive definite", "symmetric")
CHECKED = "checked"


def declared_of(node: Node) -> frozenset[str]:
    """What is declared of the node itself, with what follows from it."""
    if not isinstance(node, General) or node.function != "declared":
        return frozenset()
    found = {str(fact) for fact in node.params}
    if found & {"diagonal", "positive definite"}:
        found.add("symmetric")
    return frozenset(found)


def is_symmetric(node: Node) -> bool:
    """Whether the node is a symmetric matrix, or matrices, by declaration or as the inverse of such."""
    while isinstance(node, General) and node.function == "inverse":
        (node,) = node.operands
    return "symmetric" in declared_of(node)


def _infer(operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
    square_matrices("a declaration", operands[0])
    return operands[0].shape, operands[0].dtype


def _jacobian(node: General, position: int) -> tuple[Node, ...]:
    """Symmetric: ``J[i j, k l] = (delta[i k] delta[j l] + delta[i l] delta[j k])/2``; diagonal: ``delta[i j k l]``.

    In words: the derivative is that on matrices of the declared kind. On orthogonal ones it is refused.
    """
    facts = declared_of(node)
    if "orthogonal" in facts:
        raise DifferentiationError(
            "the derivative with respect to a matrix declared orthogonal is not supported: orthogonal matrices are no "
            "linear space; differentiate with respect to parameters of the matrix, or leave the declaration out"
        )
    axes = axes_of(node, position, len(node.shape) - 2)
    (i, j), (k, m) = axes.out, axes.into
    size = node.shape[-1]
    if "diagonal" in facts:
        return (term(node, axes, [(unit(size, 4, node.dtype), (i, j, k, m))]),)
    delta = unit(size, 2, node.dtype)
    return (
        term(node, axes, [(delta, (i, k)), (delta, (j, m))], 0.5),
        term(node, axes, [(delta, (i, m)), (delta, (j, k))], 0.5),
    )


def _kernel(matrix: Array, *facts: str) -> Array:
    """The nearest matrix of the declared kind, which is the matrix itself where the declaration is right."""
    if CHECKED in facts:
        check_facts(matrix, facts)
    if "diagonal" in facts:
        return np.asarray(np.where(np.eye(matrix.shape[-1], dtype=bool), matrix, np.zeros((), matrix.dtype)))
    if "orthogonal" in facts:
        return np.array(matrix)
    half = matrix.dtype.type(0.5)
    return np.asarray(half * matrix + half * np.swapaxes(matrix, -1, -2))


def check_facts(matrix: Array, facts: tuple[str, ...]) -> None:
    """Raise :class:`DeclarationError` naming the first fact that does not hold, up to rounding, and by how much."""
    size = matrix.shape[-1]
    scale = float(np.max(np.abs(matrix), initial=0.0))
    bound = 100 * max(size, 1) * float(np.finfo(matrix.dtype).eps) * scale
    turned = np.swapaxes(matrix, -1, -2)
    off = np.where(np.eye(size, dtype=bool), 0, matrix)
    gaps: dict[str, Array] = {}
    if {"symmetric", "positive definite"} & set(facts):
        gaps["symmetric"] = np.asarray(matrix - turned)
    if "diagonal" in facts:
        gaps["diagonal"] = off
    if "orthogonal" in facts:
        gaps["orthogonal"] = np.asarray(matrix @ turned - np.eye(size))
    for fact, gap in gaps.items():
        largest = float(np.max(np.abs(gap), initial=0.0))
        if not largest <= max(bound, bound * scale):
            raise DeclarationError(f"a matrix declared {fact} is not: it is off by {largest:.3g}")
    if "positive definite" in facts:
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            least = float(np.min(np.linalg.eigvalsh(matrix)))
            raise DeclarationError(
                f"a matrix declared positive definite is not: its least eigenvalue is {least:.3g}"
            ) from None


register_general(
    GeneralFunction(
        name="declared",
        arity=1,
        infer=_infer,
        jacobian=_jacobian,
        kernel=_kernel,
        cost=lambda shapes, _: 3 * volume(shapes[0]),
        symbol="declared",
        domain="matrices of the declared kind; any other is replaced by its symmetric part or its diagonal",
        doc=_jacobian.__doc__ or "",
    )
)
