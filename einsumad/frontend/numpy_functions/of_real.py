"""Functions of single real values beside the ufuncs: sinc, i0, fix, angle, ldexp, signs, and tests of kind.

Owns these functions. Imports the surface. Invariant: what has no derivative (signs, angles of real numbers, tests) has
a derivative of zero, and never a value that hides one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import in_dtype, reduced_dtype, ufunc_operands
from einsumad.frontend.registry import implements, implements_ufunc, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, ones, zero


@implements(np.sinc)
def _sinc(x: Any) -> Node:
    inside = as_node(np.pi * x)
    return in_dtype(row("spherical_j", inside, params=(0,)), inside.dtype)


@implements(np.i0)
def _i0(x: Any) -> Node:
    node = as_node(x)
    if node.dtype.kind != "f":
        node = in_dtype(node, np.float64)
    return in_dtype(apply("bessel_i", node, params=(0,)), node.dtype)


@implements(np.fix)
def _fix(x: Any, out: Any = None) -> Any:
    refuse_options("numpy.fix", out=out)
    return as_node(np.trunc(x))


@implements_ufunc(np.ldexp)
def _ldexp(ufunc: np.ufunc, x: Any, exponent: Any) -> Node:
    if not is_python_number(exponent):
        exponent = Tensor(as_node(exponent))
        if exponent.dtype.kind not in "iub":
            raise TypeError(f"ldexp needs whole numbers as exponents, got dtype {exponent.dtype}")
    (value, power), dtype = ufunc_operands(ufunc, x, exponent)
    return row("ldexp", value, in_dtype(power, dtype), dtype=dtype)


@implements_ufunc(np.signbit)
def _signbit(ufunc: np.ufunc, x: Any) -> Node:
    (value,), dtype = ufunc_operands(ufunc, x)
    sign = row("copysign", ones(value.shape, value.dtype), value)
    return row("less", sign, zero(value.shape, value.dtype), dtype=dtype)


@implements(np.angle)
def _angle(z: Any, deg: Any = False) -> Node:
    value = Tensor(as_node(z))
    turned = np.where(np.signbit(value), 180.0 if deg else np.pi, 0.0)
    return in_dtype(as_node(np.where(np.isnan(value), np.nan, turned)), reduced_dtype(np.angle, value.dtype))


@implements(np.imag)
def _imag(val: Any) -> Node:
    node = as_node(val)
    return zero(node.shape, node.dtype)


@implements(np.real_if_close)
def _real_if_close(a: Any, tol: float = 100) -> Node:  # noqa: ARG001 (the tolerance is one of imaginary parts)
    return as_node(a)


@implements(np.iscomplex)
def _iscomplex(x: Any) -> Node:
    return zero(as_node(x).shape, BOOL)


@implements(np.isreal)
def _isreal(x: Any) -> Node:
    return ones(as_node(x).shape, BOOL)


@implements(np.isposinf)
def _isposinf(x: Any, out: Any = None) -> Node:
    refuse_options("numpy.isposinf", out=out)
    return as_node(np.logical_and(np.isinf(x), ~np.signbit(x)))


@implements(np.isneginf)
def _isneginf(x: Any, out: Any = None) -> Node:
    refuse_options("numpy.isneginf", out=out)
    return as_node(np.logical_and(np.isinf(x), np.signbit(x)))


@implements(np.isclose)
def _isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Node:
    x, y = (v if is_python_number(v) else Tensor(as_node(v)) for v in (a, b))
    y = float(y) if is_python_number(y) else Tensor(in_dtype(as_node(y), np.result_type(as_node(y).dtype, 1.0)))
    near = np.logical_and(np.less_equal(np.abs(x - y), atol + rtol * np.abs(y)), np.isfinite(y))
    result = np.logical_or(near, np.equal(x, y))
    if equal_nan:
        result = np.logical_or(result, np.logical_and(np.isnan(x), np.isnan(y)))
    return as_node(result)


@implements(np.count_nonzero)
def _count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Node:
    truth = Tensor(in_dtype(as_node(a), BOOL))
    return as_node(np.sum(truth, axis, keepdims=keepdims))
