"""Truncated power series as numbers: exact derivatives of polynomial graphs along a line, in integers and fractions.

The reference interpreter, exact, computes with any objects that know ``+`` and ``*``. Leaves of the form ``x + t v``
give ``f(x + t v)``, whose coefficient of ``t**k`` is the k-th directional derivative over k factorial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Any

import numpy as np

from einsumad.execution.reference import evaluate
from einsumad.graph import Leaf, Node

Array = np.ndarray[Any, Any]


class Jet:
    """``c0 + c1 t + ... + ck t**k``; comparisons see ``t = 0``."""

    __slots__ = ("c",)

    def __init__(self, coefficients: Sequence[Any]) -> None:
        self.c = tuple(coefficients)

    def lift(self, other: Any) -> Jet:
        return other if isinstance(other, Jet) else Jet((other, *[0] * (len(self.c) - 1)))

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Jet([a + b for a, b in zip(self.c, self.lift(other).c, strict=True)])

    __radd__ = __add__

    def __mul__(self, other: Any) -> Jet:
        if isinstance(other, np.ndarray):
            return NotImplemented
        right = self.lift(other).c
        return Jet([sum(self.c[j] * right[k - j] for j in range(k + 1)) for k in range(len(self.c))])

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Jet:
        result = self.lift(1)
        for _ in range(exponent):
            result = result * self
        return result

    def __gt__(self, other: Any) -> bool:
        return bool(self.c[0] > self.lift(other).c[0])

    def __lt__(self, other: Any) -> bool:
        return bool(self.c[0] < self.lift(other).c[0])

    def __ge__(self, other: Any) -> bool:
        return bool(self.c[0] >= self.lift(other).c[0])

    def __le__(self, other: Any) -> bool:
        return bool(self.c[0] <= self.lift(other).c[0])

    def __eq__(self, other: object) -> bool:
        return bool(self.c[0] == self.lift(other).c[0])

    def __ne__(self, other: object) -> bool:
        return bool(self.c[0] != self.lift(other).c[0])

    __hash__ = None  # type: ignore[assignment]


def directional(root: Node, values: Mapping[Leaf, Array], directions: Mapping[Leaf, Array], order: int) -> list[Array]:
    """The value and the first derivatives up to `order` along ``x + t v``, exact; all values are whole numbers."""
    lines: dict[Leaf, Array] = {}
    for leaf, value in values.items():
        line = np.empty(leaf.shape, object)
        for position in np.ndindex(*leaf.shape):
            slope = int(directions[leaf][position]) if leaf in directions else 0
            line[position] = Jet((int(value[position]), slope, *[0] * (order - 1)))
        lines[leaf] = line if leaf in directions else value.astype(object)
    series = evaluate([root], lines, exact=True)[0]
    results = [np.empty(root.shape, object) for _ in range(order + 1)]
    for position in np.ndindex(*root.shape):
        entry = series[position]
        c = entry.c if isinstance(entry, Jet) else (entry, *[0] * order)
        for k in range(order + 1):
            results[k][position] = c[k] * factorial(k)
    return results
