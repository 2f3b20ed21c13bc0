"""Rules of linear algebra: solving instead of inverting, the logarithm of a determinant.

Imports the graph and the catalogue. Invariant: the right side is the better conditioned form of the same value.
"""

from __future__ import annotations

from einsumad.functions import call
from einsumad.functions.general.linear import QUIET
from einsumad.functions.general.positive import POSITIVE
from einsumad.graph import Einsum, Elementwise, General, Labels, Node, broadcast, einsum, ones
from einsumad.rewriting.rules import Context, Rule

_PARAMS = ((), QUIET, POSITIVE)
_SOLVERS = {"inverse": "solve", "inverse_triangular": "solve_triangular"}


def solve_instead_of_inverse(node: Einsum, context: Context) -> Node | None:
    """``inv(A)[b,i,j] B[b,j,k] = solve(A, B)[b,i,k]``, also with the inverse transposed or B a vector.

    The inverse of a triangle likewise: transposed, the lower one is an upper one.
    """
    if len(node.operands) != 2 or node.operands[0] is node.operands[1]:
        return None
    for k in range(2):
        inverse = node.operands[k]
        if isinstance(inverse, General) and _is_solved_with(inverse) and not context.is_shared(inverse):
            found = _solve(node, inverse, node.inputs[k], node.operands[1 - k], node.inputs[1 - k])
            if found is not None:
                return found
    return None


def _is_solved_with(inverse: General) -> bool:
    """Whether it is an inverse that solving has the like of; one that is NaN close to singular matrices has none."""
    return inverse.function in _SOLVERS and (inverse.function != "inverse" or inverse.params in _PARAMS)


def _solve(node: Einsum, inverse: General, own: Labels, other: Node, labels: Labels) -> Node | None:
    rank, (*batch, row, column) = len(node.shape), own
    if (
        len(set(own)) != len(own)
        or len(set(labels)) != len(labels)
        or other.dtype != node.dtype
        or inverse.dtype != node.dtype
    ):
        return None
    matrix, params = inverse.operands[0], inverse.params
    if column < rank:
        row, column = column, row
        axes = list(range(len(own)))
        axes[-2:] = axes[:-3:-1]
        matrix = einsum([matrix], [range(len(own))], axes, 1, matrix.dtype)
        if inverse.function == "inverse_triangular":
            params = (1 - int(params[0] == 1), *params[1:])
    if column < rank or row >= rank or row in labels or column not in labels or any(label >= rank for label in batch):
        return None
    if any(label >= rank for label in labels if label != column):
        return None
    sizes = dict(zip(own, inverse.shape, strict=True))
    trailing = [label for label in labels if label not in batch and label != column]
    if len(trailing) > 1:
        return None
    present = [label for label in batch if label in labels]
    right: Node = einsum([other], [labels], [*present, column, *trailing], 1, other.dtype)
    if len(present) < len(batch):
        shape = [*[sizes[label] for label in batch], *right.shape[len(present) :]]
        axes = [*[batch.index(label) for label in present], *range(len(batch), len(shape))]
        right = broadcast(right, axes, shape)
    if not trailing:
        axes = list(range(len(right.shape)))
        right = einsum([right, ones((1,), right.dtype)], [axes, (len(axes),)], [*axes, len(axes)], 1, right.dtype)
    solved = call(_SOLVERS[inverse.function], matrix, right, params=params)
    out_labels = [*batch, row, *trailing] + ([] if trailing else [-1])
    return einsum([solved], [out_labels], range(rank), node.coefficient, node.dtype)


def logarithm_of_determinant(node: Elementwise, _: Context) -> Node | None:
    """``log det A`` without forming the determinant; still undefined where the determinant is negative."""
    inner = node.operands[0]
    if node.function == "log" and isinstance(inner, General) and inner.function == "determinant":
        return call("logdet", inner.operands[0])
    return None


RULES_FOR_PRODUCTS = (
    Rule(
        "solve", Einsum, "inv(A)[i,j] b[j] = solve(A, b)[i]", "inverses", solve_instead_of_inverse, frozenset(_SOLVERS)
    ),
)
RULES_FOR_FUNCTIONS = (
    Rule("log-determinant", Elementwise, "log det A = logdet A", "determinants", logarithm_of_determinant),
)
