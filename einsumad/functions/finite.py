"""Which functions are finite wherever their operands are.

Owns that list. Imports the graph's kinds. Invariant: a function is on the list only if moderate finite operands never
give an infinite value or NaN; what is not on it may do so.
"""

from __future__ import annotations

from einsumad.graph import Add, Einsum, Elementwise, General, Node, Ones

FINITE = frozenset(
    [
        *("abs", "sign", "floor", "ceil", "round", "trunc", "round_decimals", "copysign", "heaviside"),
        *("relu", "maximum", "minimum", "maximum_constant", "minimum_constant", "square"),
        *("sin", "cos", "tanh", "arctan", "arcsinh", "sigmoid", "softplus", "erf", "erfc", "ndtr", "logaddexp"),
        *("sech", "log2cosh"),
    ]
)
_GENERAL = frozenset(["max_reduce", "min_reduce", "sort", "product", "product_of_others", "logsumexp"])

_BEATEN = {"less": "max_reduce", "greater": "min_reduce"}


def stays_finite(node: Node) -> bool:
    """Whether the node is finite where its operands are finite and nothing overflows."""
    match node:
        case Elementwise():
            if node.function == "reciprocal":
                return _counts_ties(node.operands[0])
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
