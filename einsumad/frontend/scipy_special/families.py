"""Ufuncs of ``scipy.special`` with an order or a degree: Bessel functions, polynomials, exponential integrals.

Owns the tables from such ufuncs to rows with parameters. Imports the registry, the parameters and the catalogue.
Invariant: orders are plain numbers or arrays; a traced one is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import floating, ufunc_operands
from einsumad.frontend.registry import implements_special, qualified_name
from einsumad.frontend.scipy_special.parameters import Parameters, at_least_zero, number_of, plain, selected
from einsumad.functions import apply
from einsumad.functions.elementwise.bessel import bessel
from einsumad.graph import Node, constant_like, multiply, scale, total, zero

Build = Callable[[Node, Parameters], Node]


def _with_row(name: str) -> Build:
    return lambda x, params: row(name, x, params=params)


def _bessel(letter: str) -> Build:
    return lambda x, params: bessel(letter, params[0], x)


def _scaled(name: str) -> Build:
    """Scaled functions have the same value for the orders n and -n, for whole n, and K for all."""

    def build(x: Node, params: Parameters) -> Node:
        order = params[0]
        return row(name, x, params=(abs(order) if isinstance(order, int) or name == "bessel_ke" else order, 0))

    return build


def _doubled(x: Node) -> Node:
    """``2 x - 1``, from the interval [0, 1] to [-1, 1]."""
    return total(scale(2, x), constant_like(-1, x))


def _shifted_jacobi(x: Node, params: Parameters) -> Node:
    """``G_n^(p,q)(x) = n! Gamma(n + p)/Gamma(2 n + p) P_n^(p-q,q-1)(2 x - 1)``."""
    n, p, q = params
    front = np.prod([(k + 1) / (n + p + k) for k in range(int(n))])
    return scale(float(front), row("jacobi", _doubled(x), params=(n, float(p - q), float(q - 1))))


def _gegenbauer(weight: float, inner: Callable[[Node], Node]) -> Build:
    return lambda x, params: row("gegenbauer", inner(x), params=(params[0], weight))


def _same(x: Node) -> Node:
    return x


def _half(x: Node) -> Node:
    return scale(0.5, x)


_ORDERS: dict[str, tuple[Build, str, bool]] = {
    **{f"{letter}v": (_bessel(letter), "order", False) for letter in "jyik"},
    "jve": (_bessel("j"), "order", False),
    "yve": (_bessel("y"), "order", False),
    "yn": (_bessel("y"), "order", True),
    "kn": (_bessel("k"), "order", True),
    "ive": (_scaled("bessel_ie"), "order", False),
    "kve": (_scaled("bessel_ke"), "order", False),
    "struve": (_with_row("struve"), "order", False),
    "modstruve": (_with_row("modstruve"), "order", False),
    "expn": (_with_row("expn"), "order", True),
}
_DEGREES: dict[str, Build] = {
    "eval_jacobi": lambda x, p: row("jacobi", x, params=(p[0], float(p[1]), float(p[2]))),
    "eval_sh_jacobi": _shifted_jacobi,
    "eval_gegenbauer": lambda x, p: row("gegenbauer", x, params=(p[0], float(p[1]))),
    "eval_genlaguerre": lambda x, p: row("laguerre", x, params=(p[0], float(p[1]))),
    "eval_laguerre": lambda x, p: row("laguerre", x, params=(p[0], 0.0)),
    "eval_hermite": _with_row("hermite"),
    "eval_hermitenorm": _with_row("hermite_normal"),
    "eval_legendre": _gegenbauer(0.5, _same),
    "eval_sh_legendre": _gegenbauer(0.5, _doubled),
    "eval_chebyt": _with_row("chebyshev"),
    "eval_sh_chebyt": lambda x, p: row("chebyshev", _doubled(x), params=p),
    "eval_chebyc": lambda x, p: scale(2, row("chebyshev", _half(x), params=p)),
    "eval_chebyu": _gegenbauer(1.0, _same),
    "eval_sh_chebyu": _gegenbauer(1.0, _doubled),
    "eval_chebys": _gegenbauer(1.0, _half),
}


@implements_special(*_ORDERS)
def _of_order(ufunc: np.ufunc, order: Any, x: Any) -> Node:
    build, what, whole = _ORDERS[ufunc.__name__]
    name = qualified_name(ufunc)
    orders = plain(name, what, order, whole)
    _, dtype = ufunc_operands(ufunc, order, x)
    (operand,) = floating(name, dtype, [as_node(x, dtype)])
    if ufunc.__name__ == "expn":
        at_least_zero(name, orders)
    if ufunc.__name__ == "ive" and np.any((orders < 0) & (orders != np.floor(orders))):
        raise refused(name, "of an order below 0 that is not whole")
    return selected(name, [orders], operand, build)


@implements_special(*_DEGREES)
def _of_degree(ufunc: np.ufunc, degree: Any, *rest: Any) -> Node:
    name = qualified_name(ufunc)
    *weights, x = rest
    degrees = plain(name, "degree", degree, whole=True)
    at_least_zero(name, degrees)
    parameters = [degrees, *[plain(name, "weight", weight) for weight in weights]]
    _, dtype = ufunc_operands(ufunc, degree, *rest)
    (operand,) = floating(name, dtype, [as_node(x, dtype)])
    return selected(name, parameters, operand, _DEGREES[ufunc.__name__])


@implements_special("besselpoly")
def _besselpoly(ufunc: np.ufunc, a: Any, power: Any, order: Any) -> Node:
    name = qualified_name(ufunc)
    parameters = [plain(name, "exponent", power), plain(name, "order", order)]
    _, dtype = ufunc_operands(ufunc, a, power, order)
    (operand,) = floating(name, dtype, [as_node(a, dtype)])
    return selected(name, parameters, operand, _with_row("bessel_moment"))


_CYLINDERS = ("pbdv", "pbvv", "pbwa")


@implements_special(*_CYLINDERS)
def _parabolic_cylinder(ufunc: np.ufunc, order: Any, x: Any) -> tuple[Node, Node]:
    name, kind = qualified_name(ufunc), _CYLINDERS.index(ufunc.__name__)
    orders = plain(name, "order", order)
    _, dtype = ufunc_operands(ufunc, order, x)
    (operand,) = floating(name, dtype, [as_node(x, dtype)])

    def part(slope: int) -> Node:
        return selected(name, [orders], operand, lambda z, p: row("parabolic_cylinder", z, params=(kind, p[0], slope)))

    return part(0), part(1)


@implements_special("lpmv")
def _lpmv(ufunc: np.ufunc, order: Any, degree: Any, x: Any) -> Node:
    name = qualified_name(ufunc)
    orders, degrees = plain(name, "order", order, whole=True), plain(name, "degree", degree, whole=True)
    at_least_zero(name, degrees)
    _, dtype = ufunc_operands(ufunc, order, degree, x)
    (operand,) = floating(name, dtype, [as_node(x, dtype)])
    return selected(name, [orders, degrees], operand, associated_legendre)


def associated_legendre(x: Node, params: Parameters) -> Node:
    """``P_n^m = (-1)^m (2m - 1)!! (1 - x^2)^(m/2) C_(n-m)^(m+1/2)`` (DLMF 14.6.1, 18.11.1), reflected for m < 0."""
    order, degree = int(params[0]), int(params[1])
    m = abs(order)
    if m > degree:
        if order < 0:
            raise refused("scipy.special.lpmv", "of an order below -degree")
        return zero(x.shape, x.dtype)
    front = float(np.prod(np.arange(1.0, 2 * m, 2))) * (-1) ** m
    if order < 0:
        front *= (-1) ** m / float(np.prod(np.arange(degree - m + 1.0, degree + m + 1)))
    polynomial = row("gegenbauer", x, params=(degree - m, m + 0.5))
    if m == 0:
        return polynomial
    one = constant_like(1, x)
    inside = apply("power", multiply(total(one, scale(-1, x)), total(one, x)), params=(number_of(m / 2),))
    return scale(front, multiply(inside, polynomial))
