"""Transformations of data and losses: Box-Cox and its inverse, Huber losses, powers less one, angles in degrees.

Owns these rows. Imports the catalogue and graph spelling. Invariant: what has the exponent or the scale as a divisor is
right at exponent zero, in both operands.
"""

from __future__ import annotations

from math import log, pi

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special, special_two
from einsumad.functions.elementwise.gammas import shifted, where
from einsumad.functions.rows import row
from einsumad.graph import Elementwise, Node, constant_like, multiply, negate, ones, scale, total, zero


@row("exp10", "special.exp10", (-1.5, 1.5), dtype=special, cost=16)
def _exp10(node: Elementwise) -> Partials:
    """``(10^x)' = log(10) 10^x``."""
    return (scale(log(10), node),)


@row("cosm1", "special.cosm1", (-3.0, 3.0), dtype=special, cost=16)
def _cosm1(node: Elementwise) -> Partials:
    """``cos(x) - 1``, exact near 0: its derivative is ``-sin(x)``."""
    return (negate(apply("sin", node.operands[0])),)


@row("sindg", "special.sindg", (-170.0, 170.0), dtype=special, cost=16)
def _sindg(node: Elementwise) -> Partials:
    """The sine of an angle in degrees: ``pi/180`` times the cosine."""
    return (scale(pi / 180, apply("cosdg", node.operands[0])),)


@row("cosdg", "special.cosdg", (-170.0, 170.0), dtype=special, cost=16)
def _cosdg(node: Elementwise) -> Partials:
    """The cosine of an angle in degrees: ``-pi/180`` times the sine."""
    return (scale(-pi / 180, apply("sindg", node.operands[0])),)


@row("tandg", "special.tandg", (-60.0, 60.0), dtype=special, cost=16)
def _tandg(node: Elementwise) -> Partials:
    """The tangent of an angle in degrees: ``pi/180 (1 + tan^2)``."""
    return (scale(pi / 180, shifted(apply("square", node), 1)),)


@row("cotdg", "special.cotdg", (30.0, 150.0), dtype=special, cost=16)
def _cotdg(node: Elementwise) -> Partials:
    """The cotangent of an angle in degrees: ``-pi/180 (1 + cot^2)``."""
    return (scale(-pi / 180, shifted(apply("square", node), 1)),)


@row("powm1", "special.powm1", (0.2, 3.0), (-2.0, 3.0), dtype=special_two, cost=30)
def _powm1(node: Elementwise) -> Partials:
    """``x^y - 1``, exact near 0: the derivatives are those of the power."""
    x, y = node.operands
    known = apply("logical_or", _differs(x, 0), _differs(y, 0))
    return (
        multiply(known, y, apply("power_xy", x, shifted(y, -1))),
        apply("power_log", x, y, params=(1,)),
    )


def _differs(x: Node, value: float) -> Node:
    return apply("not_equal", x, constant_like(value, x) if value else zero(x.shape, x.dtype))


def _in_exponent(value: Node, base: Node, exponent: Node, logarithm: Node) -> Node:
    """The derivative of ``(b^l - 1)/l`` in l: ``(log(b) b^l - value)/l``; near 0 ``log(b)^2 exprel'(l log b)``."""
    spread = multiply(exponent, logarithm)
    large = apply("greater", apply("abs", spread), constant_like(1, spread))
    calm = where(large, zero(spread.shape, spread.dtype), spread)
    slope = apply("hyp1f1", constant_like(2, calm), constant_like(3, calm), calm)
    inner = multiply(slope, apply("square", logarithm), coefficient=0.5)
    gap = total(apply("power_log", base, exponent, params=(1,)), negate(value))
    return where(large, multiply(gap, apply("reciprocal", exponent)), inner)


@row("boxcox", "special.boxcox", (0.2, 3.0), (-1.5, 2.0), dtype=special_two, cost=40)
def _boxcox(node: Elementwise) -> Partials:
    """``(x^l - 1)/l``, log(x) at l = 0: ``x^(l-1) dx``, and for dl a form without division near l = 0."""
    x, exponent = node.operands
    return apply("power_xy", x, shifted(exponent, -1)), _in_exponent(node, x, exponent, apply("log", x))


@row("boxcox1p", "special.boxcox1p", (-0.7, 2.0), (-1.5, 2.0), dtype=special_two, cost=40)
def _boxcox1p(node: Elementwise) -> Partials:
    """``((1 + x)^l - 1)/l``: as for ``boxcox`` of 1 + x."""
    x, exponent = node.operands
    base = shifted(x, 1)
    return apply("power_xy", base, shifted(exponent, -1)), _in_exponent(node, base, exponent, apply("log1p", x))


def _of_inverse(value: Node, y: Node, exponent: Node) -> tuple[Node, Node]:
    """The derivatives of ``exp(y q(l y))`` with ``q(z) = log(1 + z)/z``, given its value."""
    z = multiply(exponent, y)
    one, two, three = (constant_like(k, z) for k in (1, 2, 3))
    slope = scale(-0.5, apply("hyp2f1", two, two, three, negate(z)))
    in_y = multiply(value, apply("reciprocal", total(one, z)))
    return in_y, multiply(value, apply("square", y), slope)


@row("inv_boxcox", "special.inv_boxcox", (-0.4, 1.5), (-0.5, 1.5), dtype=special_two, cost=40)
def _inv_boxcox(node: Elementwise) -> Partials:
    """``(1 + l y)^(1/l)``, exp(y) at l = 0: ``x/(1 + l y) dy + x y^2 q'(l y) dl`` with ``q(z) = log(1 + z)/z``."""
    return _of_inverse(node, *node.operands)


@row("inv_boxcox1p", "special.inv_boxcox1p", (-0.4, 1.5), (-0.5, 1.5), dtype=special_two, cost=40)
def _inv_boxcox1p(node: Elementwise) -> Partials:
    """``(1 + l y)^(1/l) - 1``: the derivatives are those of ``inv_boxcox``."""
    return _of_inverse(apply("inv_boxcox", *node.operands), *node.operands)


@row("huber", "special.huber", (0.5, 1.0), (-3.0, 3.0), dtype=special_two, cost=10)
def _huber(node: Elementwise) -> Partials:
    """``r^2/2`` for ``|r| <= d``, ``d (|r| - d/2)`` beyond: ``max(|r| - d, 0) dd + min(max(r, -d), d) dr``."""
    d, r = node.operands
    size = apply("abs", r)
    beyond = apply("greater", size, d)
    clipped = where(beyond, multiply(d, apply("sign", r)), r)
    return multiply(beyond, total(size, negate(d))), clipped


@row("pseudo_huber", "special.pseudo_huber", (0.5, 2.0), (-3.0, 3.0), dtype=special_two, cost=30)
def _pseudo_huber(node: Elementwise) -> Partials:
    """``d (h - d)`` with ``h = sqrt(d^2 + r^2)``: ``d r/h dr`` and ``(h - d)^2/h dd``, with ``h - d = r^2/(h + d)``."""
    d, r = node.operands
    h = apply("hypot", d, r)
    cosine = apply("direction_cosine", r, d)
    ratio = multiply(r, apply("reciprocal", total(h, d)))
    return multiply(r, cosine, apply("square", ratio)), multiply(d, cosine)


@row("owens_t", "special.owens_t", (-2.0, 2.0), (-2.0, 2.0), dtype=special_two, cost=60)
def _owens_t(node: Elementwise) -> Partials:
    """``T(h, a)``: ``-exp(-h^2/2) erf(a h/sqrt(2))/sqrt(8 pi) dh + exp(-h^2 (1 + a^2)/2)/(2 pi (1 + a^2)) da``."""
    h, a = node.operands
    product = multiply(a, h)
    bell = apply("exp", scale(-0.5, apply("square", h)))
    in_h = multiply(bell, apply("erf", scale(0.5**0.5, product)), coefficient=-1 / (8 * pi) ** 0.5)
    side = apply("reciprocal", total(ones(a.shape, a.dtype), apply("square", a)))
    return in_h, multiply(bell, apply("exp", scale(-0.5, apply("square", product))), side, coefficient=1 / (2 * pi))
