"""Ufuncs that are one row of the catalogue each, and the few that are spelt with others.

Owns the table from ufuncs to rows. Imports the registry, promotion and the catalogue. Invariant: the operands
reach the row in the dtypes of NumPy's own loop, so the result has NumPy's dtype.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from einsumad.errors import InternalError
from einsumad.frontend.broadcasting import align
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node, is_python_number
from einsumad.frontend.promotion import floating, in_dtype, reduced_dtype, ufunc_operands
from einsumad.frontend.registry import (
    arrays_are_nodes,
    implements,
    implements_special,
    implements_ufunc,
    qualified_name,
    refuse_options,
)
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, Params, negate, ones, scale, zero

ROW_OF_UFUNC: dict[np.ufunc, str] = {
    np.exp: "exp",
    np.log: "log",
    np.log1p: "log1p",
    np.expm1: "expm1",
    np.exp2: "exp2",
    np.log2: "log2",
    np.log10: "log10",
    np.logaddexp: "logaddexp",
    np.logaddexp2: "logaddexp2",
    np.sqrt: "sqrt",
    np.cbrt: "cbrt",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.arcsin: "arcsin",
    np.arccos: "arccos",
    np.arctan: "arctan",
    np.arctan2: "arctan2",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.arcsinh: "arcsinh",
    np.arccosh: "arccosh",
    np.arctanh: "arctanh",
    np.hypot: "hypot",
    np.floor_divide: "floor_divide",
    np.remainder: "remainder",
    np.fmod: "fmod",
    np.copysign: "copysign",
    np.heaviside: "heaviside",
    np.sign: "sign",
    np.logical_and: "logical_and",
    np.logical_or: "logical_or",
    np.logical_not: "logical_not",
    np.isnan: "isnan",
    np.isfinite: "isfinite",
    np.isinf: "isinf",
}
ROW_OF_COMPARISON: dict[np.ufunc, str] = {
    np.greater: "greater",
    np.greater_equal: "greater_equal",
    np.less: "less",
    np.less_equal: "less_equal",
    np.equal: "equal",
    np.not_equal: "not_equal",
}
ROW_OF_ROUNDING: dict[np.ufunc, str] = {
    np.floor: "floor",
    np.ceil: "ceil",
    np.rint: "round",
    np.trunc: "trunc",
}
ROW_OF_BITS: dict[np.ufunc, str] = {
    np.bitwise_and: "logical_and",
    np.bitwise_or: "logical_or",
    np.bitwise_xor: "not_equal",
    np.invert: "logical_not",
}
ROW_OF_SPECIAL: dict[str, str] = {
    "expit": "sigmoid",
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "erfcinv": "erfcinv",
    "ndtr": "ndtr",
    "log_ndtr": "log_ndtr",
    "ndtri": "ndtri",
    "logit": "logit",
    "gamma": "gamma",
    "gammaln": "gammaln",
    "psi": "digamma",
    "beta": "beta",
    "betaln": "betaln",
    "xlogy": "xlogy",
    "xlog1py": "xlog1py",
    "entr": "entr",
    "rel_entr": "rel_entr",
    "kl_div": "kl_div",
    "cbrt": "cbrt",
    "exp2": "exp2",
    "log1p": "log1p",
    "expm1": "expm1",
}


def row(name: str, *operands: Node, params: Params = (), dtype: np.dtype | None = None) -> Node:
    """The catalogue function of the operands, broadcast against each other."""
    node = apply(name, *align(operands), params=params)
    if dtype is not None and node.dtype != dtype:
        raise InternalError(f"{name} gave dtype {node.dtype} where NumPy gives {dtype}")
    return node


@implements_ufunc(*ROW_OF_UFUNC)
@arrays_are_nodes(*ROW_OF_UFUNC)
def _ufunc(ufunc: np.ufunc, *inputs: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, *inputs)
    return row(ROW_OF_UFUNC[ufunc], *operands, dtype=dtype)


@implements_ufunc(*ROW_OF_COMPARISON)
@arrays_are_nodes(*ROW_OF_COMPARISON)
def _comparison(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    found = _far_apart(x, y)
    left, right = (x, y) if found is None else found
    operands, dtype = ufunc_operands(ufunc, left, right)
    return row(ROW_OF_COMPARISON[ufunc], *operands, dtype=dtype)


def _far_apart(x: Any, y: Any) -> tuple[Any, Any] | None:
    """What compares like x and y where one of them is a whole number of Python outside of the other's dtype.

    All entries are on one side of it then, as zeros are of 1 or -1; None where it is inside.
    """
    if not (is_python_number(x) or is_python_number(y)):
        return None
    number, other = (x, y) if is_python_number(x) else (y, x)
    node = None if isinstance(number, bool | float) else as_node(other)
    if node is None or node.dtype.kind not in "iu":
        return None
    bounds = np.iinfo(node.dtype)
    if bounds.min <= number <= bounds.max:
        return None
    zeros, side = Tensor(zero(node.shape, np.int64)), 1 if number > 0 else -1
    return (side, zeros) if number is x else (zeros, side)


@implements_ufunc(np.logical_xor)
def _logical_xor(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, x, y)
    return row("not_equal", *[in_dtype(operand, BOOL) for operand in operands], dtype=dtype)


@implements_special(*ROW_OF_SPECIAL)
def _special(ufunc: np.ufunc, *inputs: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, *inputs)
    return row(ROW_OF_SPECIAL[ufunc.__name__], *floating(qualified_name(ufunc), dtype, operands), dtype=dtype)


@implements_ufunc(np.deg2rad, np.radians)
def _radians(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), dtype = ufunc_operands(ufunc, x)
    return scale(np.pi / 180, *floating(qualified_name(ufunc), dtype, [operand]))


@implements_ufunc(np.rad2deg, np.degrees)
def _degrees(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), dtype = ufunc_operands(ufunc, x)
    return scale(180 / np.pi, *floating(qualified_name(ufunc), dtype, [operand]))


@implements_ufunc(np.float_power)
def _float_power(ufunc: np.ufunc, x: Any, p: Any) -> Node:  # noqa: ARG001
    base, exponent = (v if is_python_number(v) else Tensor(in_dtype(as_node(v), np.float64)) for v in (x, p))
    return as_node(np.power(base, exponent))


@implements_ufunc(np.divmod)
def _divmod(ufunc: np.ufunc, x: Any, y: Any) -> tuple[Node, Node]:  # noqa: ARG001
    operands, _ = ufunc_operands(np.remainder, x, y)
    return row("floor_divide", *operands), row("remainder", *operands)


@implements_ufunc(np.modf)
def _modf(ufunc: np.ufunc, x: Any) -> tuple[Node, Node]:
    (operand,), dtype = ufunc_operands(np.sqrt, x)
    (value,) = floating(qualified_name(ufunc), dtype, [operand])
    one = ones(value.shape, value.dtype)
    return row("fmod", value, one), row("trunc", value)


@implements(np.nan_to_num)
def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if not copy:
        raise refused("numpy.nan_to_num", "copy")
    node = as_node(x)
    if node.dtype.kind != "f":
        return node
    limits = np.finfo(node.dtype)
    value = Tensor(node)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    replaced = np.where(np.isnan(value), np.asarray(nan, node.dtype), np.where(value > 0, *_typed(node, high, low)))
    return as_node(np.where(np.isfinite(value), value, replaced))


def _typed(node: Node, *numbers: float) -> list[np.ndarray]:
    return [np.asarray(value, node.dtype) for value in numbers]


@implements_special("log_expit")
def _log_expit(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), _ = ufunc_operands(ufunc, x)
    return negate(apply("softplus", negate(operand)))


@implements_ufunc(*ROW_OF_ROUNDING)
def _rounding(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), dtype = ufunc_operands(ufunc, x)
    return operand if operand.dtype.kind != "f" else row(ROW_OF_ROUNDING[ufunc], operand, dtype=dtype)


@implements_ufunc(*ROW_OF_BITS)
def _bits(ufunc: np.ufunc, *inputs: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, *inputs)
    if dtype != BOOL:
        raise refused(qualified_name(ufunc), "of integers")
    return row(ROW_OF_BITS[ufunc], *operands, dtype=dtype)


@implements_ufunc(np.absolute, np.fabs)
def _absolute(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), dtype = ufunc_operands(ufunc, x)
    return operand if operand.dtype.kind in "bu" else row("abs", operand, dtype=dtype)


@implements_ufunc(np.positive, np.conjugate)
def _itself(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), _ = ufunc_operands(ufunc, x)
    return operand


@implements(np.real)
def _real(val: Any) -> Node:
    return as_node(val)


@implements(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    refuse_options("numpy.round", out=out)
    node, places = as_node(a), index(decimals)
    if node.dtype == BOOL and places:
        raise refused("numpy.round", "of truth values")
    if node.dtype.kind != "f" and places >= 0:
        return in_dtype(node, reduced_dtype(np.round, node.dtype))
    return row("round_decimals", node, params=(places,)) if places else row("round", node)
