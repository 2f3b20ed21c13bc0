"""Python's operators for a class that answers to NumPy's ufuncs.

Owns the operator table. Imports what the open trace is. Invariant: every operator is the ufunc that NumPy's own arrays
use for it, forward and reflected, so that ``a + b`` and ``np.add(a, b)`` are the same. An operand whose
``__array_ufunc__`` is None forbids ufuncs and wants its own reflected operator to be called. Where no other operand has
a say, the class is asked at once, as NumPy would do: that is most of what it takes to call a ufunc. The class of the
walk would ask the walk, so that is asked before it; a class that is made of it may answer otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import _getframe, modules
from typing import Any

import numpy as np

from einsumad.frontend.callers import FIRST_OF_POLYNOMIALS, OF_POLYNOMIALS, POLYNOMIALS
from einsumad.frontend.met import open_trace

Binary = Callable[[Any, Any], Any]
Unary = Callable[[Any], Any]

_UNASKED = frozenset([float, int, bool, np.ndarray, np.float64, np.float32])
"""Classes of operands that NumPy does not ask what a ufunc of them is."""
_NO_OPTIONS: Mapping[str, Any] = {}


def _binary(ufunc: Any, *, reflected: bool = False) -> Binary:
    is_looked_at = ufunc in FIRST_OF_POLYNOMIALS

    def operator(self: Any, other: Any) -> Any:
        operands = (other, self) if reflected else (self, other)
        if type(other) not in _UNASKED and type(other) is not type(self):
            return NotImplemented if getattr(other, "__array_ufunc__", True) is None else ufunc(*operands)
        met = open_trace()
        if (
            met is None
            or met.at is None
            or type(self) is not met.handle
            or (is_looked_at and POLYNOMIALS in modules and _getframe(1).f_globals.get("__name__") in OF_POLYNOMIALS)
        ):
            return self.__array_ufunc__(ufunc, "__call__", *operands)
        return met.call(ufunc, operands, _NO_OPTIONS, self._ordinary)

    return operator


def _both(ufunc: Any) -> tuple[Binary, Binary]:
    return _binary(ufunc), _binary(ufunc, reflected=True)


def _unary(ufunc: Any) -> Unary:
    def operator(self: Any) -> Any:
        met = open_trace()
        if met is None or met.at is None or type(self) is not met.handle:
            return self.__array_ufunc__(ufunc, "__call__", self)
        return met.call(ufunc, (self,), _NO_OPTIONS, self._ordinary)

    return operator


def _power(self: Any, exponent: Any) -> Any:
    """``**`` as NumPy's arrays do it: a square, square root or reciprocal where the exponent says so."""
    weak = isinstance(exponent, (int, float)) and not isinstance(exponent, np.generic)
    power = _POWERS.get(exponent) if weak else None
    if power is None:
        return _any_power(self, exponent)
    of_all = isinstance(exponent, int) and power is _square
    return power(self) if of_all or self.dtype.kind == "f" else _any_power(self, exponent)


_any_power, _square = _binary(np.power), _unary(np.square)
_POWERS = {2: _square, 0.5: _unary(np.sqrt), -1: _unary(np.reciprocal)}


class Operators:
    """The arithmetic, comparison and bitwise operators."""

    __slots__ = ()

    __add__, __radd__ = _both(np.add)
    __sub__, __rsub__ = _both(np.subtract)
    __mul__, __rmul__ = _both(np.multiply)
    __matmul__, __rmatmul__ = _both(np.matmul)
    __truediv__, __rtruediv__ = _both(np.true_divide)
    __floordiv__, __rfloordiv__ = _both(np.floor_divide)
    __mod__, __rmod__ = _both(np.remainder)
    __divmod__, __rdivmod__ = _both(np.divmod)
    __pow__, __rpow__ = _power, _binary(np.power, reflected=True)
    __and__, __rand__ = _both(np.bitwise_and)
    __or__, __ror__ = _both(np.bitwise_or)
    __xor__, __rxor__ = _both(np.bitwise_xor)
    __lshift__, __rlshift__ = _both(np.left_shift)
    __rshift__, __rrshift__ = _both(np.right_shift)
    __lt__, __gt__ = _binary(np.less), _binary(np.greater)
    __le__, __ge__ = _binary(np.less_equal), _binary(np.greater_equal)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)
    __neg__, __pos__ = _unary(np.negative), _unary(np.positive)
    __abs__, __invert__ = _unary(np.absolute), _unary(np.invert)
    __hash__ = object.__hash__
