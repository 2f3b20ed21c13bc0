"""Piecewise functions: relu, abs, sign, maxima and minima, rounding.

Owns these rows. Imports the catalogue and graph spelling. Invariant: derivative 0 at the kink against a
constant, equal split at ties of two variables; the masks are true at NaN, so that a NaN met later on the way
is not lost.
"""

from __future__ import annotations

import numpy as np

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import of_ufunc, with_integer
from einsumad.functions.rows import no_partials, row
from einsumad.graph import Elementwise, Node, multiply, ones, total, zero

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


def _split(beaten: str, node: Elementwise) -> Partials:
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
