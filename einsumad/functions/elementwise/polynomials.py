"""Orthogonal polynomials of whole degree.

Owns these rows. Imports the catalogue and graph spelling. Invariant: degree and weights are parameters, the derivative
is a polynomial of the next lower degree and raised weights, and that of degree zero is zero; values are computed in
double precision by the recurrence for whole degrees.
"""

from __future__ import annotations

from einsumad.functions.catalogue import Partials, Source, apply
from einsumad.functions.dtypes import special
from einsumad.functions.rows import in_own_dtype, literal, number, row, whole
from einsumad.graph import Elementwise, Params, scale

_LINE = (-0.9, 0.9)


def _source(name: str) -> Source:
    def source(operands: tuple[str, ...], params: Params) -> str:
        degree, x = whole(params), operands[0]
        weights = "".join([f", {literal(float(number(params, k)))}" for k in range(1, len(params))])
        return in_own_dtype(f"special.eval_{name}({degree}{weights}, np.float64({x}))", x)

    return source


def _lower(node: Elementwise, factor: float, raised: int) -> Partials:
    """The polynomial of the next lower degree, all weights raised by a number, times the factor."""
    degree, *weights = [number(node.params, k) for k in range(len(node.params))]
    if degree == 0:
        return (None,)
    params = (degree - 1, *[float(weight + raised) for weight in weights])
    return (scale(factor, apply(node.function, node.operands[0], params=params)),)


@row("jacobi", _source("jacobi"), _LINE, dtype=special, cost=60, symbol="P")
def _jacobi(node: Elementwise) -> Partials:
    """``d/dx P_n^(a,b) = (n + a + b + 1)/2 P_(n-1)^(a+1,b+1)`` (DLMF 18.9.15)."""
    degree, first, second = (number(node.params, k) for k in range(3))
    return _lower(node, (degree + first + second + 1) / 2, 1)


@row("gegenbauer", _source("gegenbauer"), _LINE, dtype=special, cost=60, symbol="C")
def _gegenbauer(node: Elementwise) -> Partials:
    """``d/dx C_n^(a) = 2 a C_(n-1)^(a+1)`` (DLMF 18.9.19)."""
    return _lower(node, 2 * number(node.params, 1), 1)


@row("laguerre", _source("genlaguerre"), (0.2, 4.0), dtype=special, cost=60, symbol="L")
def _laguerre(node: Elementwise) -> Partials:
    """``d/dx L_n^(a) = -L_(n-1)^(a+1)`` (DLMF 18.9.23)."""
    return _lower(node, -1, 1)


@row("hermite", _source("hermite"), (-2.0, 2.0), dtype=special, cost=40)
def _hermite(node: Elementwise) -> Partials:
    """``H_n' = 2 n H_(n-1)`` (DLMF 18.9.25)."""
    return _lower(node, 2 * whole(node.params), 0)


@row("hermite_normal", _source("hermitenorm"), (-2.0, 2.0), dtype=special, cost=40, symbol="He")
def _hermite_normal(node: Elementwise) -> Partials:
    """``He_n' = n He_(n-1)`` (DLMF 18.9.27)."""
    return _lower(node, whole(node.params), 0)


@row("chebyshev", _source("chebyt"), _LINE, dtype=special, cost=40, symbol="T")
def _chebyshev(node: Elementwise) -> Partials:
    """``T_n' = n U_(n-1)`` with ``U_n = C_n^(1)`` (DLMF 18.9.21, 18.7.4)."""
    degree = whole(node.params)
    if degree == 0:
        return (None,)
    return (scale(degree, apply("gegenbauer", node.operands[0], params=(degree - 1, 1.0))),)
