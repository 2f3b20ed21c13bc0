"""Rules that use what was declared of matrices.

Imports the graph and the catalogue. Invariant: a rule changes nothing for matrices of the declared kind; the value and
every derivative of a declared matrix are those of its nearest matrix of that kind, so both sides are equal everywhere.
"""

from __future__ import annotations

from itertools import product

from einsumad.functions import call
from einsumad.functions.general.declared import declared_of, is_symmetric
from einsumad.functions.general.linear import QUIET
from einsumad.functions.general.positive import POSITIVE
from einsumad.graph import Einsum, General, Node, OrderKey, einsum, order_key, transpose, unit
from einsumad.rewriting.product import open_product
from einsumad.rewriting.rules import Context, Rule

_MOST_TURNED = 4
_WITH_CHOLESKY = frozenset(["inverse", "solve", "logdet", "logabsdet"])


def orient_symmetric(node: Einsum, _: Context) -> Node | None:
    """``S[j,i] = S[i,j]``: of the spellings that differ by such turns the one that is first in the order of nodes."""
    places = [
        k
        for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True))
        if len(labels) >= 2 and labels[-1] != labels[-2] and is_symmetric(operand)
    ][:_MOST_TURNED]
    if not places:
        return None
    best = node
    for turned in product((False, True), repeat=len(places)):
        inputs = list(node.inputs)
        for k in [place for place, turn in zip(places, turned, strict=True) if turn]:
            inputs[k] = (*inputs[k][:-2], inputs[k][-1], inputs[k][-2])
        best = min(
            best, einsum(node.operands, inputs, range(len(node.shape)), node.coefficient, node.dtype), key=_place
        )
    return None if best is node else best


def _place(node: Einsum) -> tuple[bool, OrderKey]:
    """A matrix as it is comes before its transpose."""
    return len(node.operands) == 1 and node.inputs[0] != tuple(range(len(node.shape))), order_key(node)


def diagonal_operand(node: Einsum, _: Context) -> Node | None:
    """``D[i,j] = D[i,i] δ[i,j]``."""
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if len(labels) >= 2 and labels[-1] != labels[-2] and "diagonal" in declared_of(operand):
            work = open_product(node)
            work.inputs[k] = (*labels[:-1], labels[-2])
            work.append(unit(operand.shape[-1], 2, node.dtype), labels[-2:])
            return work.build()
    return None


def orthogonal_pair(node: Einsum, _: Context) -> Node | None:
    """``Σ_k Q[k,i] Q[k,j] = δ[i,j]``, and the same for rows."""
    held = [label for labels in node.inputs for label in labels]
    for k, operand in enumerate(node.operands):
        if len(operand.shape) != 2 or "orthogonal" not in declared_of(operand):
            continue
        for m in range(k + 1, len(node.operands)):
            if node.operands[m] is not operand:
                continue
            for axis in (0, 1):
                summed, other = node.inputs[k][axis], node.inputs[m][axis]
                if summed == other and summed >= len(node.shape) and held.count(summed) == 2:
                    work = open_product(node)
                    work.append(
                        unit(operand.shape[0], 2, node.dtype), (node.inputs[k][1 - axis], node.inputs[m][1 - axis])
                    )
                    work.drop([k, m])
                    return work.build()
    return None


def transpose_instead_of_inverse(node: General, _: Context) -> Node | None:
    """``inv(Q)[i,j] = Q[j,i]``, ``solve(Q, B)[i,m] = Σ_k Q[k,i] B[k,m]``."""
    if node.function not in {"inverse", "solve"} or "orthogonal" not in declared_of(node.operands[0]):
        return None
    matrix, *right = node.operands
    rank = len(matrix.shape)
    if not right:
        return transpose(matrix, [*range(rank - 2), rank - 1, rank - 2])
    batch, (i, k, m) = range(rank - 2), range(rank - 2, rank + 1)
    return einsum([matrix, right[0]], [(*batch, k, i), (*batch, k, m)], (*batch, i, m), 1, node.dtype)


def cholesky(node: General, _: Context) -> Node | None:
    """Positive definite matrices are factorised as ``A = L Lᵀ``; the sign of their determinant is known."""
    if (
        node.function not in _WITH_CHOLESKY
        or node.params not in ((), QUIET)
        or "positive definite" not in declared_of(node.operands[0])
    ):
        return None
    name = "logdet" if node.function == "logabsdet" else node.function
    return call(name, *node.operands, params=POSITIVE)


RULES_FOR_PRODUCTS = (
    Rule(
        "diagonal-operand",
        Einsum,
        "D[i,j] = D[i,i] δ[i,j]",
        "diagonal operands with two indices",
        diagonal_operand,
        frozenset([General]),
    ),
    Rule(
        "orthogonal-pair",
        Einsum,
        "Σ_k Q[k,i] Q[k,j] = δ[i,j]",
        "orthogonal operands",
        orthogonal_pair,
        frozenset([General]),
    ),
    Rule(
        "orient-symmetric",
        Einsum,
        "S[j,i] = S[i,j]",
        "place in the order of nodes",
        orient_symmetric,
        frozenset([General]),
    ),
)
RULES_FOR_TENSOR_FUNCTIONS = (
    Rule("transpose", General, "inv(Q)[i,j] = Q[j,i]", "inverses", transpose_instead_of_inverse),
    Rule("cholesky", General, "inv(A) = inv(L Lᵀ)", "functions without a hint", cholesky),
)
