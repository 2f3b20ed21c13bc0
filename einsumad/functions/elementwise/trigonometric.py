"""Trigonometric and hyperbolic functions, their inverses, and hypot with its direction cosine.

Owns these rows. Imports the catalogue and graph spelling. Invariant: no partial squares a number whose square
may leave the range of floats while the derivative does not.
"""

from __future__ import annotations

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import floating, floating_one
from einsumad.functions.rows import row
from einsumad.graph import Elementwise, Node, multiply, negate, ones, scale, total, zero


def _one(x: Node) -> Node:
    return ones(x.shape, x.dtype)


@row("sin", "np.sin", (-3.0, 3.0), dtype=floating_one, cost=14)
def _sin(node: Elementwise) -> Partials:
    """``sin'(x) = cos(x)``."""
    return (apply("cos", node.operands[0]),)


@row("cos", "np.cos", (-3.0, 3.0), dtype=floating_one, cost=14)
def _cos(node: Elementwise) -> Partials:
    """``cos'(x) = -sin(x)``."""
    return (negate(apply("sin", node.operands[0])),)


@row("tan", "np.tan", (-1.2, 1.2), dtype=floating_one, cost=20)
def _tan(node: Elementwise) -> Partials:
    """``tan'(x) = 1 + tan(x)^2``."""
    return (total(_one(node), apply("square", node)),)


def _inverse_root(x: Node) -> Node:
    """``1/sqrt(1 - x^2)``, with 1 - x^2 as a product that does not cancel near x = 1 and x = -1."""
    inside = multiply(total(_one(x), negate(x)), total(_one(x), x))
    return apply("power", inside, params=(-0.5,))


@row("arcsin", "np.arcsin", (-0.9, 0.9), dtype=floating_one, cost=20)
def _arcsin(node: Elementwise) -> Partials:
    """``arcsin'(x) = 1/sqrt((1 - x)(1 + x))``: infinite at -1 and 1."""
    return (_inverse_root(node.operands[0]),)


@row("arccos", "np.arccos", (-0.9, 0.9), dtype=floating_one, cost=20)
def _arccos(node: Elementwise) -> Partials:
    """``arccos'(x) = -1/sqrt((1 - x)(1 + x))``: infinite at -1 and 1."""
    return (negate(_inverse_root(node.operands[0])),)


@row("arctan", "np.arctan", (-3.0, 3.0), dtype=floating_one, cost=20)
def _arctan(node: Elementwise) -> Partials:
    """``arctan'(x) = 1/(1 + x^2)``."""
    x = node.operands[0]
    return (apply("reciprocal", total(_one(x), apply("square", x))),)


@row("arctan2", "np.arctan2", (-2.0, 2.0), (0.3, 2.0), dtype=floating, cost=24)
def _arctan2(node: Elementwise) -> Partials:
    """The angle of the point (x, y): ``d arctan2(y, x) = (x dy - y dx)/(x^2 + y^2)``; NaN at the origin.

    Written as ``x/r * 1/r`` with r = hypot(x, y), each factor a function of its own, so that no square is
    formed and no order of multiplication can overflow before the derivative does.
    """
    y, x = node.operands
    inverse = apply("reciprocal", apply("hypot", y, x))
    in_y = multiply(apply("direction_cosine", x, y), inverse)
    return in_y, multiply(apply("direction_cosine", y, x), inverse, coefficient=-1)


@row("hypot", "np.hypot", (-2.0, 2.0), (0.3, 2.0), dtype=floating, cost=10)
def _hypot(node: Elementwise) -> Partials:
    """``r = sqrt(x^2 + y^2)``; ``dr = x/r dx + y/r dy``, and 0 at the origin, as for every norm."""
    x, y = node.operands
    mask = apply("not_equal", node, zero(node.shape, node.dtype))
    return (
        multiply(mask, apply("direction_cosine", x, y)),
        multiply(mask, apply("direction_cosine", y, x)),
    )


@row("direction_cosine", "np.divide({0}, np.hypot({0}, {1}))", (-2.0, 2.0), (0.3, 2.0), dtype=floating, cost=14)
def _direction_cosine(node: Elementwise) -> Partials:
    """``c(x, y) = x/r`` with r = hypot(x, y), NaN at the origin: ``dc = (y/r)^2/r dx - (x/r)(y/r)/r dy``."""
    x, y = node.operands
    other = apply("direction_cosine", y, x)
    inverse = apply("reciprocal", apply("hypot", x, y))
    return multiply(other, other, inverse), multiply(node, other, inverse, coefficient=-1)


@row("sinh", "np.sinh", (-3.0, 3.0), dtype=floating_one, cost=20)
def _sinh(node: Elementwise) -> Partials:
    """``sinh'(x) = cosh(x)``."""
    return (apply("cosh", node.operands[0]),)


@row("cosh", "np.cosh", (-3.0, 3.0), dtype=floating_one, cost=20)
def _cosh(node: Elementwise) -> Partials:
    """``cosh'(x) = sinh(x)``."""
    return (apply("sinh", node.operands[0]),)


@row("tanh", "np.tanh", (-3.0, 3.0), dtype=floating_one, cost=20)
def _tanh(node: Elementwise) -> Partials:
    """``tanh'(x) = 1 - tanh(x)^2``, which needs the value only; its error is that of rounding the value."""
    return (total(_one(node), scale(-1, apply("square", node))),)


@row("log2cosh", "np.logaddexp({0}, -{0})", (-3.0, 3.0), dtype=floating_one, cost=28)
def _log2cosh(node: Elementwise) -> Partials:
    """``log(2 cosh(x))``, computed as log(exp(x) + exp(-x)): its derivative is ``tanh(x)``."""
    return (apply("tanh", node.operands[0]),)


@row("arcsinh", "np.arcsinh", (-3.0, 3.0), dtype=floating_one, cost=24)
def _arcsinh(node: Elementwise) -> Partials:
    """``arcsinh'(x) = 1/sqrt(1 + x^2)``, with the root as a hypotenuse."""
    x = node.operands[0]
    return (apply("reciprocal", apply("hypot", _one(x), x)),)


@row("arccosh", "np.arccosh", (1.1, 5.0), dtype=floating_one, cost=24)
def _arccosh(node: Elementwise) -> Partials:
    """``arccosh'(x) = 1/sqrt(x - 1) 1/sqrt(x + 1)``: infinite at 1."""
    x = node.operands[0]
    below, above = total(x, negate(_one(x))), total(x, _one(x))
    return (multiply(apply("power", below, params=(-0.5,)), apply("power", above, params=(-0.5,))),)


@row("arctanh", "np.arctanh", (-0.9, 0.9), dtype=floating_one, cost=24)
def _arctanh(node: Elementwise) -> Partials:
    """``arctanh'(x) = 1/((1 - x)(1 + x))``: infinite at -1 and 1."""
    x = node.operands[0]
    return (apply("reciprocal", multiply(total(_one(x), negate(x)), total(_one(x), x))),)
