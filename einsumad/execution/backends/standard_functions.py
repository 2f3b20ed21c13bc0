"""The functions of NumPy and SciPy that rows of the catalogue are written with, by the Array API standard alone.

Owns two tables, by NumPy's and by SciPy's names. Imports NumPy for its constants. Invariant: a function here has the
values of its namesake, infinities and NaN included, up to rounding, in the dtype of its operands; one of the operands
may be a number of Python.

What the standard has no means for (error functions, gamma and Bessel functions) is not here: libraries add their own.
"""

from __future__ import annotations

import operator
from collections import ChainMap
from collections.abc import Mapping
from functools import partial
from math import log, pi
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Function, Home
from einsumad.execution.backends.standard_special import Special

_LN2 = log(2.0)
_CALLED = {
    "abs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "ceil": "ceil",
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "expm1": "expm1",
    "floor": "floor",
    "isfinite": "isfinite",
    "isinf": "isinf",
    "isnan": "isnan",
    "log": "log",
    "log10": "log10",
    "log1p": "log1p",
    "log2": "log2",
    "logical_not": "logical_not",
    "rint": "round",
    "sign": "sign",
    "sin": "sin",
    "sinh": "sinh",
    "sqrt": "sqrt",
    "square": "square",
    "tan": "tan",
    "tanh": "tanh",
    "trunc": "trunc",
}
"""Functions of one array by NumPy's name and by the standard's."""

_OF_TWO = {
    "arctan2": "atan2",
    "copysign": "copysign",
    "equal": "equal",
    "floor_divide": "floor_divide",
    "greater": "greater",
    "greater_equal": "greater_equal",
    "hypot": "hypot",
    "less": "less",
    "less_equal": "less_equal",
    "logaddexp": "logaddexp",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "maximum": "maximum",
    "minimum": "minimum",
    "not_equal": "not_equal",
    "remainder": "remainder",
}

_MADE = (
    "where",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "exp2",
    "logaddexp2",
    "cbrt",
    "round",
    "polyval",
)
"""Functions that are made of those of the standard."""


class Standard:
    """The functions at one place."""

    def __init__(self, home: Home) -> None:
        self.home, self.xp = home, home.xp

    def pair(self, x: Any, y: Any) -> tuple[Array, Array]:
        """Both as arrays, a number of Python in the dtype of the other."""
        like = y if isinstance(x, (int, float)) else x
        dtype = self.home.array_library.dtype_of(like)
        return self.home.array(x, dtype), self.home.array(y, dtype)

    def of_two(self, name: str, x: Any, y: Any) -> Array:
        """A function of the standard of two operands."""
        return getattr(self.xp, name)(*self.pair(x, y))

    def where(self, mask: Any, x: Any, y: Any) -> Array:
        """``np.where``."""
        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
            return self.home.where(mask, float(x), float(y), np.dtype(float))
        x, y = self.pair(x, y)
        return self.xp.where(mask, x, y)

    def fmax(self, x: Any, y: Any) -> Array:
        """The larger one that is a number."""
        return self._of_numbers("maximum", x, y)

    def fmin(self, x: Any, y: Any) -> Array:
        """The smaller one that is a number."""
        return self._of_numbers("minimum", x, y)

    def _of_numbers(self, name: str, x: Any, y: Any) -> Array:
        x, y = self.pair(x, y)
        if self.home.array_library.dtype_of(x).kind != "f":
            return getattr(self.xp, name)(x, y)
        nan = self.xp.isnan
        return self.xp.where(nan(x), y, self.xp.where(nan(y), x, getattr(self.xp, name)(x, y)))

    def fmod(self, x: Any, y: Any) -> Array:
        """The remainder with the sign of the dividend."""
        x, y = self.pair(x, y)
        left = self.xp.remainder(self.xp.abs(x), self.xp.abs(y))
        return self.xp.where(x < 0, -left, left) if self._whole(x) else self.xp.copysign(left, x)

    def _whole(self, x: Array) -> bool:
        return self.home.array_library.dtype_of(x).kind != "f"

    def heaviside(self, x: Any, y: Any) -> Array:
        """0, `y` or 1 for negative, zero and positive entries."""
        x, y = self.pair(x, y)
        one = self.xp.where(x < 0, self.xp.zeros_like(x), self.xp.ones_like(x))
        return self.xp.where(self.xp.isnan(x), x, self.xp.where(x == 0, y, one))

    def exp2(self, x: Array) -> Array:
        """``2**x``."""
        return self.of_two("pow", 2.0, x)

    def logaddexp2(self, x: Any, y: Any) -> Array:
        """``log2(2**x + 2**y)``."""
        x, y = self.pair(x, y)
        top, low = self.xp.maximum(x, y), self.xp.minimum(x, y)
        gap = self.xp.where(top == low, self.xp.zeros_like(top), low - top)
        return top + self.xp.log1p(self.exp2(gap)) / _LN2

    def cbrt(self, x: Array) -> Array:
        """The real cube root, by one step of Newton's after the power."""
        size = self.xp.abs(x)
        plain = self.xp.logical_and(size > 0, size < np.inf)
        inside = self.xp.where(plain, size, self.xp.ones_like(size))
        root = inside ** (1 / 3)
        root = root - (root - inside / (root * root)) / 3
        return self.xp.where(plain, self.xp.sign(x) * root, x)

    def round(self, x: Array, decimals: int) -> Array:
        """Rounded to decimals, as NumPy does it."""
        if not decimals:
            return self.xp.round(x)
        scale = 10.0 ** abs(decimals)
        if self._whole(x):
            return (
                x
                if decimals > 0
                else self.home.cast(self.xp.round(x / scale) * scale, self.home.array_library.dtype_of(x))
            )
        return self.xp.round(x * scale) / scale if decimals > 0 else self.xp.round(x / scale) * scale

    def polyval(self, coefficients: list[float], x: Array) -> Array:
        """The polynomial with these coefficients, the highest first, by Horner's rule."""
        value = self.xp.zeros_like(x)
        for coefficient in coefficients:
            value = value * x + coefficient
        return value

    def tables(self) -> tuple[dict[str, Any], dict[str, Function]]:
        """All of them by NumPy's and by SciPy's names."""
        named: dict[str, Any] = {name: getattr(self.xp, own) for name, own in _CALLED.items() if hasattr(self.xp, own)}
        named |= {name: partial(self.of_two, own) for name, own in _OF_TWO.items() if hasattr(self.xp, own)}
        named |= {name: getattr(self, name) for name in _MADE}
        named |= {
            "divide": lambda x, y: operator.truediv(*self.pair(x, y)),
            "multiply": lambda x, y: operator.mul(*self.pair(x, y)),
            "power": operator.pow,
            "reciprocal": lambda x: 1 / x,
        }
        named |= {"pi": pi, "nan": np.nan, "inf": np.inf}
        return named, Special(self.home, self.pair).table()


def tables_at(home: Home) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """All functions at a place by NumPy's and by SciPy's names: those of the library, then those that are made here."""
    own, made = home.array_library.elementwise(), Standard(home).tables()
    return ChainMap(own[0], made[0]), ChainMap(own[1], made[1])  # type: ignore[arg-type]  # they are only read
