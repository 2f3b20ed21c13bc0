"""Weights of difference formulas on the points 0, ±1, ±2, ±4, ±8, in exact arithmetic.

Owns the weights. Imports nothing of the toolkit. Invariant: a formula on m points is exact for polynomials of degree
m - 1. (B. Fornberg, *Generation of finite difference formulas on arbitrarily spaced grids*, Math. Comp. 51, 1988.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import factorial, lcm
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@cache
def weights(nodes: tuple[int, ...], order: int) -> Array:
    """The weights that give the derivative of that order at 0 from values at the nodes.

    >>> weights((-1, 0, 1), 2).tolist()
    [1.0, -2.0, 1.0]
    >>> (12 * weights((-2, -1, 0, 1, 2), 1)).round(9).tolist()
    [1.0, -8.0, 0.0, 8.0, -1.0]
    """
    result = np.array([float(weight) for weight in _fractions(nodes, order)])
    result.setflags(write=False)
    return result


@cache
def whole_weights(nodes: tuple[int, ...], order: int) -> tuple[Array, int]:
    """The same weights as whole numbers over a common denominator.

    >>> numerators, denominator = whole_weights((-2, -1, 0, 1, 2), 1)
    >>> numerators.tolist(), denominator
    ([1, -8, 0, 8, -1], 12)
    """
    exact = _fractions(nodes, order)
    denominator = lcm(*[weight.denominator for weight in exact])
    numerators = np.array([int(weight * denominator) for weight in exact])
    numerators.setflags(write=False)
    return numerators, denominator


def _fractions(nodes: tuple[int, ...], order: int) -> list[Fraction]:
    return [factorial(order) * _lagrange(nodes, k)[order] for k in range(len(nodes))]


def _lagrange(nodes: Sequence[int], which: int) -> list[Fraction]:
    """The coefficients, lowest first, of the polynomial that is 1 at one node and 0 at the others."""
    coefficients = [Fraction(1)]
    for k, node in enumerate(nodes):
        if k != which:
            denominator = nodes[which] - node
            shifted = [Fraction(0), *coefficients]
            stretched = [c * node for c in coefficients] + [Fraction(0)]
            coefficients = [(a - b) / denominator for a, b in zip(shifted, stretched, strict=True)]
    return coefficients
