"""Which functions are finite wherever their operands are.

Owns that list. Imports the graph's kinds. Invariant: a function is on the list only if moderate finite operands never
give an infinite value or NaN; what is not on it may do so.
"""

from __future__ import annotations

from einsumad.graph import Add, Einsum, Elementwise, General, Node

FINITE = frozenset(
    [
        *("abs", "sign", "floor", "ceil", "round", "trunc", "round_decimals", "copysign", "heaviside"),
        *("relu", "maximum", "minimum", "maximum_constant", "minimum_constant", "square"),
        *("sin", "cos", "tanh", "arctan", "arcsinh", "sigmoid", "softplus", "erf", "erfc", "ndtr", "logaddexp"),
        *("sech", "log2cosh"),
    ]
)
_GENERAL = frozenset(["max_reduce", "min_reduce", "sort", "product", "product_of_others", "logsumexp"])


def stays_finite(node: Node) -> bool:
    """Whether the node is finite where its operands are finite and nothing overflows."""
    match node:
        case Elementwise():
            if node.function == "power":
                (exponent,) = node.params
                return isinstance(exponent, int) and exponent >= 0
            return node.function in FINITE or (node.function == "exp" and _is_lowered(node.operands[0]))
        case General():
            return node.function in _GENERAL
    return True


def _is_lowered(exponent: Node) -> bool:
    """Whether a maximum or logsumexp is subtracted, as in a softmax, so that the exponential does not overflow."""
    if not isinstance(exponent, Add):
        return False
    subtracted = [term for term in exponent.operands if isinstance(term, Einsum) and term.coefficient == -1]
    factors = [factor for term in subtracted for factor in term.operands]
    return any(isinstance(factor, General) and factor.function in ("logsumexp", "max_reduce") for factor in factors)
