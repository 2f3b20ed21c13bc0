"""Quotients of functions that overflow: exponentials over their sum, hyperbolic functions, 1/(exp(x) - 1).

Imports the graph and the catalogue. Invariant: where both sides are finite they are equal; a pole stays a pole.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

from einsumad.functions import apply
from einsumad.graph import (
    Einsum,
    Elementwise,
    Node,
    Structural,
    cast,
    constant_like,
    einsum,
    negate,
    scale,
    total,
)
from einsumad.rewriting.kinks import smooth_product
from einsumad.rewriting.powers import MOST_FACTORS
from einsumad.rewriting.product import Product, is_negation, negated, open_product
from einsumad.rewriting.recognise import function_of, plus, without_number
from einsumad.rewriting.rules import Context, Rule

_INVERSES = {"cosh": "sech", "sinh": "csch", "expm1": "reciprocal_expm1"}


def stable_reciprocal(node: Elementwise, _: Context) -> Node | None:
    """``1/(1 + exp z) = sigmoid(-z)``; ``1/cosh z = sech z``; ``1/(exp z - 1)``; also with these among the factors."""
    if node.function == "power":
        return _inverse_power(node)
    if node.function != "reciprocal":
        return None
    (inner,) = node.operands
    found = _inverse(inner)
    if found is not None:
        return cast(found, node.dtype)
    return _inverse_product(inner) if isinstance(inner, Einsum) else None


def _inverse(node: Node) -> Node | None:
    """One over the node, if that is a function which does not overflow."""
    if isinstance(node, Elementwise):
        if node.function == "exp":
            return apply("exp", negated(node.operands[0]))
        name = _INVERSES.get(node.function)
        return None if name is None else apply(name, node.operands[0])
    other = plus(node, 1)
    exponent = None if other is None else function_of(other, "exp")
    if exponent is not None:
        return apply("sigmoid", negated(exponent))
    if other is not None and is_negation(other):
        exponent = function_of(other.operands[0], "exp")
        return None if exponent is None else negate(apply("reciprocal_expm1", exponent))
    other = plus(node, -1)
    exponent = None if other is None else function_of(other, "exp")
    return None if exponent is None else apply("reciprocal_expm1", exponent)


def _inverse_product(node: Einsum) -> Node | None:
    """``1/(f g) = 1/f 1/g`` for factors whose reciprocal is a function of its own."""
    rank = len(node.shape)
    if any(label >= rank for labels in node.inputs for label in labels) or node.coefficient == 0:
        return None
    if any(operand.dtype != node.dtype or isinstance(operand, Structural) for operand in node.operands):
        return None
    inverses = [_inverse(operand) for operand in node.operands]
    rest = [k for k, inverse in enumerate(inverses) if inverse is None]
    if len(rest) == len(inverses):
        return None
    pairs = list(zip(node.operands, node.inputs, strict=True))
    work = Product(1 / node.coefficient, [], [], rank, node.shape, node.dtype)
    for inverse, (_, labels) in zip(inverses, pairs, strict=True):
        if inverse is not None:
            work.append(inverse, labels)
    if rest:
        axes = sorted({label for k in rest for label in node.inputs[k]})
        below = einsum([node.operands[k] for k in rest], [node.inputs[k] for k in rest], axes, 1, node.dtype)
        work.append(apply("reciprocal", below), axes)
    return work.build()


def _inverse_power(node: Elementwise) -> Node | None:
    """``(f z)**-p = (1/f z)**p``; that of a hyperbolic cosine is an exponential, with derivatives to every order."""
    (base,), (exponent, *_) = node.operands, node.params
    if not isinstance(exponent, (int, float)) or exponent >= 0 or base.dtype != node.dtype:
        return None
    argument = function_of(base, "cosh")
    if argument is not None and exponent not in range(-MOST_FACTORS, 0):
        logarithm = total(apply("log2cosh", argument), constant_like(-log(2), argument))
        return apply("exp", scale(exponent, logarithm))
    inverse = _inverse(base)
    return None if inverse is None else apply("power", inverse, params=(-exponent,))


def stable_ratio(node: Einsum, _: Context) -> Node | None:
    """``exp z sigmoid(-z) = sigmoid z``; ``sinh z sech z = tanh z``; ``exp z / (exp z - 1) = 1 / (1 - exp(-z))``."""
    pairs = list(zip(node.operands, node.inputs, strict=True))
    for k, (operand, labels) in enumerate(pairs):
        rule = _RATIOS.get(operand.function) if isinstance(operand, Elementwise) else None
        if rule is None or operand.dtype != node.dtype:
            continue
        for j, (other, other_labels) in enumerate(pairs):
            if other_labels == labels and isinstance(other, Elementwise):
                new = rule(operand.operands[0], other)
                if new is not None:
                    work = open_product(node)
                    work.append(new, labels)
                    work.drop([k, j])
                    return work.build()
    return None


def argument_over_expm1(node: Einsum, _: Context) -> Node | None:
    """``x 1/(exp(c x) - 1) = b(c x)/c`` with a function b that is exact near 0 to every order."""
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        argument = function_of(operand, "reciprocal_expm1")
        if argument is None or operand.dtype != node.dtype:
            continue
        number, x = without_number(argument)
        for j, (factor, own) in enumerate(zip(node.operands, node.inputs, strict=True)):
            if own == labels and (factor is x or factor is argument):
                work = open_product(node)
                work.append(cast(apply("x_over_expm1", argument, params=(0,)), node.dtype), labels)
                work.drop([k, j])
                work.coefficient = work.coefficient / number if factor is x else work.coefficient
                return work.build()
    return None


def _over_exponential(argument: Node, other: Elementwise) -> Node | None:
    logit = function_of(other, "sigmoid")
    if logit is not None:
        return apply("sigmoid", argument) if logit is negated(argument) else smooth_product("exp", argument, logit)
    if function_of(other, "reciprocal_expm1") is argument:
        return negate(apply("reciprocal_expm1", negated(argument)))
    return None


def _beside_sigmoid(argument: Node, other: Elementwise) -> Node | None:
    logit = function_of(other, "sigmoid")
    return None if logit is None else smooth_product("sigmoid", argument, logit)


def _over_sinh(argument: Node, other: Elementwise) -> Node | None:
    return apply("tanh", argument) if function_of(other, "sech") is argument else None


def _over_cosh(argument: Node, other: Elementwise) -> Node | None:
    same = function_of(other, "csch") is argument
    return apply("reciprocal", apply("tanh", argument)) if same else None


_RATIOS: dict[str, Callable[[Node, Elementwise], Node | None]] = {
    "exp": _over_exponential,
    "sigmoid": _beside_sigmoid,
    "sinh": _over_sinh,
    "cosh": _over_cosh,
}


RULES_FOR_FUNCTIONS = (
    Rule(
        "stable-reciprocal",
        Elementwise,
        "1/(1 + exp z) = sigmoid(-z); 1/cosh z = sech z; 1/(f cosh z) = 1/f sech z",
        "reciprocals",
        stable_reciprocal,
    ),
)
RULES_FOR_PRODUCTS = (
    Rule(
        "stable-ratio",
        Einsum,
        "exp z sigmoid(-z) = sigmoid z; exp(min(z, 0)) sigmoid(abs z) = sigmoid z; sinh z sech z = tanh z",
        "operands",
        stable_ratio,
        frozenset(_RATIOS),
    ),
    Rule(
        "argument-over-expm1",
        Einsum,
        "x 1/(exp(c x) - 1) = b(c x)/c with b(x) = x/(exp x - 1)",
        "operands",
        argument_over_expm1,
        frozenset(["reciprocal_expm1"]),
    ),
)
