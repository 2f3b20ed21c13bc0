"""Hypergeometric functions, and those whose derivatives are hypergeometric: exprel, the dilogarithm, Wright's function.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the derivative raises the parameters by one, so
it is as accurate as the function itself; the derivatives in the parameters are refused.
"""

from __future__ import annotations

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special, special_several
from einsumad.functions.elementwise.gammas import IN_PARAMETERS, shifted
from einsumad.functions.rows import row
from einsumad.graph import Elementwise, Node, constant_like, multiply, negate, scale, total


@row("hyp0f1", "special.hyp0f1", (0.5, 3.0), (-3.0, 3.0), dtype=special_several, cost=60)
def _hyp0f1(node: Elementwise) -> Partials:
    """``0F1(b; z)``: ``0F1(b + 1; z)/b dz`` (DLMF 16.3.1)."""
    b, z = node.operands
    return IN_PARAMETERS, multiply(apply("reciprocal", b), apply("hyp0f1", shifted(b, 1), z))


@row("hyp1f1", "special.hyp1f1", (0.5, 3.0), (0.5, 3.0), (-3.0, 3.0), dtype=special_several, cost=100)
def _hyp1f1(node: Elementwise) -> Partials:
    """Kummer's ``M(a, b, z)``: ``a/b M(a + 1, b + 1, z) dz`` (DLMF 13.3.15)."""
    a, b, z = node.operands
    raised = apply("hyp1f1", shifted(a, 1), shifted(b, 1), z)
    return IN_PARAMETERS, IN_PARAMETERS, multiply(a, apply("reciprocal", b), raised)


@row("hyp2f1", "special.hyp2f1", (0.5, 2.0), (0.5, 2.0), (0.5, 3.0), (-0.8, 0.6), dtype=special_several, cost=100)
def _hyp2f1(node: Elementwise) -> Partials:
    """``F(a, b; c; z)``: ``a b/c F(a + 1, b + 1; c + 1; z) dz`` (DLMF 15.5.1)."""
    a, b, c, z = node.operands
    raised = apply("hyp2f1", shifted(a, 1), shifted(b, 1), shifted(c, 1), z)
    return IN_PARAMETERS, IN_PARAMETERS, IN_PARAMETERS, multiply(a, b, apply("reciprocal", c), raised)


@row("hyperu", "special.hyperu", (3.0, 3.6), (6.0, 6.4), (1.0, 5.0), dtype=special_several, cost=100)
def _hyperu(node: Elementwise) -> Partials:
    """``U(a, b, z)``: ``-a U(a + 1, b + 1, z) dz`` (DLMF 13.3.22)."""
    a, b, z = node.operands
    raised = apply("hyperu", shifted(a, 1), shifted(b, 1), z)
    return IN_PARAMETERS, IN_PARAMETERS, multiply(a, raised, coefficient=-1)


@row("exprel", "special.exprel", (-3.0, 3.0), dtype=special, cost=30)
def _exprel(node: Elementwise) -> Partials:
    """``(exp(x) - 1)/x = M(1, 2, x)``, so its derivative is ``M(2, 3, x)/2``, right at 0 (DLMF 13.6.2)."""
    x = node.operands[0]
    return (scale(0.5, apply("hyp1f1", constant_like(2, x), constant_like(3, x), x)),)


def quotient_of_logarithm(z: Node) -> Node:
    """``log(1 + z)/z = F(1, 1; 2; -z)``, right at 0 (DLMF 15.4.1)."""
    one = constant_like(1, z)
    return apply("hyp2f1", one, one, constant_like(2, z), negate(z))


@row("spence", "special.spence", (0.2, 3.0), dtype=special, cost=40)
def _spence(node: Elementwise) -> Partials:
    """The dilogarithm: ``spence'(z) = log(z)/(1 - z)``, and -1 at z = 1 (DLMF 25.12.2)."""
    return (negate(quotient_of_logarithm(shifted(node.operands[0], -1))),)


@row("wright_bessel", "special.wright_bessel", (0.5, 2.0), (0.5, 2.0), (0.2, 3.0), dtype=special_several, cost=200)
def _wright_bessel(node: Elementwise) -> Partials:
    """``sum of x^k/(k! Gamma(a k + b))``: ``phi(a, a + b, x) dx`` (DLMF 10.46.1)."""
    a, b, x = node.operands
    return IN_PARAMETERS, IN_PARAMETERS, apply("wright_bessel", a, total(a, b), x)


@row(
    "log_wright_bessel",
    "special.log_wright_bessel",
    (0.5, 2.0),
    (0.5, 2.0),
    (0.2, 3.0),
    dtype=special_several,
    cost=200,
)
def _log_wright_bessel(node: Elementwise) -> Partials:
    """The logarithm of Wright's function: ``exp(log phi(a, a + b, x) - log phi(a, b, x)) dx``."""
    a, b, x = node.operands
    gap = total(apply("log_wright_bessel", a, total(a, b), x), negate(node))
    return IN_PARAMETERS, IN_PARAMETERS, apply("exp", gap)
