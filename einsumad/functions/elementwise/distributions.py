"""Distribution functions that are not an incomplete gamma or beta function in other words: Student's and Tukey's.

Owns these rows. Imports the catalogue and graph spelling. Invariant: the derivative is the density, and that of a
quantile one over the density at the quantile; derivatives in the parameters are refused.
"""

from __future__ import annotations

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import special_two
from einsumad.functions.elementwise.gammas import IN_PARAMETERS, shifted
from einsumad.functions.rows import row
from einsumad.graph import Elementwise, Node, constant_like, multiply, negate, scale, total, zero


def _density_of_student(freedom: Node, t: Node) -> Node:
    """``(1 + t^2/v)^(-(v + 1)/2) / (sqrt(v) B(1/2, v/2))``."""
    half = scale(0.5, freedom)
    norm = total(apply("betaln", constant_like(0.5, half), half), scale(0.5, apply("log", freedom)))
    inside = multiply(apply("square", t), apply("reciprocal", freedom))
    power = scale(-0.5, shifted(freedom, 1))
    return apply("beta_density", zero(t.shape, t.dtype), power, norm, inside, params=(1,))


@row("stdtr", "special.stdtr", (0.7, 6.0), (-3.0, 3.0), dtype=special_two, cost=100)
def _stdtr(node: Elementwise) -> Partials:
    """Student's distribution function: its density in t; the derivative in the degrees of freedom is refused."""
    return IN_PARAMETERS, _density_of_student(*node.operands)


@row("stdtrit", "special.stdtrit", (0.7, 6.0), (0.1, 0.9), dtype=special_two, cost=200)
def _stdtrit(node: Elementwise) -> Partials:
    """The quantile of Student's distribution: one over the density there."""
    return IN_PARAMETERS, apply("reciprocal", _density_of_student(node.operands[0], node))


@row("tklmbda", "special.tklmbda", (-1.5, 1.5), (-0.5, 0.4), dtype=special_two, cost=200)
def _tklmbda(node: Elementwise) -> Partials:
    """The distribution with quantile ``(p^l - (1-p)^l)/l``: ``1/(p^(l-1) + (1-p)^(l-1)) dx``, 0 outside of its support.

    ``1 - p`` is the value at -x, so neither tail cancels.
    """
    x, exponent = node.operands
    other = apply("tklmbda", negate(x), exponent)
    less = shifted(exponent, -1)
    both = total(apply("power_xy", node, less), apply("power_xy", other, less))
    nothing = zero(x.shape, x.dtype)
    inside = multiply(apply("not_equal", node, nothing), apply("not_equal", other, nothing))
    return multiply(inside, apply("reciprocal", both)), IN_PARAMETERS
