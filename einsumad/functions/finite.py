"""Which functions are finite wherever their operands are.

Owns that list. Imports the graph's kinds and the signs. Invariant: a function is on the list only if moderate finite
operands never give an infinite value or NaN; what is not on it may do so.
"""

from __future__ import annotations

from einsumad.functions.signs import is_never_negative
from einsumad.graph import Add, Einsum, Elementwise, General, Node, Ones, Structural

FINITE = frozenset(
    [
        *("abs", "sign", "floor", "ceil", "round", "trunc", "round_decimals", "copysign", "heaviside"),
        *("relu", "maximum", "minimum", "maximum_constant", "minimum_constant", "square"),
        *("sin", "cos", "tanh", "arctan", "arcsinh", "sigmoid", "softplus", "erf", "erfc", "ndtr", "logaddexp"),
        *("sech", "log2cosh", "finite_level"),
    ]
)
_POWERS = {"sqrt": 0.5, "norm_root": 0.5, "reciprocal": -1}
_GENERAL = frozenset(["max_reduce", "min_reduce", "sort", "product", "product_of_others", "logsumexp", "log_softmax"])

_BEATEN = {"less": "max_reduce", "greater": "min_reduce"}


def stays_finite(node: Node) -> bool:
    """Whether the node is finite where its operands are finite and nothing overflows."""
    match node:
        case Elementwise():
            if node.function in _POWERS or node.function == "power":
                return _is_finite_power(node.operands[0], _POWERS.get(node.function) or node.params[0])
            return node.function in FINITE or (node.function == "exp" and is_lowered(node.operands[0]))
        case General():
            return node.function in _GENERAL
    return True


def _is_finite_power(base: Node, exponent: object) -> bool:
    """Whether powers of this base are finite: roots need a sign, and divisors a distance from zero."""
    if not isinstance(exponent, int | float):
        return False
    whole = isinstance(exponent, int)
    if exponent >= 0:
        return whole or is_never_negative(base)
    return _is_at_a_distance(base)


def _is_at_a_distance(node: Node) -> bool:
    """Whether the node is not below some positive number.

    It is a maximum with one, a sum with one of what has a sign, or a count of entries of which there is always one.
    """
    match node:
        case Einsum():
            return _counts_ties(node)
        case Elementwise(function="maximum" | "maximum_constant"):
            return any(_is_positive_number(operand) for operand in node.operands)
        case Add():
            numbers = any(_is_positive_number(operand) for operand in node.operands)
            return numbers and is_never_negative(node)
    return False


def _is_positive_number(node: Node) -> bool:
    if isinstance(node, Einsum):
        return node.coefficient > 0 and all(isinstance(operand, Ones) for operand in node.operands)
    return isinstance(node, Ones)


def is_lowered(exponent: Node) -> bool:
    """Whether a maximum or logsumexp is subtracted, as in a softmax, so that the exponential does not overflow."""
    if not isinstance(exponent, Add):
        return _is_log_softmax(exponent)
    subtracted = [term for term in exponent.operands if isinstance(term, Einsum) and term.coefficient == -1]
    factors = [factor for term in subtracted for factor in term.operands]
    return any(_is_level(factor) for factor in factors) or any(_is_log_softmax(term) for term in exponent.operands)


def _is_level(node: Node) -> bool:
    if isinstance(node, Elementwise) and node.function == "finite_level":
        return _is_level(node.operands[0])
    return isinstance(node, General) and node.function in ("logsumexp", "max_reduce")


def _is_log_softmax(node: Node) -> bool:
    """Whether it is a log-softmax, laid out in any way."""
    if isinstance(node, Einsum) and node.coefficient == 1:
        held = [operand for operand in node.operands if not isinstance(operand, Structural)]
        return len(held) == 1 and _is_log_softmax(held[0])
    return isinstance(node, General) and node.function == "log_softmax"


def _counts_ties(node: Node) -> bool:
    """Whether the entries are counted that a maximum or minimum of them does not beat, of which there is always one."""
    if not isinstance(node, Einsum) or node.coefficient != 1 or len(node.operands) != 1:
        return False
    (reached,), (labels,) = node.operands, node.inputs
    if not isinstance(reached, Elementwise) or reached.function != "logical_not":
        return False
    (beaten,) = reached.operands
    if not isinstance(beaten, Elementwise) or beaten.function not in _BEATEN:
        return False
    entries, level = beaten.operands
    return labels == tuple(range(len(entries.shape))) and _spreads_extremum(
        level, _BEATEN[beaten.function], entries, len(node.shape)
    )


def _spreads_extremum(level: Node, function: str, entries: Node, batch: int) -> bool:
    """Whether the level is the extremum of the entries over all axes but the first ones, spread over their shape."""
    if not isinstance(level, Einsum) or level.coefficient != 1 or level.shape != entries.shape:
        return False
    held = list(zip(level.operands, level.inputs, strict=True))
    found = [node for node, labels in held if isinstance(node, General) and labels == tuple(range(batch))]
    spread = [labels for node, labels in held if isinstance(node, Ones)]
    return (
        len(found) == 1
        and len(found) + len(spread) == len(level.operands)
        and all(label < len(level.shape) for labels in spread for label in labels)
        and found[0].function == function
        and found[0].operands == (entries,)
    )
