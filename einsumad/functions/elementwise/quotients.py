"""Reciprocals of functions that overflow: of cosh, sinh and expm1, and x over expm1(x).

Owns these rows. Imports the catalogue and graph spelling. Invariant: where the function has vanished its derivatives
are 0, not infinite times zero; near a pole they are those of the pole.
"""

from __future__ import annotations

from functools import cache
from math import factorial, perm

import numpy as np

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import floating_one, special
from einsumad.functions.rows import in_own_dtype, literal, row, whole
from einsumad.graph import Elementwise, Params, multiply, negate

_TERMS = 80
_FROM = 3.0


@row("sech", "np.reciprocal(np.cosh({0}))", (-3.0, 3.0), dtype=floating_one, cost=24)
def _sech(node: Elementwise) -> Partials:
    """``1/cosh(x)``: ``sech'(x) = -sech(x) tanh(x)``, no quotient of what overflows."""
    return (multiply(node, apply("tanh", node.operands[0]), coefficient=-1),)


@row("csch", "np.reciprocal(np.sinh({0}))", (0.3, 3.0), dtype=floating_one, cost=24)
def _csch(node: Elementwise) -> Partials:
    """``1/sinh(x)``: ``csch'(x) = -csch(x)/tanh(x)``."""
    return (multiply(node, apply("reciprocal", apply("tanh", node.operands[0])), coefficient=-1),)


@row("reciprocal_expm1", "np.reciprocal(np.expm1({0}))", (0.3, 3.0), dtype=floating_one, cost=20)
def _reciprocal_expm1(node: Elementwise) -> Partials:
    """``r(x) = 1/(exp(x) - 1)``, exact near 0; ``r'(x) = r(x) r(-x)``, which neither overflows nor cancels."""
    return (multiply(node, apply("reciprocal_expm1", negate(node.operands[0]))),)


@cache
def _coefficients() -> tuple[float, ...]:
    """``B_k/k!`` for the Bernoulli numbers, from ``Σ_j B_j/j! 1/(k + 1 - j)! = 0`` (DLMF 24.2.1)."""
    numerators, denominator = [1], 1
    for k in range(1, _TERMS):
        scale = factorial(k + 1)
        last = -sum([c * (scale // factorial(k + 1 - j)) for j, c in enumerate(numerators)])
        numerators, denominator = [*[c * scale for c in numerators], last], denominator * scale
    return tuple([c / denominator for c in numerators])  # Python rounds quotients of whole numbers correctly


def _bernoulli_source(operands: tuple[str, ...], params: Params) -> str:
    """Write the n-th derivative: the series near 0, else the one in ``r = 1/expm1(|t|)`` and its reflection."""
    order, x = whole(params), operands[0]
    if order == 0:
        return f"np.divide({x}, np.expm1({x}))"
    series = [perm(k, order) * c for k, c in enumerate(_coefficients())][order:]
    last, lower = np.poly1d([1.0, 0.0]), np.poly1d([0.0])
    for _ in range(order):
        last, lower = last.deriv() * np.poly1d([-1.0, -1.0, 0.0]), last
    small = f"np.polyval([{', '.join(map(literal, series[::-1]))}], np.where(t == 0, np.nan, t))"
    large = f"np.abs(t) * {_polynomial(last)} + {order} * {_polynomial(lower)}"
    sign = "" if order % 2 == 0 else "np.sign(t) * "
    reflected = f"{sign}({large}){' - (t < 0)' if order == 1 else ''}"
    choice = f"np.where(np.abs(t) < {literal(_FROM)}, {small}, {reflected})"
    return in_own_dtype(f"(lambda t: (lambda r: {choice})(1 / np.expm1(np.maximum(np.abs(t), 1))))(np.float64({x}))", x)


def _polynomial(coefficients: np.poly1d) -> str:
    return f"np.polyval([{', '.join(map(literal, coefficients.c.tolist()))}], r)"


@row("x_over_expm1", _bernoulli_source, (-2.5, 8.0), dtype=special, cost=60)
def _x_over_expm1(node: Elementwise) -> Partials:
    """The n-th derivative, n the parameter, of ``b(x) = x/(exp(x) - 1) = Σ_k B_k x^k/k!`` (DLMF 24.2.1).

    The quotient cancels near 0 as soon as it is differentiated; the series does not. NaN at 0, as the quotient is.
    Farther out from ``b = x r, r' = -r - r^2`` and ``b(-x) = b(x) + x``.
    """
    return (apply("x_over_expm1", node.operands[0], params=(whole(node.params) + 1,)),)
