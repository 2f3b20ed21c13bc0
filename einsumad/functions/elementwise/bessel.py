"""Bessel functions and their relatives: of real order, spherical, of Kelvin, of Struve, of Airy, and their integrals.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the order is a parameter, and derivatives are
recurrences in it without a division by the argument, so nothing is lost at zero.
"""

from __future__ import annotations

from cmath import exp as complex_exp
from collections.abc import Callable
from math import gamma, pi, sqrt

from einsumad.functions.catalogue import Partials, Source, apply
from einsumad.functions.dtypes import special
from einsumad.functions.elementwise.powers import power_of
from einsumad.functions.rows import in_own_dtype, literal, number, row, whole
from einsumad.graph import Elementwise, Node, Params, multiply, negate, ones, scale, total

Order = int | float
_MOST_GAMMA = 170.0


def _known_orders(letter: str) -> Source:
    """Write a Bessel function by the ufunc for its order, where SciPy has one: those are many times faster."""

    def source(operands: tuple[str, ...], params: Params) -> str:
        order = number(params)
        if isinstance(order, int) and order in (0, 1):
            return f"special.{letter}{order}({operands[0]})"
        return f"special.{letter}v({literal(order)}, {operands[0]})"

    return source


def bessel(letter: str, order: Order, x: Node) -> Node:
    """The Bessel function J, Y, I or K of the order; negative whole orders by reflection (DLMF 10.4.1, 10.27.1)."""
    value = apply(f"bessel_{letter}", x, params=(abs(order) if isinstance(order, int) else order,))
    odd = isinstance(order, int) and order < 0 and order % 2 == 1
    return negate(value) if odd and letter in "jy" else value


def _neighbours(node: Elementwise, letter: str, below: float, above: float) -> Partials:
    x, order = node.operands[0], number(node.params)
    return (total(scale(below, bessel(letter, order - 1, x)), scale(above, bessel(letter, order + 1, x))),)


@row("bessel_j", _known_orders("j"), (0.3, 8.0), dtype=special, cost=60, symbol="J", takes_out=True)
def _bessel_j(node: Elementwise) -> Partials:
    """``J_v' = (J_(v-1) - J_(v+1))/2`` for real order v (DLMF 10.6.1)."""
    return _neighbours(node, "j", 0.5, -0.5)


@row("bessel_y", _known_orders("y"), (0.5, 8.0), dtype=special, cost=60, symbol="Y", takes_out=True)
def _bessel_y(node: Elementwise) -> Partials:
    """``Y_v' = (Y_(v-1) - Y_(v+1))/2`` for real order v (DLMF 10.6.1)."""
    return _neighbours(node, "y", 0.5, -0.5)


@row("bessel_i", _known_orders("i"), (0.3, 4.0), dtype=special, cost=60, symbol="I", takes_out=True)
def _bessel_i(node: Elementwise) -> Partials:
    """``I_v' = (I_(v-1) + I_(v+1))/2`` for real order v (DLMF 10.29.1)."""
    return _neighbours(node, "i", 0.5, 0.5)


@row("bessel_k", _known_orders("k"), (0.3, 4.0), dtype=special, cost=60, symbol="K", takes_out=True)
def _bessel_k(node: Elementwise) -> Partials:
    """``K_v' = -(K_(v-1) + K_(v+1))/2`` for real order v (DLMF 10.29.1)."""
    return _neighbours(node, "k", -0.5, -0.5)


_TINY = "1e-30"  # its sine is itself, in single precision too
_SPHERICAL = {"j": (1, -1), "y": (1, -1), "i": (1, 1), "k": (-1, -1)}


def spherical_slope(letter: str, order: int, x: Node) -> Node:
    """``(2n + 1) f_n' = below n f_(n-1) + above (n + 1) f_(n+1)``, with the signs for the letter."""
    below, above = _SPHERICAL[letter]
    weight = 2 * order + 1
    up = scale(above * (order + 1) / weight, apply(f"spherical_{letter}", x, params=(order + 1,)))
    if order == 0:
        return up
    return total(scale(below * order / weight, apply(f"spherical_{letter}", x, params=(order - 1,))), up)


for _letter, (_below, _above) in _SPHERICAL.items():
    _signs = ("-" if _below < 0 else "", "-" if _above < 0 else "+")
    _doc = (
        f"The spherical Bessel function of whole order: ``(2n + 1) {_letter}_n' = {_signs[0]}n {_letter}_(n-1) "
        f"{_signs[1]} (n + 1) {_letter}_(n+1)`` (DLMF 10.51.2, 10.51.5)."
    )

    def _source(operands: tuple[str, ...], params: Params, letter: str = _letter) -> str:
        """SciPy has these in double precision; ``j_0 = sin(x)/x`` needs it not."""
        if letter == "j" and whole(params) == 0:
            inside = f"np.where({operands[0]}, {operands[0]}, {_TINY})"
            return in_own_dtype(f"np.divide(np.sin({inside}), {inside})", operands[0])
        return in_own_dtype(f"special.spherical_{letter}n({whole(params)}, {operands[0]})", operands[0])

    def _rule(node: Elementwise, letter: str = _letter) -> Partials:
        return (spherical_slope(letter, whole(node.params), node.operands[0]),)

    row(f"spherical_{_letter}", _source, (0.5, 5.0), dtype=special, cost=60, doc=_doc)(_rule)


def _struve(node: Elementwise, sign: int) -> Partials:
    """``2 f_v' = f_(v-1) + sign f_(v+1) + (x/2)^v / (sqrt(pi) Gamma(v + 3/2))``, and ``f_0' = 2/pi + sign f_1``."""
    x, order = node.operands[0], number(node.params)
    up = scale(sign, apply(node.function, x, params=(order + 1,)))
    if order == 0:
        return (total(scale(2 / pi, ones(x.shape, x.dtype)), up),)
    down = apply(node.function, x, params=(order - 1,))
    start = scale(_reciprocal_gamma(order + 1.5) / sqrt(pi), power_of(scale(0.5, x), order))
    return (total(scale(0.5, down), scale(0.5, up), scale(0.5, start)),)


def _reciprocal_gamma(value: float) -> float:
    """One over the gamma function: 0 at its poles, and where it leaves the range of floats."""
    return 0.0 if value > _MOST_GAMMA or (value <= 0 and value == int(value)) else 1 / gamma(value)


@row(
    "struve",
    lambda operands, params: in_own_dtype(f"special.struve({literal(number(params))}, {operands[0]})", operands[0]),
    (0.5, 6.0),
    dtype=special,
    cost=80,
    symbol="H",
)
def _struve_h(node: Elementwise) -> Partials:
    """``2 H_v' = H_(v-1) - H_(v+1) + (x/2)^v / (sqrt(pi) Gamma(v + 3/2))`` (DLMF 11.4.24)."""
    return _struve(node, -1)


@row(
    "modstruve",
    lambda operands, params: in_own_dtype(f"special.modstruve({literal(number(params))}, {operands[0]})", operands[0]),
    (0.5, 4.0),
    dtype=special,
    cost=80,
    symbol="L",
)
def _struve_l(node: Elementwise) -> Partials:
    """``2 L_v' = L_(v-1) + L_(v+1) + (x/2)^v / (sqrt(pi) Gamma(v + 3/2))`` (DLMF 11.4.26)."""
    return _struve(node, 1)


_KELVIN = ("ber", "bei", "ker", "kei")


def _kelvin_source(operands: tuple[str, ...], params: Params) -> str:
    """Write the function of order n as a part of ``J_n(x e^(3 pi i/4))`` or ``e^(-n pi i/2) K_n(x e^(pi i/4))``."""
    kind, order, x = whole(params), whole(params, 1), operands[0]
    if order == 0:
        return f"special.{_KELVIN[kind]}({x})"
    part = "imag" if kind % 2 else "real"
    if kind < 2:
        return f"special.jv({order}, {x} * {complex_exp(0.75j * pi)!r}).{part}"
    turn = (1, -1j, -1, 1j)[order % 4]
    inside = f"np.where({x} < 0, {x}.dtype.type(np.nan), {x})"
    return f"({turn} * special.kv({order}, {inside} * {complex_exp(0.25j * pi)!r})).{part}"


@row("kelvin", _kelvin_source, (0.5, 5.0), dtype=special, cost=100)
def _kelvin(node: Elementwise) -> Partials:
    """The functions ber, bei, ker, kei (first parameter) of order n (second), by DLMF 10.63.1.

    ``2 sqrt(2) f_n' = f_(n+1) + g_(n+1) - f_(n-1) - g_(n-1)`` with (f, g) = (ber, bei), (bei, -ber) and the same of K;
    ``f_(-n) = (-1)^n f_n``.
    """
    kind, order = whole(node.params), whole(node.params, 1)
    if order == 0:
        return (apply("kelvin_slope", node.operands[0], params=(kind,)),)
    other, sign = _partner(kind)
    weights = ((1, order + 1), (-1, order - 1))
    return (
        total(
            *[
                scale(weight * turn / (2 * sqrt(2)), apply("kelvin", node.operands[0], params=(which, n)))
                for weight, n in weights
                for turn, which in ((1, kind), (sign, other))
            ]
        ),
    )


def _partner(kind: int) -> tuple[int, int]:
    """The function g that goes with f, and its sign: (f, g) = (ber, bei), (bei, -ber), and the same of K."""
    return (kind + 1, 1) if kind % 2 == 0 else (kind - 1, -1)


@row(
    "kelvin_slope",
    lambda operands, params: f"special.{_KELVIN[whole(params)]}p({operands[0]})",
    (0.5, 5.0),
    dtype=special,
    cost=100,
)
def _kelvin_slope(node: Elementwise) -> Partials:
    """The derivative of ber, bei, ker, kei. Its own is ``(g_2 - g_0)/2``, by DLMF 10.63.1 twice.

    Near 0 the two are nearly equal for ker and kei, whose equation does not cancel: ``f'' = -g - f'/x`` (DLMF 10.61.3).
    """
    kind, x = whole(node.params), node.operands[0]
    other, sign = _partner(kind)
    if kind > 1:
        partner = apply("kelvin", x, params=(other, 0))
        return (total(scale(-sign, partner), multiply(node, apply("reciprocal", x), coefficient=-1)),)
    second, first = (apply("kelvin", node.operands[0], params=(other, n)) for n in (2, 0))
    return (scale(sign / 2, total(second, negate(first))),)


def _not_at_infinity(x: Node) -> Node:
    """The mask that is false at the infinities, where the other factor goes to zero faster."""
    return apply("logical_not", apply("isinf", x))


@row(
    "airy",
    lambda operands, params: f"special.airy({operands[0]})[{whole(params)}]",
    (-4.0, 3.0),
    dtype=special,
    cost=150,
)
def _airy(node: Elementwise) -> Partials:
    """Ai, Ai', Bi, Bi' for the parameter 0, 1, 2, 3: ``Ai'' = x Ai`` (DLMF 9.2.1)."""
    x, which = node.operands[0], whole(node.params)
    if which % 2 == 0:
        return (apply("airy", x, params=(which + 1,)),)
    decays = (_not_at_infinity(x),) if which == 1 else ()
    return (multiply(*decays, x, apply("airy", x, params=(which - 1,))),)


def _integral(name: str, source: Source, domain: tuple[float, float], doc: str) -> None:
    """Register integrals over a Bessel function, one for each value of the parameter."""

    def partials(node: Elementwise) -> Partials:
        return (_INTEGRANDS[node.function][whole(node.params)](node.operands[0]),)

    row(name, source, domain, dtype=special, cost=150, doc=doc)(partials)


_INTEGRANDS: dict[str, tuple[Callable[[Node], Node], ...]] = {
    "integral_bessel": (
        lambda x: bessel("j", 0, x),
        lambda x: bessel("y", 0, x),
        lambda x: bessel("i", 0, x),
        lambda x: bessel("k", 0, x),
    ),
    "integral_airy": (
        lambda x: apply("airy", x, params=(0,)),
        lambda x: apply("airy", x, params=(2,)),
        lambda x: apply("airy", negate(x), params=(0,)),
        lambda x: apply("airy", negate(x), params=(2,)),
    ),
    "integral_struve": (
        lambda x: apply("struve", x, params=(0,)),
        lambda x: apply("modstruve", x, params=(0,)),
    ),
}


def _integral_bessel_source(operands: tuple[str, ...], params: Params) -> str:
    which = whole(params)
    return f"special.{'itj0y0' if which < 2 else 'iti0k0'}({operands[0]})[{which % 2}]"


_integral(
    "integral_bessel",
    _integral_bessel_source,
    (0.5, 5.0),
    "The integral from 0 to x of J_0, Y_0, I_0 or K_0, whose derivative is the integrand.",
)
_integral(
    "integral_airy",
    lambda operands, params: f"special.itairy({operands[0]})[{whole(params)}]",
    (0.3, 3.0),
    "The integral from 0 to x of Ai(t), Bi(t), Ai(-t) or Bi(-t), whose derivative is the integrand.",
)
_integral(
    "integral_struve",
    lambda operands, params: f"special.it{('', 'mod')[whole(params)]}struve0({operands[0]})",
    (0.5, 5.0),
    "The integral from 0 to x of the Struve function H_0 or L_0, whose derivative is the integrand.",
)


def _moment_source(operands: tuple[str, ...], params: Params) -> str:
    power, order = (literal(number(params, k)) for k in (0, 1))
    return in_own_dtype(f"special.besselpoly({operands[0]}, {power}, {order})", operands[0])


@row("bessel_moment", _moment_source, (0.2, 2.0), dtype=special, cost=100)
def _bessel_moment(node: Elementwise) -> Partials:
    """``F(a; l, v) = integral of t^l J_v(2 a t) over [0, 1]``.

    ``dF/da = F(a; l + 1, v - 1) - F(a; l + 1, v + 1)``, and ``-2 F(a; l + 1, 1)`` for v = 0.
    """
    a, power, order = node.operands[0], number(node.params), number(node.params, 1)
    up = apply("bessel_moment", a, params=(power + 1, order + 1))
    if order == 0:
        return (scale(-2, up),)
    return (total(apply("bessel_moment", a, params=(power + 1, order - 1)), negate(up)),)


_CYLINDERS = ("pbdv", "pbvv", "pbwa")


@row(
    "parabolic_cylinder",
    lambda operands, params: in_own_dtype(
        f"special.{_CYLINDERS[whole(params)]}({literal(float(number(params, 1)))}, {operands[0]})[{whole(params, 2)}]",
        operands[0],
    ),
    (0.3, 3.0),
    dtype=special,
    cost=150,
)
def _parabolic_cylinder(node: Elementwise) -> Partials:
    """D, V and W (first parameter) of order v (second), or their derivative (1 as third).

    ``f'' = (x^2/4 - v - 1/2) f`` for D and V, ``f'' = (v - x^2/4) f`` for W (DLMF 12.2.1, 12.14.1).
    """
    x = node.operands[0]
    kind, order, slope = whole(node.params), number(node.params, 1), whole(node.params, 2)
    other = apply("parabolic_cylinder", x, params=(kind, order, 1 - slope))
    if slope == 0:
        return (other,)
    square = scale(0.25 if kind < 2 else -0.25, apply("square", x))
    level = -order - 0.5 if kind < 2 else order
    return (multiply(total(square, scale(level, ones(x.shape, x.dtype))), other),)
