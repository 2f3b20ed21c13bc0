"""Special functions: the error function and the logarithm of the gamma function with its derivatives.

Owns these rows. Imports the catalogue and graph spelling. Invariant: SciPy is named in source text only and
never imported here.
"""

from __future__ import annotations

from math import factorial, pi, sqrt

from einsumad.errors import DifferentiationError
from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special
from einsumad.functions.rows import literal, row, whole
from einsumad.graph import Elementwise, Node, Params, negate, scale

_MOST_FACTORIAL = 170


def _bell(x: Node) -> Node:
    """``exp(-x^2)``."""
    return apply("exp", negate(apply("square", x)))


@row("erf", "special.erf", (-2.5, 2.5), dtype=special, cost=20)
def _erf(node: Elementwise) -> Partials:
    """``erf'(x) = 2/sqrt(pi) exp(-x^2)``."""
    return (scale(2 / sqrt(pi), _bell(node.operands[0])),)


@row("erfc", "special.erfc", (-2.5, 2.5), dtype=special, cost=20)
def _erfc(node: Elementwise) -> Partials:
    """``erfc(x) = 1 - erf(x)``, exact where it is small; ``erfc'(x) = -2/sqrt(pi) exp(-x^2)``."""
    return (scale(-2 / sqrt(pi), _bell(node.operands[0])),)


@row("gammaln", "special.gammaln", (0.2, 6.0), dtype=special, cost=40)
def _gammaln(node: Elementwise) -> Partials:
    """``log |Gamma(x)|``; its derivative is the digamma function."""
    return (apply("digamma", node.operands[0]),)


@row("digamma", "special.psi", (0.2, 6.0), dtype=special, cost=40)
def _digamma(node: Elementwise) -> Partials:
    """``digamma = (log Gamma)'``; its derivative is the polygamma function of order 1."""
    return (apply("polygamma", node.operands[0], params=(1,)),)


def _polygamma_source(operands: tuple[str, ...], params: Params) -> str:
    """Write ``(-1)^(n+1) n! zeta(n + 1, x)`` (Hurwitz), which keeps float32."""
    order = whole(params)
    if order == 0:
        return f"special.psi({operands[0]})"
    if order > _MOST_FACTORIAL:
        raise DifferentiationError(f"polygamma of order {order} has a factor beyond the range of floats")
    sign = -1 if order % 2 == 0 else 1
    return f"np.multiply({literal(sign * float(factorial(order)))}, special.zeta({order + 1}.0, {operands[0]}))"


@row("polygamma", _polygamma_source, (0.3, 6.0), dtype=special, cost=60, takes_out=True)
def _polygamma(node: Elementwise) -> Partials:
    """The n-th derivative of the digamma function, n the only parameter; its derivative has order n + 1."""
    return (apply("polygamma", node.operands[0], params=(whole(node.params) + 1,)),)
