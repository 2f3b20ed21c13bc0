"""Maxima and minima of values that stand for several equal entries, and scaling by powers of two.

Owns these rows. Imports the catalogue and graph spelling. Invariant: a tie is split in proportion to the numbers of
entries that both sides stand for, so that all entries of a running maximum share its derivative equally.
"""

from __future__ import annotations

import numpy as np

from einsumad.functions.catalogue import Partials, apply
from einsumad.functions.dtypes import Dtypes, floating_one, of_ufunc
from einsumad.functions.rows import row
from einsumad.graph import Elementwise, Node, Params, multiply, negate, ones, total

_LINE = (-3.0, 3.0)
_COUNT = (1.0, 4.0)


def _first_two(dtypes: Dtypes, params: Params) -> np.dtype:
    return of_ufunc(np.maximum)(dtypes[:2], params)


def _shares(beaten: str, node: Elementwise) -> Partials:
    a, b, p, q = node.operands
    one = ones(node.shape, node.dtype)
    several = apply("reciprocal", apply("maximum", total(p, q), one))
    tie = apply("equal", a, b)

    def share(own: Node, other: Node, of_other: Node) -> Node:
        taken = multiply(tie, of_other, several, dtype=node.dtype)
        return multiply(apply("logical_not", apply(beaten, own, other)), total(one, negate(taken)))

    return share(a, b, q), share(b, a, p), None, None


@row("maximum_of_counted", "np.maximum({0}, {1})", _LINE, _LINE, _COUNT, _COUNT, dtype=_first_two, symbol="max")
def _maximum(node: Elementwise) -> Partials:
    """``max(a, b)``, where a stands for p equal entries and b for q.

    ``d = [a > b] da + [b > a] db``, and ``(p da + q db)/(p + q)`` where a = b; entries that count 0 have no share.
    """
    return _shares("less", node)


@row("minimum_of_counted", "np.minimum({0}, {1})", _LINE, _LINE, _COUNT, _COUNT, dtype=_first_two, symbol="min")
def _minimum(node: Elementwise) -> Partials:
    """``min(a, b)``, where a stands for p equal entries and b for q.

    ``d = [a < b] da + [b < a] db``, and ``(p da + q db)/(p + q)`` where a = b; entries that count 0 have no share.
    """
    return _shares("greater", node)


# np.where keeps the dtype where the first operand is written as a number
_SCALED = "np.ldexp(np.where(True, {0}, {1}), np.asarray({1}, np.int64))"


@row("ldexp", _SCALED, _LINE, (-2.0, 2.0), dtype=floating_one)
def _ldexp(node: Elementwise) -> Partials:
    """``x 2^n`` for a whole number n, which has no derivative: ``d = 2^n dx``."""
    x, exponent = node.operands
    return apply("ldexp", ones(x.shape, x.dtype), exponent), None
