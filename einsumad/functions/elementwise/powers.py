"""Powers and roots: sqrt, square, reciprocal, powers with constant or differentiated exponent, norm_root.

Owns these rows. Imports the catalogue and graph spelling. Invariant: no logarithm of the base unless the
exponent is differentiated; at base zero the derivatives are the limits wherever the limits exist.
"""

from __future__ import annotations

import numpy as np

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import constant_power, floating_one, of_ufunc, power, power_special, quotient
from einsumad.functions.rows import literal, number, row, whole
from einsumad.graph import Elementwise, Node, Params, cast, constant_like, multiply, ones, scale, total, zero


def power_of(x: Node, exponent: float) -> Node:
    """The expression ``x**exponent`` for a float operand, with the row that computes it best."""
    if exponent == 0:
        return ones(x.shape, x.dtype)
    if exponent == 1:
        return x
    if exponent == 2:
        return apply("square", x)
    if exponent == -1:
        return apply("reciprocal", x)
    return apply("power", x, params=(exponent,))


@row("sqrt", "np.sqrt", (0.1, 5.0), dtype=floating_one, cost=6)
def _sqrt(node: Elementwise) -> Partials:
    """``sqrt'(x) = 1/(2 sqrt(x))``: infinite at 0."""
    return (scale(0.5, apply("reciprocal", node)),)


@row("cbrt", "np.cbrt", (0.1, 5.0), dtype=floating_one, cost=20)
def _cbrt(node: Elementwise) -> Partials:
    """``cbrt'(x) = 1/(3 cbrt(x)^2)``: infinite at 0."""
    return (scale(1 / 3, apply("power", node, params=(-2,))),)


@row("square", "np.square", (-3.0, 3.0), dtype=of_ufunc(np.square))
def _square(node: Elementwise) -> Partials:
    """``(x^2)' = 2 x``."""
    return (scale(2, node.operands[0]),)


@row("reciprocal", "np.reciprocal", (0.3, 4.0), dtype=quotient, cost=4, symbol="1/")
def _reciprocal(node: Elementwise) -> Partials:
    """``(1/x)' = -(1/x)^2``, for x != 0."""
    return (multiply(node, node, coefficient=-1),)


def _power_source(operands: tuple[str, ...], params: Params) -> str:
    """Write the ufunc for a special exponent, as NumPy's ``**`` chooses it."""
    exponent = number(params)
    special = {2: "square", -1: "reciprocal", 0.5: "sqrt"}.get(exponent)
    if special is not None:
        return f"np.{special}({operands[0]})"
    return f"np.power({operands[0]}, {literal(exponent)})"


@row("power", _power_source, (0.2, 3.0), dtype=constant_power, cost=20, symbol="^", takes_out=True)
def _power(node: Elementwise) -> Partials:
    """``(x^p)' = p x^(p-1)`` for a constant p, the only parameter.

    p = 0 gives no derivative and p = 1 the constant 1, also at x = 0 and NaN; so x^2 and x^3 are exact at 0
    to every order, and no ``0 * inf`` arises.
    """
    exponent = number(node.params)
    if exponent == 0:
        return (None,)
    if exponent == 1:
        return (constant_like(1, node),)
    return (scale(exponent, power_of(node.operands[0], exponent - 1)),)


def _not_both_zero(x: Node, p: Node) -> Node:
    """The mask that is false where base and exponent are both zero."""
    nothing = zero(x.shape, x.dtype)
    return apply("logical_or", apply("not_equal", x, nothing), apply("not_equal", p, nothing))


def _decrement(p: Node) -> Node:
    return total(p, constant_like(-1, p))


@row("power_xy", "np.power", (0.2, 3.0), (-2.0, 3.0), dtype=power, cost=20, symbol="^")
def _power_xy(node: Elementwise) -> Partials:
    """``d(x^p) = p x^(p-1) dx + log(x) x^p dp``.

    At x = 0: the derivative in x is 0 for p > 1, 1 for p = 1, infinite for p < 1, and by convention 0 for p =
    0 (a mask that is false only where x = p = 0, because elsewhere ``p x^(p-1)`` has to keep its own
    derivative in p). The derivative in p is 0 for p > 0, see ``power_log``.
    """
    x, p = node.operands
    in_x = multiply(_not_both_zero(x, p), p, apply("power_xy", x, _decrement(p)))
    return in_x, cast(apply("power_log", x, p, params=(1,)), node.dtype)


def _power_log_source(operands: tuple[str, ...], params: Params) -> str:
    """Write ``x^p log(x)^k`` with `xlogy`, which is 0 where the power is 0."""
    x, p = operands
    text = f"np.power({x}, {p})"
    for _ in range(whole(params)):
        text = f"special.xlogy({text}, {x})"
    return text


@row("power_log", _power_log_source, (0.2, 3.0), (-2.0, 3.0), dtype=power_special, cost=36, takes_out=True)
def _power_log(node: Elementwise) -> Partials:
    """``x^p log(x)^k`` for k = 1, 2, ..., the k-th derivative of x^p in p; its limit 0 where x = 0 and p > 0.

    ``d = (p x^(p-1) log(x)^k + k x^(p-1) log(x)^(k-1)) dx + x^p log(x)^(k+1) dp``.
    """
    x, p = node.operands
    order = whole(node.params)
    less = _decrement(p)
    lower = apply("power_log", x, less, params=(order - 1,)) if order > 1 else apply("power_xy", x, less)
    first = multiply(_not_both_zero(x, p), p, apply("power_log", x, less, params=(order,)))
    return total(first, scale(order, lower)), apply("power_log", x, p, params=(order + 1,))


@row("norm_root", "np.sqrt", (0.1, 5.0), dtype=floating_one, cost=6)
def _norm_root(node: Elementwise) -> Partials:
    """``sqrt(s)`` of a sum of squares, with derivative 0 at 0 to every order: ``1/(2 sqrt(s))`` where s != 0.

    The convention for norm and standard deviation. The mask is true at NaN, so that a NaN stays one.
    """
    s = node.operands[0]
    mask = apply("not_equal", s, zero(s.shape, s.dtype))
    return (multiply(mask, apply("reciprocal", node), coefficient=0.5),)
