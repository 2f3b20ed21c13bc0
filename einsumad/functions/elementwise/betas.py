"""Quotients of gamma functions: the beta function, Pochhammer's symbol, the binomial coefficient.

Owns these rows and the helpers of their derivatives. Imports the catalogue and graph spelling. Invariant: the
derivatives are right where a factor ``1/Gamma`` is zero and where poles of two factors cancel, and do not overflow
before the value does: where an argument is below 1/2 a reflection formula (DLMF 5.5.3) leads to one above it.
"""

from __future__ import annotations

from math import factorial, pi

import numpy as np

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import floating_one, special_several, special_two
from einsumad.functions.elementwise.gammas import shifted, where
from einsumad.functions.rows import literal, row, whole
from einsumad.graph import Elementwise, Node, Params, constant_like, multiply, negate, scale, total, zero


def _in_half_turns(name: str, x: str) -> str:
    """The sine or cosine of pi x, by a reduction of x that is exact."""
    return f"(1 - 2 * np.remainder(np.rint({x}), 2)) * np.{name}(np.pi * ({x} - np.rint({x})))"


@row("sinpi", lambda operands, _: _in_half_turns("sin", operands[0]), (-2.7, 2.7), dtype=floating_one, cost=24)
def _sinpi(node: Elementwise) -> Partials:
    """``sin(pi x)``, 0 for whole x; its derivative is ``pi cos(pi x)``."""
    return (scale(pi, apply("cospi", node.operands[0])),)


@row("cospi", lambda operands, _: _in_half_turns("cos", operands[0]), (-2.7, 2.7), dtype=floating_one, cost=24)
def _cospi(node: Elementwise) -> Partials:
    """``cos(pi x)``; its derivative is ``-pi sin(pi x)``."""
    return (scale(-pi, apply("sinpi", node.operands[0])),)


def _gap_source(operands: tuple[str, ...], params: Params) -> str:
    (z, m), order = operands, whole(params)
    sign = -1 if order % 2 else 1

    def polygamma(x: str, sign: int = 1) -> str:
        number = literal(float(sign * (-1 if order % 2 == 0 else 1) * factorial(order)))
        return f"{sign} * special.psi({x})" if order == 0 else f"{number} * special.zeta({order + 1}.0, {x})"

    mirrored = f"{polygamma(f'1 - ({z} + {m})', sign)} - {polygamma(f'(1 - {z})', sign)}"
    plain = f"{polygamma(f'{z} + {m}')} - {polygamma(z)}"
    return f"np.where(({m} == np.rint({m})) & ({z} < 0.5) & ({z} + {m} < 0.5), {mirrored}, {plain})"


@row("polygamma_gap", _gap_source, (0.3, 4.0), (0.3, 3.0), dtype=special_two, cost=120)
def _polygamma_gap(node: Elementwise) -> Partials:
    """``psi_k(z + m) - psi_k(z)`` for the order k, the parameter: ``dz`` by the next order, ``psi_(k+1)(z + m) dm``.

    For whole m the poles at z = 0, -1, ... cancel: ``(-1)^k (psi_k(1 - z - m) - psi_k(1 - z))`` (DLMF 5.15.6).
    """
    (z, m), order = node.operands, whole(node.params)
    return (
        apply("polygamma_gap", z, m, params=(order + 1,)),
        apply("polygamma", total(z, m), params=(order + 1,)),
    )


def gap(z: Node, m: Node) -> Node:
    """``psi(z + m) - psi(z)``, the derivative of ``log(Gamma(z + m)/Gamma(z))`` in z."""
    return apply("polygamma_gap", z, m, params=(0,))


def _high(x: Node) -> Node:
    return apply("greater_equal", x, constant_like(0.5, x))


def _is_whole(x: Node) -> Node:
    return apply("equal", x, apply("round", x))


def _is_low(x: Node) -> Node:
    return apply("logical_not", _high(x))


def _conjugate_source(operands: tuple[str, ...], _params: Params) -> str:
    a, b = operands
    sine_a, sine_b = (_in_half_turns("sin", x) for x in operands)
    rest = f"(1 - ({a} + {b}))"
    by_a = f"np.pi / ({sine_b}) * special.beta({a}, {rest})"
    by_b = f"np.pi / ({sine_a}) * special.beta({b}, {rest})"
    by_none = f"{literal(pi * pi)} / (({sine_a}) * ({sine_b}) * {rest} * special.beta(1 - {a}, 1 - {b}))"
    return f"np.where({a} >= 0.5, {by_a}, np.where({b} >= 0.5, {by_b}, {by_none}))"


@row("beta_conjugate", _conjugate_source, (0.6, 2.0), (-2.8, -2.2), dtype=special_two, cost=200)
def _beta_conjugate(node: Elementwise) -> Partials:
    """``C(a, b) = Gamma(a) Gamma(b) Gamma(1 - a - b)``: ``B(a, b) = C(a, b) sin(pi (a + b))/pi`` (DLMF 5.5.3).

    ``d = C (psi(a) - psi(1 - a - b)) da + C (psi(b) - psi(1 - a - b)) db``.
    """
    rest = negate(apply("digamma", _reflected(total(*node.operands))))
    in_a, in_b = [multiply(node, total(apply("digamma", x), rest)) for x in node.operands]
    return in_a, in_b


def _reflected(x: Node) -> Node:
    return shifted(negate(x), 1)


@row("betaln", "special.betaln", (0.3, 4.0), (0.3, 4.0), dtype=special_two, cost=60)
def _betaln(node: Elementwise) -> Partials:
    """``log |B(a, b)|``: ``d = (digamma(a) - digamma(a + b)) da + (digamma(b) - digamma(a + b)) db``."""
    a, b = node.operands
    return negate(gap(a, b)), negate(gap(b, a))


@row("beta", "special.beta", (0.3, 4.0), (0.3, 4.0), dtype=special_two, cost=60)
def _beta(node: Elementwise) -> Partials:
    """``B(a, b) = Gamma(a) Gamma(b)/Gamma(a + b)``: the value times the derivatives of its logarithm.

    Where a + b < 1/2 it is ``B (psi(a) - psi(1 - a - b)) + C cos(pi (a + b))`` with the conjugate C, right at the zeros
    a + b = 0, -1, ...; for whole b > 0, where B is a rational function of a, the logarithm again.
    """
    return _slopes_of_beta(node, *node.operands)


def _slopes_of_beta(node: Node, a: Node, b: Node) -> tuple[Node, Node]:
    both = total(a, b)
    rest = negate(apply("digamma", _reflected(both)))
    turned = multiply(apply("beta_conjugate", a, b), apply("cospi", both))

    def slope(own: Node, other: Node) -> Node:
        direct = apply("logical_or", _high(both), multiply(_is_whole(other), _high(other)))
        reflected = multiply(node, total(apply("digamma", own), rest))
        return where(direct, multiply(node, negate(gap(own, other))), total(reflected, turned))

    return slope(a, b), slope(b, a)


_LARGEST = {np.dtype(np.float32): 34.0, np.dtype(np.float64): 170.0}
"""Up to where the gamma function does not overflow."""


@row("poch", "special.poch", (0.5, 4.0), (0.3, 3.0), dtype=special_several, cost=80)
def _poch(node: Elementwise) -> Partials:
    """``Gamma(z + m)/Gamma(z)``: the value times differences of digamma functions where z is above 1/2.

    Below it is ``Gamma(z + m)`` times ``1/Gamma(z)`` by the product rule, right where the second factor is zero; but
    for whole m, where z + m is below too, the value is a polynomial in z or one over it, and differences are right.
    For z > 0 they stand in where the gamma function overflows.
    """
    z, m = node.operands
    top = total(z, m)
    positive = apply("greater", z, zero(z.shape, z.dtype))
    overflows = apply("greater", top, constant_like(_LARGEST.get(top.dtype, 170.0), top))
    direct = apply("logical_or", _high(z), multiply(positive, overflows))
    rational = multiply(_is_whole(m), _is_low(top))
    gamma = apply("gamma", top)
    rise = multiply(gamma, apply("digamma", top), apply("rgamma", z))
    fall = multiply(gamma, apply("rgamma_slope", z))
    in_z = where(apply("logical_or", direct, rational), multiply(node, gap(z, m)), total(rise, fall))
    return in_z, where(direct, multiply(node, apply("digamma", top)), rise)


@row("binom", "special.binom", (3.2, 6.0), (0.3, 2.8), dtype=special_several, cost=80)
def _binom(node: Elementwise) -> Partials:
    """``Gamma(n + 1)/(Gamma(k + 1) Gamma(n - k + 1))``: the value times differences of digamma functions.

    Where k + 1 or n - k + 1 is below 1/2, it is ``sin(pi (k + 1))/pi B(n + 1, -k)``, or the same with n - k for k (DLMF
    5.5.3), right at the zeros. For whole k >= 0 and n + 1 below 1/2 it is a polynomial in n, and differences are right.
    """
    n, k = node.operands
    top, first, second = shifted(n, 1), shifted(k, 1), shifted(total(n, negate(k)), 1)
    inside = multiply(_high(first), _high(second))
    polynomial = multiply(_is_whole(k), _high(first), _is_low(top))
    low_second = _is_low(second)

    beta, in_top, in_rest = _beta_and_slopes(top, second)
    sine, cosine = apply("sinpi", second), apply("cospi", second)
    turned = multiply(cosine, beta)
    by_second = total(turned, multiply(sine, total(in_top, negate(in_rest)), coefficient=1 / pi))
    by_second_k = total(negate(turned), multiply(sine, in_rest, coefficient=1 / pi))

    beta, in_top, in_rest = _beta_and_slopes(top, first)
    sine, cosine = apply("sinpi", first), apply("cospi", first)
    by_first = multiply(sine, in_top, coefficient=1 / pi)
    by_first_k = total(multiply(cosine, beta), multiply(sine, in_rest, coefficient=-1 / pi))

    between = total(apply("digamma", second), negate(apply("digamma", first)))
    in_n = where(
        apply("logical_or", inside, polynomial),
        multiply(node, gap(second, k)),
        where(low_second, by_second, by_first),
    )
    return in_n, where(inside, multiply(node, between), where(low_second, by_second_k, by_first_k))


def _beta_and_slopes(top: Node, low: Node) -> tuple[Node, Node, Node]:
    """``B(top, 1 - low)`` and its two derivatives."""
    a, b = top, _reflected(low)
    node = apply("beta", a, b)
    return node, *_slopes_of_beta(node, a, b)
