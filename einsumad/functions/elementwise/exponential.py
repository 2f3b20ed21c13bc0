"""Exponentials, logarithms and the functions made of them that need care: expm1, log1p, sigmoid, logaddexp.

Owns these rows. Imports the catalogue and graph spelling. Invariant: no partial overflows where the
derivative is finite.
"""

from __future__ import annotations

from math import log

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import floating, floating_one, special, special_two
from einsumad.functions.rows import no_partials, row
from einsumad.graph import Elementwise, Node, Params, multiply, negate, ones, scale, total


@row("exp", "np.exp", (-3.0, 3.0), dtype=floating_one, cost=12)
def _exp(node: Elementwise) -> Partials:
    """``exp'(x) = exp(x)``: the node itself."""
    return (node,)


def _weighted_source(operands: tuple[str, ...], _params: Params) -> str:
    weight, x = operands
    return f"np.where({weight} == 0, 0, {weight} * np.exp({x}))"


@row("weighted_exp", _weighted_source, (0.3, 2.0), (-3.0, 3.0), dtype=special_two, cost=16)
def _weighted_exp(node: Elementwise) -> Partials:
    """``w exp(x)``, 0 for w = 0 also where x is infinite: ``d = exp(x) dw + w exp(x) dx``."""
    return apply("exp", node.operands[1]), node


def _level_source(operands: tuple[str, ...], _params: Params) -> str:
    weight, x = operands
    return f"np.where({weight} == 0, np.where({x} < np.inf, -np.inf, {x} - {x}), np.rint({x}))"


@row("exponent_level", _level_source, (0.3, 2.0), (-3.0, 3.0), dtype=floating, cost=4)
def _exponent_level(node: Elementwise) -> Partials:
    """The exponent of ``w exp(x)`` rounded, -inf for w = 0: piecewise constant, derivative 0.

    A sum of such terms is scaled by it before it is formed. NaN where a weight 0 meets an infinite exponential or NaN.
    """
    return no_partials(node)


def _finite_source(operands: tuple[str, ...], _params: Params) -> str:
    return f"np.where(np.isinf({operands[0]}), 0, np.rint({operands[0]}))"


@row("finite_level", _finite_source, (-3.0, 3.0), dtype=floating_one, cost=3)
def _finite_level(node: Elementwise) -> Partials:
    """The whole number next to x, and 0 for an infinite x: piecewise constant, derivative 0.

    What a sum of exponentials is scaled by, given the largest of their levels: nothing where that is infinite.
    """
    return no_partials(node)


@row("log", "np.log", (0.1, 5.0), dtype=floating_one, cost=12)
def _log(node: Elementwise) -> Partials:
    """``log'(x) = 1/x``, for x > 0."""
    return (apply("reciprocal", node.operands[0]),)


@row("log1p", "np.log1p", (-0.8, 5.0), dtype=floating_one, cost=16)
def _log1p(node: Elementwise) -> Partials:
    """``log1p(x) = log(1 + x)``, exact near 0; ``log1p'(x) = 1/(1 + x)``, for x > -1."""
    x = node.operands[0]
    return (apply("reciprocal", total(ones(x.shape, x.dtype), x)),)


@row("expm1", "np.expm1", (-3.0, 3.0), dtype=floating_one, cost=16)
def _expm1(node: Elementwise) -> Partials:
    """``expm1(x) = exp(x) - 1``, exact near 0; ``expm1'(x) = exp(x)``, as node + 1 cancels at x << 0."""
    return (apply("exp", node.operands[0]),)


@row("sigmoid", "np.divide(1.0, 1.0 + np.exp(0.0 - {0}))", (-4.0, 4.0), dtype=special, cost=16)
def _sigmoid(node: Elementwise) -> Partials:
    """``sigmoid(x) = 1/(1 + exp(-x))``; ``sigmoid'(x) = sigmoid(x) sigmoid(-x)``, which does not cancel."""
    return (multiply(node, apply("sigmoid", negate(node.operands[0]))),)


@row("softplus", "np.logaddexp(0, {0})", (-4.0, 4.0), dtype=special, cost=28)
def _softplus(node: Elementwise) -> Partials:
    """``softplus(x) = log(1 + exp(x))``, computed as log(exp(0) + exp(x)); ``softplus'(x) = sigmoid(x)``."""
    return (apply("sigmoid", node.operands[0]),)


@row("exp2", "np.exp2", (-3.0, 3.0), dtype=floating_one, cost=12)
def _exp2(node: Elementwise) -> Partials:
    """``exp2(x) = 2^x``; ``exp2'(x) = log(2) 2^x``."""
    return (scale(log(2), node),)


@row("log2", "np.log2", (0.1, 5.0), dtype=floating_one, cost=12)
def _log2(node: Elementwise) -> Partials:
    """``log2'(x) = 1/(log(2) x)``, for x > 0."""
    return (scale(1 / log(2), apply("reciprocal", node.operands[0])),)


@row("log10", "np.log10", (0.1, 5.0), dtype=floating_one, cost=12)
def _log10(node: Elementwise) -> Partials:
    """``log10'(x) = 1/(log(10) x)``, for x > 0."""
    return (scale(1 / log(10), apply("reciprocal", node.operands[0])),)


def _difference(a: Node, b: Node) -> Node:
    """``a - b``, and 0 where both are the same infinity: there each has one half of a sum of exponentials."""
    known = apply("logical_or", apply("isfinite", a), apply("not_equal", a, b))
    return multiply(known, total(a, negate(b)))


@row("logaddexp", "np.logaddexp", (-3.0, 3.0), (-2.0, 2.0), dtype=floating, cost=28)
def _logaddexp(node: Elementwise) -> Partials:
    """``log(exp(a) + exp(b))``: ``d = sigmoid(a - b) da + sigmoid(b - a) db``."""
    gap = _difference(*node.operands)
    return apply("sigmoid", gap), apply("sigmoid", negate(gap))


@row("logaddexp2", "np.logaddexp2", (-3.0, 3.0), (-2.0, 2.0), dtype=floating, cost=28)
def _logaddexp2(node: Elementwise) -> Partials:
    """``log2(2^a + 2^b)``: ``d = sigmoid(log(2) (a - b)) da + sigmoid(log(2) (b - a)) db``."""
    gap = scale(log(2), _difference(*node.operands))
    return apply("sigmoid", gap), apply("sigmoid", negate(gap))
