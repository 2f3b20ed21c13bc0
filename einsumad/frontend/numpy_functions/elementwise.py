"""Ufuncs that are one row of the catalogue each, and the few that are spelt with others.

Owns the table from ufuncs to rows. Imports the registry, promotion and the catalogue. Invariant: the operands
reach the row in the dtypes of NumPy's own loop, so the result has NumPy's dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import InternalError, TracingError
from einsumad.frontend.broadcasting import align
from einsumad.frontend.lifting import as_node
from einsumad.frontend.promotion import floating, in_dtype, reduced_dtype, ufunc_operands
from einsumad.frontend.registry import (
    implements,
    implements_special,
    implements_ufunc,
    qualified_name,
    refuse_options,
)
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, Params, negate

ROW_OF_UFUNC: dict[np.ufunc, str] = {
    np.exp: "exp",
    np.log: "log",
    np.log1p: "log1p",
    np.expm1: "expm1",
    np.sqrt: "sqrt",
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
    np.sign: "sign",
    np.greater: "greater",
    np.greater_equal: "greater_equal",
    np.less: "less",
    np.less_equal: "less_equal",
    np.equal: "equal",
    np.not_equal: "not_equal",
    np.logical_and: "logical_and",
    np.logical_or: "logical_or",
    np.logical_not: "logical_not",
    np.isnan: "isnan",
    np.isfinite: "isfinite",
    np.isinf: "isinf",
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
    "gammaln": "gammaln",
    "psi": "digamma",
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
def _ufunc(ufunc: np.ufunc, *inputs: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, *inputs)
    return row(ROW_OF_UFUNC[ufunc], *operands, dtype=dtype)


@implements_ufunc(np.logical_xor)
def _logical_xor(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    operands, dtype = ufunc_operands(ufunc, x, y)
    return row("not_equal", *[in_dtype(operand, BOOL) for operand in operands], dtype=dtype)


@implements_special(*ROW_OF_SPECIAL)
def _special(ufunc: np.ufunc, x: Any) -> Node:
    (operand,), dtype = ufunc_operands(ufunc, x)
    return row(ROW_OF_SPECIAL[ufunc.__name__], *floating(qualified_name(ufunc), dtype, [operand]), dtype=dtype)


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
        raise TracingError(f"{qualified_name(ufunc)} is supported on traced booleans only, got dtype {dtype}")
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
    if decimals != 0:
        raise TracingError("numpy.round(decimals=...) is not supported on traced values: scale, round and scale back")
    node = as_node(a)
    return row("round", node) if node.dtype.kind == "f" else in_dtype(node, reduced_dtype(np.round, node.dtype))
