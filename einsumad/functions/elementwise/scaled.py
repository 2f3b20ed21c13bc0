"""Functions scaled by an exponential, whose derivatives cancel: erfcx, and the scaled Bessel functions I and K.

Owns these rows. Imports the catalogue and graph spelling. Invariant: each row is the n-th derivative, n a parameter, by
the recurrence for small arguments and by the asymptotic series for large ones, computed in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, pi, prod, sqrt

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.functions.catalogue import Partials, Source, apply
from einsumad.functions.dtypes import special
from einsumad.functions.rows import in_own_dtype, literal, number, row, whole
from einsumad.graph import Elementwise, Params

_TERMS = 40
_FROM = 25.0
_FROM_ERFCX = 6.0


def _text(numbers: Sequence[float]) -> str:
    return f"[{', '.join([literal(float(value)) for value in numbers])}]"


def _series(x: str, coefficients: Sequence[float], start: float, step: int, order: int) -> str:
    """Write the n-th derivative of ``sum of c_k x^(-start - step k)``, as a polynomial in ``x^-step``."""
    terms = []
    for k, c in enumerate(coefficients):
        power = start + step * k
        terms.append(c * prod([-(power + j) for j in range(order)]))
    variable = f"(1 / {x})" if step == 1 else f"(1 / ({x} * {x}))"
    return f"np.polyval({_text(terms[::-1])}, {variable}) * {x} ** {literal(-start - order)}"


def _converging(coefficients: Sequence[float], at: float) -> list[float]:
    """The terms of an asymptotic series down to the smallest at the least argument, or to rounding."""
    kept: list[float] = []
    for k, c in enumerate(coefficients):
        size = abs(c) * at**-k
        if kept and (size > abs(kept[-1]) * at ** -(k - 1) or size < 1e-20):
            break
        kept.append(c)
    return kept


def _in_double(x: str, small: str, large: str, start: float) -> str:
    """Write the choice between two formulas in `t`, the argument in double precision, in the argument's own dtype."""
    return in_own_dtype(f"(lambda t: np.where(np.abs(t) < {literal(start)}, {small}, {large}))(np.float64({x}))", x)


def _erfcx_source(operands: tuple[str, ...], params: Params) -> str:
    order, x = whole(params), operands[0]
    if order == 0:
        return f"special.erfcx({x})"
    factor, rest = np.poly1d([1.0]), np.poly1d([0.0])
    for _ in range(order):
        factor, rest = factor.deriv() + np.poly1d([2.0, 0.0]) * factor, rest.deriv() - 2 / sqrt(pi) * factor
    small = f"(np.polyval({_text(factor.c.tolist())}, t) * special.erfcx(t) + np.polyval({_text(rest.c.tolist())}, t))"
    odd = [prod(range(1, 2 * k, 2)) * (-0.5) ** k / sqrt(pi) for k in range(_TERMS)]
    series = _series("t", _converging(odd, _FROM_ERFCX**2), 1.0, 2, order)
    return in_own_dtype(f"(lambda t: np.where(t < {_FROM_ERFCX}, {small}, {series}))(np.float64({x}))", x)


@row("erfcx", _erfcx_source, (-2.0, 5.0), dtype=special, cost=60)
def _erfcx(node: Elementwise) -> Partials:
    """The n-th derivative of ``exp(x^2) erfc(x)``, from ``erfcx' = 2 x erfcx - 2/sqrt(pi)`` (DLMF 7.10.1).

    For x > 6 from the series ``sum of (-1)^k (2k-1)!!/2^k x^(-2k-1)/sqrt(pi)`` (DLMF 7.12.1).
    """
    return (apply("erfcx", node.operands[0], params=(whole(node.params) + 1,)),)


def _scaled_bessel(letter: str) -> Source:
    """Write the n-th derivative: both are ``sum of (-1)^i C(2n, i) f_(v-n+i)/2^n``, with ``(-1)^n`` for K."""

    def source(operands: tuple[str, ...], params: Params) -> str:
        order, n, x = number(params), whole(params, 1), operands[0]
        if n == 0:
            known = isinstance(order, int) and order in (0, 1)
            return f"special.{letter}{order}e({x})" if known else f"special.{letter}ve({literal(order)}, {x})"
        sign = -1 if letter == "i" else 1
        weights = [(-1) ** i * comb(2 * n, i) * (0.5 if letter == "i" else -0.5) ** n for i in range(2 * n + 1)]
        inside = "np.minimum(np.abs(t), 1e3)" if letter == "i" else "np.minimum(t, 1e3)"
        terms = [
            f"{literal(w)} * special.{letter}ve({literal(_reflected(order - n + i))}, {inside})"
            for i, w in enumerate(weights)
        ]
        start = max(_FROM, 2.0 * order * order)
        series = [
            sign**k * prod([(4 * order**2 - (2 * j - 1) ** 2) / (8 * j) for j in range(1, k + 1)])
            for k in range(_TERMS)
        ]
        front = sqrt(1 / (2 * pi)) if letter == "i" else sqrt(pi / 2)
        large = _series("np.abs(t)", [front * c for c in _converging(series, start)], 0.5, 1, n)
        text = _in_double(x, f"({' + '.join(terms)})", f"({large})", start)
        return f"({text} * np.sign({x}))" if letter == "i" and (order + n) % 2 == 1 else text

    return source


def _reflected(order: float) -> int | float:
    return abs(order) if isinstance(order, int) else order


def _next(node: Elementwise) -> Partials:
    order, n = number(node.params), whole(node.params, 1)
    if order < 0:
        raise DifferentiationError(
            f"{node.function} of the order {order} has no rule: the scaled functions are differentiated for orders >= 0"
        )
    return (apply(node.function, node.operands[0], params=(order, n + 1)),)


@row("bessel_ie", _scaled_bessel("i"), (0.3, 20.0), dtype=special, cost=100)
def _bessel_ie(node: Elementwise) -> Partials:
    """The n-th derivative of ``exp(-|x|) I_v(x)``, from ``2 I_v' = I_(v-1) + I_(v+1)`` (DLMF 10.29.1).

    For large arguments from Hankel's series (DLMF 10.40.1), as the recurrence cancels there; 0 at the kink at 0.
    """
    return _next(node)


@row("bessel_ke", _scaled_bessel("k"), (0.3, 20.0), dtype=special, cost=100)
def _bessel_ke(node: Elementwise) -> Partials:
    """The n-th derivative of ``exp(x) K_v(x)``, from ``2 K_v' = -(K_(v-1) + K_(v+1))`` (DLMF 10.29.1).

    For large arguments from Hankel's series (DLMF 10.40.2), as the recurrence cancels there.
    """
    return _next(node)
