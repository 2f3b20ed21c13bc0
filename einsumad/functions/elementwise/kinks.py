"""Piecewise functions: relu, abs, sign, maxima and minima, rounding, remainders.

Owns these rows. Imports the catalogue and graph spelling. Invariant: derivative 0 at the kink against a
constant, equal split at ties of two variables; the masks are true at NaN, so that a NaN met later on the way
is not lost.
"""

from __future__ import annotations

import numpy as np

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import of_ufunc, with_integer
from einsumad.functions.rows import no_partials, row, whole
from einsumad.graph import Elementwise, Node, Params, multiply, negate, ones, total, zero

_LINE = (-3.0, 3.0)


@row("relu", "np.maximum({0}, 0)", _LINE, dtype=with_integer)
def _relu(node: Elementwise) -> Partials:
    """``relu(x) = max(x, 0)``; ``relu'(x)`` is the mask x > 0, read off the value as ``relu(x) != 0``."""
    return (apply("not_equal", node, zero(node.shape, node.dtype)),)


@row("abs", "np.abs", _LINE, dtype=of_ufunc(np.abs))
def _abs(node: Elementwise) -> Partials:
    """``abs'(x) = sign(x)``: 0 at 0."""
    return (apply("sign", node.operands[0]),)


row(
    "sign",
    "np.sign",
    _LINE,
    dtype=of_ufunc(np.sign),
    doc="The sign is piecewise constant: derivative 0 everywhere, also at 0.",
)(no_partials)

for _name, _ufunc, _way in (
    ("floor", np.floor, "down"),
    ("ceil", np.ceil, "up"),
    ("round", np.rint, "to the nearest integer (ties to even)"),
    ("trunc", np.trunc, "towards zero"),
):
    _doc = f"Rounding {_way} is piecewise constant: derivative 0."
    row(_name, f"np.{_ufunc.__name__}", _LINE, dtype=of_ufunc(_ufunc), doc=_doc)(no_partials)


def _rounded(operands: tuple[str, ...], params: Params) -> str:
    return f"np.round({operands[0]}, {whole(params)})"


@row("round_decimals", _rounded, _LINE, dtype=with_integer, cost=3)
def _round_decimals(node: Elementwise) -> Partials:
    """Rounding to a number of decimals, the parameter, is piecewise constant: derivative 0."""
    return no_partials(node)


def _split(beaten: str, node: Elementwise) -> tuple[Node, Node]:
    """1 where the operand wins, 1/2 at a tie, 0 where it is beaten: the last by a mask."""
    a, b = node.operands
    tie = multiply(apply("equal", a, b), coefficient=-0.5, dtype=node.dtype)
    weight = total(ones(node.shape, node.dtype), tie)

    def share(own: Node, other: Node) -> Node:
        return multiply(apply("logical_not", apply(beaten, own, other)), weight)

    return share(a, b), share(b, a)


@row("maximum", "np.maximum", _LINE, _LINE, dtype=of_ufunc(np.maximum), symbol="max")
def _maximum(node: Elementwise) -> Partials:
    """``d max(a, b) = [a > b] da + [b > a] db``, and one half of each where a = b."""
    return _split("less", node)


@row("minimum", "np.minimum", _LINE, _LINE, dtype=of_ufunc(np.minimum), symbol="min")
def _minimum(node: Elementwise) -> Partials:
    """``d min(a, b) = [a < b] da + [b < a] db``, and one half of each where a = b."""
    return _split("greater", node)


@row("maximum_constant", "np.maximum", _LINE, _LINE, dtype=of_ufunc(np.maximum), symbol="max")
def _maximum_constant(node: Elementwise) -> Partials:
    """``d max(x, c) = [x > c] dx`` for a constant c, 0 at the kink; the mask is ``max(x, c) != c``."""
    return apply("not_equal", node, node.operands[1]), None


@row("minimum_constant", "np.minimum", _LINE, _LINE, dtype=of_ufunc(np.minimum), symbol="min")
def _minimum_constant(node: Elementwise) -> Partials:
    """``d min(x, c) = [x < c] dx`` for a constant c, 0 at the kink; the mask is ``min(x, c) != c``."""
    return apply("not_equal", node, node.operands[1]), None


def _split_without_nan(beaten: str, node: Elementwise) -> Partials:
    """The same where a NaN is beaten by every number."""
    shares = _split(beaten, node)
    a, b = (apply("isnan", operand) for operand in node.operands)

    def taken(share: Node, own: Node, other: Node) -> Node:
        lost = apply("logical_and", own, apply("logical_not", other))
        return multiply(apply("logical_not", lost), share)

    return taken(shares[0], a, b), taken(shares[1], b, a)


@row("fmax", "np.fmax", _LINE, _LINE, dtype=of_ufunc(np.fmax), symbol="max")
def _fmax(node: Elementwise) -> Partials:
    """The maximum that ignores NaN: as ``maximum``, and 1 where the other operand is NaN."""
    return _split_without_nan("less", node)


@row("fmin", "np.fmin", _LINE, _LINE, dtype=of_ufunc(np.fmin), symbol="min")
def _fmin(node: Elementwise) -> Partials:
    """The minimum that ignores NaN: as ``minimum``, and 1 where the other operand is NaN."""
    return _split_without_nan("greater", node)


@row("fmax_constant", "np.fmax", _LINE, _LINE, dtype=of_ufunc(np.fmax), symbol="max")
def _fmax_constant(node: Elementwise) -> Partials:
    """The maximum with a constant c that ignores NaN: ``[fmax(x, c) != c] dx``, 0 at the kink."""
    return apply("not_equal", node, node.operands[1]), None


@row("fmin_constant", "np.fmin", _LINE, _LINE, dtype=of_ufunc(np.fmin), symbol="min")
def _fmin_constant(node: Elementwise) -> Partials:
    """The minimum with a constant c that ignores NaN: ``[fmin(x, c) != c] dx``, 0 at the kink."""
    return apply("not_equal", node, node.operands[1]), None


row(
    "floor_divide",
    "np.floor_divide",
    _LINE,
    (0.4, 2.0),
    dtype=of_ufunc(np.floor_divide),
    cost=8,
    symbol="//",
    doc="The quotient rounded down is piecewise constant: derivative 0.",
)(no_partials)


@row("remainder", "np.remainder", _LINE, (0.4, 2.0), dtype=of_ufunc(np.remainder), cost=8, symbol="%")
def _remainder(node: Elementwise) -> Partials:
    """``x - y floor(x/y)``: ``d = dx - floor(x/y) dy``; at a jump the derivative from the side of the value."""
    return ones(node.shape, node.dtype), negate(apply("floor_divide", *node.operands))


@row("fmod", "np.fmod", _LINE, (0.4, 2.0), dtype=of_ufunc(np.fmod), cost=8)
def _fmod(node: Elementwise) -> Partials:
    """``x - y trunc(x/y)``: ``d = dx - trunc(x/y) dy``, with the whole quotient found from the value."""
    x, y = node.operands
    quotient = multiply(total(x, negate(node)), apply("reciprocal", y))
    return ones(node.shape, node.dtype), negate(apply("round", quotient))


@row("copysign", "np.copysign", _LINE, _LINE, dtype=of_ufunc(np.copysign))
def _copysign(node: Elementwise) -> Partials:
    """``|x|`` with the sign of y: ``d = sign(x) copysign(1, y) dx``, 0 at x = 0, and 0 in y."""
    x, y = node.operands
    return multiply(apply("sign", x), apply("copysign", ones(node.shape, node.dtype), y)), None


@row("heaviside", "np.heaviside", _LINE, _LINE, dtype=of_ufunc(np.heaviside))
def _heaviside(node: Elementwise) -> Partials:
    """0 for x < 0, h for x = 0, 1 for x > 0: derivative 0 in x, ``[x = 0] dh``."""
    x, _ = node.operands
    return None, apply("equal", x, zero(node.shape, node.dtype))
