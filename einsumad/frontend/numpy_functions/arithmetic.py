"""Sums, products, quotients and powers.

Owns these ufuncs. Imports the registry, promotion and broadcasting. Invariant: a product or quotient is one
product node whose factors keep their own index sets; nothing is spread out for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.broadcasting import broadcast_shape, constant_of, product
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import canonical, is_python_number
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import ufunc_operands
from einsumad.frontend.registry import arrays_are_nodes, implements_ufunc, qualified_name
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, add, leaf

_EXACT_RECIPROCALS = frozenset({1, -1, 2, -2, 0.5, -0.5})


@implements_ufunc(np.add)
@arrays_are_nodes(np.add)
def _add(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    (a, b), dtype = ufunc_operands(ufunc, x, y)
    return row("logical_or", a, b) if dtype == BOOL else _sum(a, b, 1, dtype)


@implements_ufunc(np.subtract)
@arrays_are_nodes(np.subtract)
def _subtract(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    (a, b), dtype = ufunc_operands(ufunc, x, y)
    _refuse_unsigned(ufunc, dtype)
    return _sum(a, b, -1, dtype)


def _sum(a: Node, b: Node, sign: int, dtype: np.dtype) -> Node:
    shape = broadcast_shape(a.shape, b.shape)
    return add([product([a], dtype, shape=shape), product([b], dtype, sign, shape)], dtype)


@implements_ufunc(np.multiply)
@arrays_are_nodes(np.multiply)
def _multiply(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    (a, b), dtype = ufunc_operands(ufunc, x, y)
    return row("logical_and", a, b) if dtype == BOOL else product([a, b], dtype)


@implements_ufunc(np.true_divide)
@arrays_are_nodes(np.true_divide)
def _divide(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    (a, b), dtype = ufunc_operands(ufunc, x, y)
    divisor = constant_of(b)
    if divisor in _EXACT_RECIPROCALS:
        shape = broadcast_shape(a.shape, b.shape)
        return product([a], dtype, 1 / divisor, shape)
    if constant_of(a) == 0 and not a.shape:
        a = leaf((), dtype, ("number", 0))  # a zero to be divided by zero, which is NaN, is no structural one
    return product([a, apply("reciprocal", b)], dtype)


@implements_ufunc(np.negative)
def _negative(ufunc: np.ufunc, x: Any) -> Node:
    (a,), dtype = ufunc_operands(ufunc, x)
    _refuse_unsigned(ufunc, dtype)
    return product([a], dtype, -1)


@implements_ufunc(np.square)
def _square(ufunc: np.ufunc, x: Any) -> Node:
    (a,), dtype = ufunc_operands(ufunc, x)
    return row("power", a, params=(2,), dtype=dtype)


@implements_ufunc(np.reciprocal)
def _reciprocal(ufunc: np.ufunc, x: Any) -> Node:
    (a,), dtype = ufunc_operands(ufunc, x)
    if dtype.kind != "f":
        raise refused("numpy.reciprocal", "of integers")
    return apply("reciprocal", a)


@implements_ufunc(np.power)
def _power(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    (base, exponent), dtype = ufunc_operands(ufunc, x, y)
    if isinstance(y, np.ndarray) and not y.shape:
        y = y[()]  # the exponent of all entries, like any other number
    if is_python_number(y) or (isinstance(y, np.generic) and y.dtype.itemsize <= np.dtype(np.float64).itemsize):
        value = canonical(y.item() if isinstance(y, np.generic) else y)
        if dtype.kind != "f" and value < 0:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return row("power", base, params=(value,), dtype=dtype)
    if dtype.kind != "f":
        raise refused("numpy.power", "of integers to an array of exponents")
    return row("power_xy", base, exponent, dtype=dtype)


def _refuse_unsigned(ufunc: np.ufunc, dtype: np.dtype) -> None:
    if dtype.kind == "u":
        raise refused(qualified_name(ufunc), "of unsigned integers")
