"""What is never negative, whatever the inputs are.

Owns that judgement. Imports the graph's kinds. Invariant: what is called never negative is zero, positive or NaN at all
inputs, after rounding too; of what is not called so nothing is known.
"""

from __future__ import annotations

from collections import Counter

from einsumad.graph import BOOL, Add, Einsum, Elementwise, Node, Structural

NEVER_NEGATIVE = frozenset(
    [
        *("abs", "square", "sqrt", "relu", "hypot"),
        *("exp", "exp2", "exp10", "cosh", "sech", "sigmoid", "softplus", "log2cosh"),
        *("erfc", "ndtr", "arccos"),
    ]
)
_DEEPEST = 8
"""Products and sums inside of each other that are looked into."""


def is_never_negative(node: Node, depth: int = 0) -> bool:
    """Whether the node is never negative: by its functions, or as factors that never are or stand there twice."""
    if node.dtype == BOOL or isinstance(node, Structural):
        return True
    if depth > _DEEPEST or node.dtype.kind != "f":  # whole numbers may overflow to negative ones
        return False
    match node:
        case Elementwise():
            if node.function == "power":
                (exponent,) = node.params
                if isinstance(exponent, int) and exponent % 2 == 0:
                    return True
                positive = isinstance(exponent, int | float) and exponent > 0  # 1 / -0.0 is -inf
                return positive and is_never_negative(node.operands[0], depth + 1)
            return node.function in NEVER_NEGATIVE
        case Einsum():
            times = Counter(zip(node.operands, node.inputs, strict=True))
            odd = [operand for (operand, _), count in times.items() if count % 2]
            return node.coefficient >= 0 and all(is_never_negative(operand, depth + 1) for operand in odd)
        case Add():
            return all(is_never_negative(operand, depth + 1) for operand in node.operands)
    return False
