"""Special functions of SciPy: error functions and the normal distribution, the gamma function, entropies.

Owns these rows. Imports the catalogue and graph spelling. Invariant: SciPy is named in source text only and
never imported here.
"""

from __future__ import annotations

from math import factorial, pi, sqrt

from einsumad.errors import DifferentiationError
from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special, special_two
from einsumad.functions.rows import literal, row, whole
from einsumad.graph import Elementwise, Node, Params, multiply, negate, ones, scale, total, zero

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


@row("erfinv", "special.erfinv", (-0.9, 0.9), dtype=special, cost=40)
def _erfinv(node: Elementwise) -> Partials:
    """The inverse y of the error function: ``erfinv'(x) = sqrt(pi)/2 exp(y^2)``."""
    return (scale(sqrt(pi) / 2, apply("exp", apply("square", node))),)


@row("erfcinv", "special.erfcinv", (0.1, 1.9), dtype=special, cost=40)
def _erfcinv(node: Elementwise) -> Partials:
    """The inverse y of ``erfc``: ``erfcinv'(x) = -sqrt(pi)/2 exp(y^2)``."""
    return (scale(-sqrt(pi) / 2, apply("exp", apply("square", node))),)


@row("ndtr", "special.ndtr", (-2.5, 2.5), dtype=special, cost=20)
def _ndtr(node: Elementwise) -> Partials:
    """The distribution function of the normal distribution: ``ndtr'(x) = exp(-x^2/2)/sqrt(2 pi)``."""
    return (scale(1 / sqrt(2 * pi), apply("exp", scale(-0.5, apply("square", node.operands[0])))),)


@row("log_ndtr", "special.log_ndtr", (-2.5, 2.5), dtype=special, cost=30)
def _log_ndtr(node: Elementwise) -> Partials:
    """``log ndtr(x)``: its derivative ``exp(-x^2/2 - log ndtr(x))/sqrt(2 pi)`` has no quotient of small numbers.

    For x < 0, where the exponent cancels, it is ``sqrt(2/pi)/erfcx(-x/sqrt(2))`` (DLMF 7.2.2).
    """
    x = node.operands[0]
    lower = apply("less", x, zero(x.shape, x.dtype))
    exponent = total(scale(-0.5, apply("square", x)), negate(node))
    above = scale(1 / sqrt(2 * pi), apply("exp", exponent))
    below = scale(sqrt(2 / pi), apply("reciprocal", apply("erfcx", scale(-1 / sqrt(2), x), params=(0,))))
    return (total(multiply(lower, below), multiply(apply("logical_not", lower), above)),)


@row("ndtri", "special.ndtri", (0.1, 0.9), dtype=special, cost=40)
def _ndtri(node: Elementwise) -> Partials:
    """The quantiles y of the normal distribution: ``ndtri'(x) = sqrt(2 pi) exp(y^2/2)``."""
    return (scale(sqrt(2 * pi), apply("exp", scale(0.5, apply("square", node)))),)


@row("logit", "special.logit", (0.1, 0.9), dtype=special, cost=20)
def _logit(node: Elementwise) -> Partials:
    """``log(x/(1 - x))``: ``logit'(x) = 1/x + 1/(1 - x)``."""
    x = node.operands[0]
    return (total(apply("reciprocal", x), apply("reciprocal", total(ones(x.shape, x.dtype), negate(x)))),)


@row("gamma", "special.gamma", (0.3, 4.0), dtype=special, cost=40)
def _gamma(node: Elementwise) -> Partials:
    """``Gamma'(x) = Gamma(x) digamma(x)``."""
    return (multiply(node, apply("digamma", node.operands[0])),)


def _either(x: Node, y: Node) -> Node:
    """The mask that is false where both are zero."""
    nothing = zero(x.shape, x.dtype)
    return apply("logical_or", apply("not_equal", x, nothing), apply("not_equal", y, nothing))


@row("xlogy", "special.xlogy", (0.2, 3.0), (0.2, 3.0), dtype=special_two, cost=16)
def _xlogy(node: Elementwise) -> Partials:
    """``x log(y)``, 0 at x = 0: ``d = log(y) dx + x/y dy``, and 0 dy where both are 0."""
    x, y = node.operands
    return apply("log", y), multiply(_either(x, y), x, apply("reciprocal", y))


@row("xlog1py", "special.xlog1py", (0.2, 3.0), (-0.8, 3.0), dtype=special_two, cost=16)
def _xlog1py(node: Elementwise) -> Partials:
    """``x log(1 + y)``, 0 at x = 0: ``d = log(1 + y) dx + x/(1 + y) dy``, and 0 dy where x = 0 and y = -1."""
    x, y = node.operands
    inside = total(ones(y.shape, y.dtype), y)
    return apply("log1p", y), multiply(_either(x, inside), x, apply("reciprocal", inside))


@row("entr", "special.entr", (0.1, 4.0), dtype=special, cost=16)
def _entr(node: Elementwise) -> Partials:
    """``-x log(x)``, 0 at 0: ``entr'(x) = -log(x) - 1``, infinite at 0."""
    x = node.operands[0]
    return (negate(total(apply("log", x), ones(x.shape, x.dtype))),)


def _log_quotient(x: Node, y: Node) -> Node:
    return apply("log", multiply(x, apply("reciprocal", y)))


@row("rel_entr", "special.rel_entr", (0.2, 3.0), (0.2, 3.0), dtype=special_two, cost=20)
def _rel_entr(node: Elementwise) -> Partials:
    """``x log(x/y)``: ``d = (log(x/y) + 1) dx - x/y dy``."""
    x, y = node.operands
    in_x = total(_log_quotient(x, y), ones(x.shape, x.dtype))
    return in_x, multiply(x, apply("reciprocal", y), coefficient=-1)


@row("kl_div", "special.kl_div", (0.2, 3.0), (0.2, 3.0), dtype=special_two, cost=20)
def _kl_div(node: Elementwise) -> Partials:
    """``x log(x/y) - x + y``: ``d = log(x/y) dx + (1 - x/y) dy``."""
    x, y = node.operands
    in_y = total(ones(x.shape, x.dtype), multiply(x, apply("reciprocal", y), coefficient=-1))
    return _log_quotient(x, y), in_y
