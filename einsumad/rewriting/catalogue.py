"""The list of rules, in the order in which they are tried on a node.

Owns the order. Imports every family of rules. Invariant: names are unique; a rule stands here or it does not exist.
"""

from __future__ import annotations

from functools import cache

from einsumad.graph import Add, Einsum, Elementwise, General, Node
from einsumad.rewriting import (
    affine,
    factoring,
    facts,
    flatten,
    layout,
    linear,
    masks,
    operators,
    powers,
    reading,
    same,
    spectral,
    stabilise,
    structural,
    sums,
)
from einsumad.rewriting.rules import Rule

PRODUCT_RULES: tuple[Rule, ...] = (
    *structural.RULES[:1],
    *flatten.RULES_FOR_PRODUCTS,
    *structural.RULES[1:],
    *masks.RULES,
    *stabilise.RULES_FOR_PRODUCTS,
    *powers.RULES_FOR_PRODUCTS,
    *linear.RULES_FOR_PRODUCTS,
    *operators.RULES_FOR_PRODUCTS,
    *facts.RULES_FOR_PRODUCTS,
    *spectral.RULES_FOR_PRODUCTS,
    same.RULE,
    *affine.RULES,
    *reading.RULES_FOR_PRODUCTS,
    flatten.RULE_FOR_MAPS,
)
SUM_RULES: tuple[Rule, ...] = (
    *flatten.RULES_FOR_SUMS,
    *sums.RULES,
    *stabilise.RULES_FOR_SUMS,
    *layout.RULES_FOR_SUMS,
    *factoring.RULES,
)
FUNCTION_RULES: tuple[Rule, ...] = (
    *stabilise.RULES_FOR_FUNCTIONS,
    *powers.RULES_FOR_FUNCTIONS,
    *linear.RULES_FOR_FUNCTIONS,
    *layout.RULES_FOR_FUNCTIONS,
)
GENERAL_RULES: tuple[Rule, ...] = (
    *facts.RULES_FOR_TENSOR_FUNCTIONS,
    *spectral.RULES_FOR_GENERAL,
    *reading.RULES_FOR_GENERAL,
)
ALL_RULES: tuple[Rule, ...] = (*PRODUCT_RULES, *SUM_RULES, *FUNCTION_RULES, *GENERAL_RULES)


def rules_for(node: Node, left_out: frozenset[str] = frozenset()) -> tuple[Rule, ...]:
    """The rules for a node of this kind, but for those with a name that is left out."""
    rules = _rules_for(node)
    return _without(rules, left_out) if left_out else rules


@cache
def steps_of(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Those of the rules that work on the working form of a product."""
    return tuple([rule for rule in rules if rule.step is not None])


@cache
def _without(rules: tuple[Rule, ...], left_out: frozenset[str]) -> tuple[Rule, ...]:
    return tuple([rule for rule in rules if rule.name not in left_out])


def _rules_for(node: Node) -> tuple[Rule, ...]:
    match node:
        case Einsum():
            return PRODUCT_RULES
        case Add():
            return SUM_RULES
        case Elementwise():
            return FUNCTION_RULES
        case General():
            return GENERAL_RULES
    return ()
