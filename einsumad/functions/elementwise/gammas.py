"""The gamma function's relatives: its reciprocal, zeta, incomplete gamma and beta functions.

Owns these rows. Imports the catalogue and graph spelling. Invariant: densities are written as the exponential of one
sum of logarithms, whose exponents differentiation shifts, so nothing is divided by x and nothing overflows early.
"""

from __future__ import annotations

from math import pi

from einsumad.functions.catalogue import NoDerivative, Partials, apply
from einsumad.functions.dtypes import special, special_several
from einsumad.functions.rows import no_partials, row, whole
from einsumad.graph import Elementwise, Node, Params, constant_like, multiply, negate, scale, total, zero

IN_PARAMETERS = NoDerivative("it has no closed form in this parameter")


def where(mask: Node, taken: Node, other: Node) -> Node:
    """One expression where the mask is true, the other where it is not."""
    return total(multiply(mask, taken), multiply(apply("logical_not", mask), other))


def shifted(x: Node, number: float) -> Node:
    """``x + number``."""
    return total(x, constant_like(number, x))


def differs_from_zero(x: Node) -> Node:
    """The mask ``x != 0``, true at NaN."""
    return apply("not_equal", x, zero(x.shape, x.dtype))


@row("loggamma", "special.loggamma", (0.2, 6.0), dtype=special, cost=40)
def _loggamma(node: Elementwise) -> Partials:
    """``log Gamma(x)`` for x > 0, undefined below; its derivative is the digamma function."""
    return (apply("digamma", node.operands[0]),)


row(
    "gammasgn",
    "special.gammasgn",
    (-0.9, 3.0),
    dtype=special,
    cost=10,
    doc="The sign of the gamma function is piecewise constant: derivative 0.",
)(no_partials)


@row("rgamma", "special.rgamma", (-2.8, 4.0), dtype=special, cost=40)
def _rgamma(node: Elementwise) -> Partials:
    """``1/Gamma(x)``, entire: its derivative has a row of its own."""
    return (apply("rgamma_slope", node.operands[0]),)


def _rgamma_slope_source(operands: tuple[str, ...], _params: Params) -> str:
    x = operands[0]
    upper = f"-special.psi(np.minimum({x}, 1e30)) * special.rgamma({x})"
    lower = f"(np.cos(np.pi * {x}) - special.psi(1 - {x}) * np.sin(np.pi * {x}) / np.pi)"
    return f"np.where({x} > 0.5, {upper}, special.gamma(1 - {x}) * {lower})"


@row("rgamma_slope", _rgamma_slope_source, (-2.8, 4.0), dtype=special, cost=120)
def _rgamma_slope(node: Elementwise) -> Partials:
    """``-digamma(x)/Gamma(x)``, for x < 1/2 from ``1/Gamma(x) = Gamma(1 - x) sin(pi x)/pi`` (DLMF 5.5.3).

    So it is right at 0, -1, ..., where ``1/Gamma`` is zero and the digamma function has its poles.
    """
    x = node.operands[0]
    upper = apply("greater", x, constant_like(0.5, x))
    finite = apply("logical_not", apply("isinf", x))
    above = total(
        multiply(apply("polygamma", x, params=(1,)), apply("rgamma", x)), multiply(finite, apply("digamma", x), node)
    )
    y = shifted(negate(x), 1)
    sine, cosine = apply("sin", scale(pi, x)), apply("cos", scale(pi, x))
    weight = total(scale(1 / pi, apply("polygamma", y, params=(1,))), constant_like(-pi, y))
    inner = total(multiply(weight, sine), multiply(apply("digamma", y), cosine, coefficient=-1))
    below = total(multiply(apply("digamma", y), node, coefficient=-1), multiply(apply("gamma", y), inner))
    return (where(upper, negate(above), below),)


@row("hurwitz_zeta", "special.zeta", (1.5, 4.0), (0.3, 4.0), dtype=special_several, cost=60)
def _hurwitz_zeta(node: Elementwise) -> Partials:
    """``zeta(x, q)``: ``-x zeta(x + 1, q) dq`` (DLMF 25.11.17); the derivative in x is a series of its own."""
    x, q = node.operands
    return IN_PARAMETERS, multiply(x, apply("hurwitz_zeta", shifted(x, 1), q), coefficient=-1)


@row(
    "gamma_density",
    "np.exp(special.xlogy({0}, np.minimum({2}, 1e30)) - np.minimum({2}, 1e30) - {1})",
    (0.5, 3.0),
    (-0.5, 1.0),
    (0.3, 4.0),
    dtype=special_several,
    cost=60,
)
def _gamma_density(node: Elementwise) -> Partials:
    """``f(p, c, x) = x^p exp(-x - c)``: ``(p f(p - 1, c, x) - f) dx + log(x) f dp - f dc``, 0 log(0) = 0."""
    p, c, x = node.operands
    lower = multiply(differs_from_zero(p), p, apply("gamma_density", shifted(p, -1), c, x))
    return multiply(differs_from_zero(node), apply("log", x), node), negate(node), total(lower, negate(node))


def _beta_density_source(operands: tuple[str, ...], params: Params) -> str:
    p, q, c, x = operands
    sign = "-" if whole(params) < 0 else "+"
    return f"np.exp(special.xlogy({p}, {x}) + special.xlog1py({q}, {sign}{x}) - {c})"


@row(
    "beta_density",
    _beta_density_source,
    (0.5, 3.0),
    (0.5, 3.0),
    (-0.5, 1.0),
    (0.1, 0.9),
    dtype=special_several,
    cost=80,
)
def _beta_density(node: Elementwise) -> Partials:
    """``f(p, q, c, x) = x^p (1 + s x)^q exp(-c)`` with the sign s as parameter; 0 log(0) = 0.

    ``(p f(p - 1) + s q f(q - 1)) dx + log(x) f dp + log(1 + s x) f dq - f dc``.
    """
    p, q, c, x = node.operands
    sign = whole(node.params)
    first = apply("beta_density", shifted(p, -1), q, c, x, params=node.params)
    second = apply("beta_density", p, shifted(q, -1), c, x, params=node.params)
    in_x = total(multiply(differs_from_zero(p), p, first), multiply(differs_from_zero(q), q, second, coefficient=sign))
    known = differs_from_zero(node)
    other = apply("log1p", scale(sign, x))
    return multiply(known, apply("log", x), node), multiply(known, other, node), negate(node), in_x


def density_of_gamma(a: Node, x: Node) -> Node:
    """``x^(a-1) exp(-x)/Gamma(a)``."""
    return apply("gamma_density", shifted(a, -1), apply("gammaln", a), x)


def density_of_beta(a: Node, b: Node, x: Node) -> Node:
    """``x^(a-1) (1-x)^(b-1)/B(a, b)``."""
    return apply("beta_density", shifted(a, -1), shifted(b, -1), apply("betaln", a, b), x, params=(-1,))


_A, _X, _SHARE = (0.5, 4.0), (0.3, 5.0), (0.15, 0.85)
_DISTRIBUTION = "The derivative in the last operand is the density {0}; the others are refused."
_QUANTILE = (
    "The derivative in the last operand is one over the density at the value, with its sign; the others are refused."
)

for _name, _sign in (("gammainc", 1), ("gammaincc", -1)):

    def _of_gamma(node: Elementwise, sign: int = _sign) -> Partials:
        return IN_PARAMETERS, scale(sign, density_of_gamma(*node.operands))

    def _of_gamma_inverse(node: Elementwise, sign: int = _sign) -> Partials:
        return IN_PARAMETERS, scale(sign, apply("reciprocal", density_of_gamma(node.operands[0], node)))

    def _of_beta(node: Elementwise, sign: int = _sign) -> Partials:
        return IN_PARAMETERS, IN_PARAMETERS, scale(sign, density_of_beta(*node.operands))

    def _of_beta_inverse(node: Elementwise, sign: int = _sign) -> Partials:
        a, b, _ = node.operands
        return IN_PARAMETERS, IN_PARAMETERS, scale(sign, apply("reciprocal", density_of_beta(a, b, node)))

    _beta_name = _name.replace("gamma", "beta")
    _signed = "-" if _sign < 0 else ""
    _doc = _DISTRIBUTION.format(f"``{_signed}x^(a-1) exp(-x)/Gamma(a)`` (DLMF 8.8.13)")
    row(_name, f"special.{_name}", _A, _X, dtype=special_several, cost=80, doc=_doc)(_of_gamma)
    row(f"{_name}inv", f"special.{_name}inv", _A, _SHARE, dtype=special_several, cost=120, doc=_QUANTILE)(
        _of_gamma_inverse
    )
    _doc = _DISTRIBUTION.format(f"``{_signed}x^(a-1) (1-x)^(b-1)/B(a, b)`` (DLMF 8.17.1)")
    row(_beta_name, f"special.{_beta_name}", _A, _A, _SHARE, dtype=special_several, cost=120, doc=_doc)(_of_beta)
    row(f"{_beta_name}inv", f"special.{_beta_name}inv", _A, _A, _SHARE, dtype=special_several, cost=200, doc=_QUANTILE)(
        _of_beta_inverse
    )
