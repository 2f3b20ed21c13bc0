"""The list of rules, in the order in which they are tried on a node.

Owns the order. Imports every family of rules. Invariant: names are unique; a rule stands here or it does not exist.
"""

from __future__ import annotations

from functools import lru_cache

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
from einsumad.rewriting.product import Product
from einsumad.rewriting.rules import Notes, Rule, traits

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


_PRODUCT = Einsum.__name__
_BY_KIND: dict[str, tuple[Rule, ...]] = {
    _PRODUCT: PRODUCT_RULES,
    Add.__name__: SUM_RULES,
    Elementwise.__name__: FUNCTION_RULES,
    General.__name__: GENERAL_RULES,
}


def rules_for(node: Node, notes: Notes, left_out: frozenset[str] = frozenset()) -> tuple[Rule, ...]:
    """The rules for a node of this kind with such operands, but for those with a name that is left out."""
    return _rules_for(type(node).__name__, traits(node.operands, notes), left_out)


def steps_for(work: Product, notes: Notes, left_out: frozenset[str] = frozenset()) -> tuple[Rule, ...]:
    """Those of the rules that take a step on this working form of a product."""
    return _steps_for(traits(work.operands, notes), left_out)


@lru_cache(maxsize=2048)
def _rules_for(kind: str, present: frozenset[object], left_out: frozenset[str]) -> tuple[Rule, ...]:
    rules = [rule for rule in _BY_KIND.get(kind, ()) if rule.name not in left_out]
    return tuple([rule for rule in rules if not (rule.needs and rule.needs.isdisjoint(present))])


@lru_cache(maxsize=2048)
def _steps_for(present: frozenset[object], left_out: frozenset[str]) -> tuple[Rule, ...]:
    return tuple([rule for rule in _rules_for(_PRODUCT, present, left_out) if rule.step is not None])
