"""Python's operators for a class that answers to NumPy's ufuncs.

Owns the operator table. Imports NumPy only. Invariant: every operator is the ufunc that NumPy's own arrays
use for it, forward and reflected, so that ``a + b`` and ``np.add(a, b)`` are the same. An operand whose
``__array_ufunc__`` is None forbids ufuncs and wants its own reflected operator to be called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Binary = Callable[[Any, Any], Any]
Unary = Callable[[Any], Any]


def _forward(ufunc: Any) -> Binary:
    def operator(self: Any, other: Any) -> Any:
        return NotImplemented if getattr(other, "__array_ufunc__", True) is None else ufunc(self, other)

    return operator


def _reflected(ufunc: Any) -> Binary:
    def operator(self: Any, other: Any) -> Any:
        return NotImplemented if getattr(other, "__array_ufunc__", True) is None else ufunc(other, self)

    return operator


def _unary(ufunc: Any) -> Unary:
    def operator(self: Any) -> Any:
        return ufunc(self)

    return operator


def _power(self: Any, exponent: Any) -> Any:
    """``**`` as NumPy's arrays do it: a square, square root or reciprocal where the exponent says so."""
    if getattr(exponent, "__array_ufunc__", True) is None:
        return NotImplemented
    floating = self.dtype.kind == "f"
    weak = isinstance(exponent, (int, float)) and not isinstance(exponent, np.generic)
    if weak and (floating or isinstance(exponent, int)):
        ufunc = _POWERS.get(exponent)
        if ufunc is np.square or (floating and ufunc is not None):
            return ufunc(self)
    return np.power(self, exponent)


_POWERS = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal}


class Operators:
    """The arithmetic, comparison and bitwise operators."""

    __slots__ = ()

    __add__, __radd__ = _forward(np.add), _reflected(np.add)
    __sub__, __rsub__ = _forward(np.subtract), _reflected(np.subtract)
    __mul__, __rmul__ = _forward(np.multiply), _reflected(np.multiply)
    __matmul__, __rmatmul__ = _forward(np.matmul), _reflected(np.matmul)
    __truediv__, __rtruediv__ = _forward(np.true_divide), _reflected(np.true_divide)
    __floordiv__, __rfloordiv__ = _forward(np.floor_divide), _reflected(np.floor_divide)
    __mod__, __rmod__ = _forward(np.remainder), _reflected(np.remainder)
    __divmod__, __rdivmod__ = _forward(np.divmod), _reflected(np.divmod)
    __pow__, __rpow__ = _power, _reflected(np.power)
    __and__, __rand__ = _forward(np.bitwise_and), _reflected(np.bitwise_and)
    __or__, __ror__ = _forward(np.bitwise_or), _reflected(np.bitwise_or)
    __xor__, __rxor__ = _forward(np.bitwise_xor), _reflected(np.bitwise_xor)
    __lshift__, __rlshift__ = _forward(np.left_shift), _reflected(np.left_shift)
    __rshift__, __rrshift__ = _forward(np.right_shift), _reflected(np.right_shift)
    __lt__, __gt__ = _forward(np.less), _forward(np.greater)
    __le__, __ge__ = _forward(np.less_equal), _forward(np.greater_equal)
    __eq__, __ne__ = _forward(np.equal), _forward(np.not_equal)
    __neg__, __pos__ = _unary(np.negative), _unary(np.positive)
    __abs__, __invert__ = _unary(np.absolute), _unary(np.invert)
    __hash__ = object.__hash__
