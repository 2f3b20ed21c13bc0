"""Stabilising rewrites of logarithms and sums: forms that overflow or cancel replaced by equal forms that do not.

Imports the graph and the catalogue. Invariant: where both sides are finite they are equal; where the left side
overflows although the mathematics does not, the right side is finite. Applied before differentiation, so that the
derivatives of the stable form are taken.
"""

from __future__ import annotations

from math import log

from einsumad.functions import apply
from einsumad.graph import Add, Elementwise, Node, cast, constant_like, negate, total
from einsumad.rewriting import kinks, quotients, shares
from einsumad.rewriting.exponentials import logarithm_of_positive, logarithm_of_product, scaled
from einsumad.rewriting.product import is_negation, negated
from einsumad.rewriting.recognise import function_of, plus
from einsumad.rewriting.rules import Context, Rule


def stable_logarithm(node: Elementwise, _: Context) -> Node | None:
    """``log(1 + exp z) = softplus z``, ``log(w exp z) = z + log w``, ``log Σ w exp z = m + log Σ w exp(z - m)``."""
    if node.function == "log1p":
        positive = logarithm_of_positive(node.operands[0])
        return None if positive is None else cast(apply("softplus", positive), node.dtype)
    if node.function != "log":
        return None
    (inner,) = node.operands
    found = _logarithm_of_function(inner)
    if found is None:
        found = logarithm_of_product(inner)
    if found is None:
        found = logarithm_of_positive(inner)
    if found is None:
        found = _logarithm_of_sum(inner)
    return None if found is None else cast(found, node.dtype)


def _logarithm_of_function(node: Node) -> Node | None:
    """``log σ(z) = -softplus(-z)``; ``log cosh z = log(2 cosh z) - log 2``."""
    if not isinstance(node, Elementwise):
        return None
    if node.function == "sigmoid":
        return negate(apply("softplus", negated(node.operands[0])))
    if node.function in ("cosh", "sech"):
        half = total(apply("log2cosh", node.operands[0]), constant_like(-log(2), node))
        return half if node.function == "cosh" else negate(half)
    return None


def _logarithm_of_sum(node: Node) -> Node | None:
    found = scaled(node)
    if found is None:
        return None
    return found.level if found.factor is None else total(found.level, apply("log", found.factor))


def complement_of_sigmoid(node: Add, _: Context) -> Node | None:
    """``1 - sigmoid z = sigmoid(-z)``."""
    other = plus(node, 1)
    logit = None if other is None or not is_negation(other) else function_of(other.operands[0], "sigmoid")
    return None if logit is None else apply("sigmoid", negated(logit))


RULES_FOR_FUNCTIONS = (
    Rule(
        "stable-logarithm",
        Elementwise,
        "log(1 + exp z) = softplus z; log(w exp z) = z + log w; log Σ w exp z = m + log Σ w exp(z - m)",
        "logarithms of exponentials",
        stable_logarithm,
    ),
    *quotients.RULES_FOR_FUNCTIONS,
)
RULES_FOR_PRODUCTS = (*quotients.RULES_FOR_PRODUCTS, *shares.RULES)
RULES_FOR_SUMS = (
    Rule("complement-of-sigmoid", Add, "1 - sigmoid z = sigmoid(-z)", "sums", complement_of_sigmoid),
    *kinks.RULES,
)
