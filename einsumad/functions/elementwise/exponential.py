"""Exponential, logarithm and the functions made of them that need care: expm1, log1p, sigmoid, softplus.

Owns these rows. Imports the catalogue and graph spelling. Invariant: no partial overflows where the
derivative is finite.
"""

from __future__ import annotations

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import floating_one, special
from einsumad.functions.rows import row
from einsumad.graph import Elementwise, multiply, negate, ones, total


@row("exp", "np.exp", (-3.0, 3.0), dtype=floating_one, cost=12)
def _exp(node: Elementwise) -> Partials:
    """``exp'(x) = exp(x)``: the node itself."""
    return (node,)


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


@row("sigmoid", "special.expit", (-4.0, 4.0), dtype=special, cost=16)
def _sigmoid(node: Elementwise) -> Partials:
    """``sigmoid(x) = 1/(1 + exp(-x))``; ``sigmoid'(x) = sigmoid(x) sigmoid(-x)``, which does not cancel."""
    return (multiply(node, apply("sigmoid", negate(node.operands[0]))),)


@row("softplus", "np.logaddexp(0, {0})", (-4.0, 4.0), dtype=special, cost=28)
def _softplus(node: Elementwise) -> Partials:
    """``softplus(x) = log(1 + exp(x))``, computed as log(exp(0) + exp(x)); ``softplus'(x) = sigmoid(x)``."""
    return (apply("sigmoid", node.operands[0]),)
