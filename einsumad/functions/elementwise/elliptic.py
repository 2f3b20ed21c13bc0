"""Complete and incomplete elliptic integrals, and the elliptic functions of Jacobi.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the complete integrals are right to every order at
m = 0, where the usual formula divides by m, and near m = 1.
"""

from __future__ import annotations

from math import pi

from einsumad.functions.catalogue import NoDerivative, Partials, apply
from einsumad.functions.dtypes import special, special_two
from einsumad.functions.elementwise.gammas import where
from einsumad.functions.elementwise.powers import power_of
from einsumad.functions.rows import row, whole
from einsumad.graph import Elementwise, Node, constant_like, multiply, negate, ones, scale, total, zero

_IN_MODULUS = NoDerivative("the formula for the parameter m divides by m and by 1 - m, and is not supported")


def _one_minus(x: Node) -> Node:
    return total(ones(x.shape, x.dtype), negate(x))


def _inside(m: Node) -> Node:
    """The mask ``-1 < m < 1/2``, in which the hypergeometric series converges fast."""
    return multiply(apply("greater", m, constant_like(-1, m)), apply("less", m, constant_like(0.5, m)))


def _series(a: float, b: float, c: float, m: Node, inside: Node) -> Node:
    numbers = [constant_like(value, m) for value in (a, b, c)]
    return apply("hyp2f1", *numbers, where(inside, m, scale(0, m)))


@row("ellipk", "special.ellipk", (-3.0, 0.95), dtype=special, cost=40, symbol="K")
def _ellipk(node: Elementwise) -> Partials:
    """``K' = (E - (1 - m) K)/(2 m (1 - m))`` (DLMF 19.4.1), by ``pi/8 F(3/2, 3/2; 2; m)`` where that would cancel."""
    m = node.operands[0]
    inside, left = _inside(m), _one_minus(m)
    top = total(apply("ellipe", m), multiply(left, node, coefficient=-1))
    outer = multiply(top, apply("reciprocal", m), apply("reciprocal", left), coefficient=0.5)
    return (where(inside, scale(pi / 8, _series(1.5, 1.5, 2, m, inside)), outer),)


@row("ellipe", "special.ellipe", (-3.0, 0.95), dtype=special, cost=40, symbol="E")
def _ellipe(node: Elementwise) -> Partials:
    """``E' = (E - K)/(2 m)`` (DLMF 19.4.2), by ``-pi/8 F(1/2, 3/2; 2; m)`` where that would cancel."""
    m = node.operands[0]
    inside = _inside(m)
    gap = total(node, negate(apply("ellipkm1", _one_minus(m))))
    outer = multiply(gap, apply("reciprocal", m), coefficient=0.5)
    return (where(inside, scale(-pi / 8, _series(0.5, 1.5, 2, m, inside)), outer),)


@row("ellipkm1", "special.ellipkm1", (0.05, 3.0), dtype=special, cost=40)
def _ellipkm1(node: Elementwise) -> Partials:
    """``K(1 - p)``: as for K, in terms of p, which keeps its digits near the singularity p = 0."""
    p = node.operands[0]
    m = _one_minus(p)
    inside = _inside(m)
    top = total(multiply(p, node), negate(apply("ellipem1", p)))
    outer = multiply(top, apply("reciprocal", m), apply("reciprocal", p), coefficient=0.5)
    return (where(inside, scale(-pi / 8, _series(1.5, 1.5, 2, m, inside)), outer),)


@row("ellipem1", "special.ellipe(1 - {0})", (0.05, 3.0), dtype=special, cost=40)
def _ellipem1(node: Elementwise) -> Partials:
    """``E(1 - p)``: as for E, in terms of p, which keeps its digits near p = 0."""
    p = node.operands[0]
    m = _one_minus(p)
    inside = _inside(m)
    outer = multiply(total(apply("ellipkm1", p), negate(node)), apply("reciprocal", m), coefficient=0.5)
    return (where(inside, scale(pi / 8, _series(0.5, 1.5, 2, m, inside)), outer),)


def _squared_sine(phi: Node, m: Node) -> Node:
    """``1 - m sin(phi)^2``."""
    return _one_minus(multiply(m, apply("square", apply("sin", phi))))


@row("ellipkinc", "special.ellipkinc", (-1.2, 2.0), (-1.0, 0.6), dtype=special_two, cost=60, symbol="F")
def _ellipkinc(node: Elementwise) -> Partials:
    """``F(phi, m)``: ``(1 - m sin(phi)^2)^(-1/2) dphi`` (DLMF 19.2.4)."""
    return power_of(_squared_sine(*node.operands), -0.5), _IN_MODULUS


@row("ellipeinc", "special.ellipeinc", (-1.2, 2.0), (-1.0, 0.6), dtype=special_two, cost=60, symbol="E")
def _ellipeinc(node: Elementwise) -> Partials:
    """``E(phi, m)``: ``(1 - m sin(phi)^2)^(1/2) dphi`` (DLMF 19.2.5)."""
    return apply("sqrt", _squared_sine(*node.operands)), _IN_MODULUS


@row("elliprc", "special.elliprc", (0.2, 3.0), (0.3, 3.0), dtype=special_two, cost=60, symbol="R_C")
def _elliprc(node: Elementwise) -> Partials:
    """``R_C(x, y) = y^(-1/2) F(1/2, 1/2; 3/2; 1 - x/y)`` for y > 0 (DLMF 19.2.17, 19.6.15), right at x = y.

    For y < 0, the principal value, ``2 (x - y) dR_C/dx = x^(-1/2) - R_C`` and ``2 (x - y) dR_C/dy = R_C - x^(1/2)/y``
    (DLMF 19.2.20).
    """
    x, y = node.operands
    inverse = apply("reciprocal", y)
    z = _one_minus(multiply(x, inverse))
    high, top = constant_like(1.5, z), constant_like(2.5, z)
    slope = multiply(power_of(y, -1.5), apply("hyp2f1", high, high, top, z), coefficient=1 / 6)
    below = apply("less", y, zero(y.shape, y.dtype))
    root, half = apply("sqrt", x), multiply(apply("reciprocal", total(x, negate(y))), coefficient=0.5)
    return (
        where(below, multiply(half, total(power_of(x, -0.5), negate(node))), negate(slope)),
        where(
            below,
            multiply(half, total(node, multiply(root, inverse, coefficient=-1))),
            total(multiply(node, inverse, coefficient=-0.5), multiply(x, inverse, slope)),
        ),
    )


@row(
    "jacobi_elliptic",
    lambda operands, params: f"special.ellipj({operands[0]}, {operands[1]})[{whole(params)}]",
    (-1.0, 2.0),
    (0.1, 0.9),
    dtype=special_two,
    cost=80,
)
def _jacobi_elliptic(node: Elementwise) -> Partials:
    """sn, cn, dn and the amplitude for the parameter 0, 1, 2, 3, in u (DLMF 22.13.1, 22.16.3)."""
    u, m = node.operands

    def function(which: int) -> Node:
        return apply("jacobi_elliptic", u, m, params=(which,))

    which = whole(node.params)
    if which == 3:
        return function(2), _IN_MODULUS
    others = [function(k) for k in range(3) if k != which]
    if which == 0:
        return multiply(*others), _IN_MODULUS
    if which == 1:
        return multiply(*others, coefficient=-1), _IN_MODULUS
    return multiply(m, *others, coefficient=-1), _IN_MODULUS
