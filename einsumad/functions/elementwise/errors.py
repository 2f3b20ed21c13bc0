"""Error functions and exponential, sine and cosine integrals: functions whose derivatives are elementary.

Owns these rows. Imports the catalogue and graph spelling. Invariant: quotients such as ``sin(x)/x`` are functions that
are right at zero.
"""

from __future__ import annotations

from math import pi, sqrt

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special
from einsumad.functions.elementwise.gammas import shifted
from einsumad.functions.rows import in_own_dtype, row, whole
from einsumad.graph import Elementwise, Params, constant_like, multiply, negate, scale


@row("erfi", "special.erfi", (-2.0, 2.0), dtype=special, cost=20)
def _erfi(node: Elementwise) -> Partials:
    """``erfi(x) = -i erf(i x)``: ``erfi'(x) = 2/sqrt(pi) exp(x^2)``."""
    return (scale(2 / sqrt(pi), apply("exp", apply("square", node.operands[0]))),)


@row("dawson", "special.dawsn", (-4.0, 4.0), dtype=special, cost=20)
def _dawson(node: Elementwise) -> Partials:
    """``D'(x) = 1 - 2 x D(x) = M(1, 1/2, -x^2)`` (DLMF 7.10.2): the second form has no cancellation."""
    x = node.operands[0]
    return (apply("hyp1f1", constant_like(1, x), constant_like(0.5, x), negate(apply("square", x))),)


@row("ndtri_exp", "special.ndtri_exp", (-4.0, -0.1), dtype=special, cost=60)
def _ndtri_exp(node: Elementwise) -> Partials:
    """The inverse z of ``log_ndtr``: ``z' = sqrt(pi/2) erfcx(-z/sqrt(2))``, which does not overflow for z << 0."""
    return (scale(sqrt(pi / 2), apply("erfcx", scale(-1 / sqrt(2), node), params=(0,))),)


@row(
    "fresnel",
    lambda operands, params: f"special.fresnel({operands[0]})[{whole(params)}]",
    (-2.0, 2.0),
    dtype=special,
    cost=60,
)
def _fresnel(node: Elementwise) -> Partials:
    """S for the parameter 0, C for 1: ``S' = sin(pi x^2/2)``, ``C' = cos(pi x^2/2)`` (DLMF 7.2.8)."""
    angle = scale(pi / 2, apply("square", node.operands[0]))
    return (apply("cos" if whole(node.params) else "sin", angle),)


@row("exp1", "special.exp1", (0.3, 4.0), dtype=special, cost=40)
def _exp1(node: Elementwise) -> Partials:
    """``E_1'(x) = -E_0(x) = -exp(-x)/x``."""
    return (negate(apply("expn", node.operands[0], params=(0,))),)


@row("expi", "special.expi", (-3.0, 3.0), dtype=special, cost=40)
def _expi(node: Elementwise) -> Partials:
    """``Ei'(x) = exp(x)/x``."""
    x = node.operands[0]
    return (multiply(apply("exp", x), apply("reciprocal", x)),)


def _expn_source(operands: tuple[str, ...], params: Params) -> str:
    """Write ``E_n``; for n <= 0 it is ``Gamma(1 - n, x) x^(n-1)``."""
    order, x = whole(params), operands[0]
    if order > 0:
        return in_own_dtype(f"special.expn({order}, {x})", x)
    front = f"special.gamma({1 - order}.0)"
    value = f"special.gammaincc({1 - order}.0, np.float64({x})) * {front} * np.float64({x}) ** {order - 1}"
    return in_own_dtype(value, x)


@row("expn", _expn_source, (0.3, 4.0), dtype=special, cost=60)
def _expn(node: Elementwise) -> Partials:
    """``E_n' = -E_(n-1)`` for whole n of either sign (DLMF 8.19.13)."""
    return (negate(apply("expn", node.operands[0], params=(whole(node.params) - 1,))),)


_INTEGRALS = ("shichi", "shichi", "sici", "sici")


@row(
    "integral_of_quotient",
    lambda operands, params: f"special.{_INTEGRALS[whole(params)]}({operands[0]})[{whole(params) % 2}]",
    (0.3, 5.0),
    dtype=special,
    cost=60,
)
def _integral_of_quotient(node: Elementwise) -> Partials:
    """Shi, Chi, Si, Ci for the parameter 0, 1, 2, 3: ``sinh(x)/x``, ``cosh(x)/x``, ``sin(x)/x``, ``cos(x)/x``.

    The quotients that are finite at 0 are spherical Bessel functions (DLMF 6.2.9 to 6.2.16, 10.49.3, 10.49.8).
    """
    x, which = node.operands[0], whole(node.params)
    if which in (0, 2):
        return (apply(f"spherical_{'i' if which == 0 else 'j'}", x, params=(0,)),)
    return (multiply(apply("cosh" if which == 1 else "cos", x), apply("reciprocal", x)),)


@row("wrightomega", "special.wrightomega", (-3.0, 4.0), dtype=special, cost=60)
def _wrightomega(node: Elementwise) -> Partials:
    """The solution w of ``w + log(w) = x``: ``w' = 1/(1 + 1/w)``, so 0 and 1 far out."""
    return (apply("reciprocal", shifted(apply("reciprocal", node), 1)),)
