"""Numbers of Python among the arguments of a compiled function.

Owns :class:`WeakTensor`. Imports tensors. Invariant: in NumPy's promotion such a value counts as the number of Python
that it stands for, so that a compiled function has the dtypes of the function; what operators make of it and of numbers
of Python is such a value too, and what a function of NumPy makes of it is an array, as NumPy has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.frontend.tensor import Tensor


def _of_numbers(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The operator, whose result is weak again if all operands are."""

    def act(self: WeakTensor, *others: Any) -> Any:
        result = operator(self, *others)
        if isinstance(result, Tensor) and all(is_weak(other) for other in others) and result.dtype == self.dtype:
            return WeakTensor(result.node)
        return result

    return act


def is_weak(x: object) -> bool:
    """Whether the operand promotes as a number of Python."""
    return isinstance(x, WeakTensor) or (isinstance(x, (int, float)) and not isinstance(x, np.generic))


class WeakTensor(Tensor):
    """A traced value that stands for a float of Python."""

    __slots__ = ()

    __add__, __radd__ = _of_numbers(Tensor.__add__), _of_numbers(Tensor.__radd__)
    __sub__, __rsub__ = _of_numbers(Tensor.__sub__), _of_numbers(Tensor.__rsub__)
    __mul__, __rmul__ = _of_numbers(Tensor.__mul__), _of_numbers(Tensor.__rmul__)
    __truediv__, __rtruediv__ = _of_numbers(Tensor.__truediv__), _of_numbers(Tensor.__rtruediv__)
    __floordiv__, __rfloordiv__ = _of_numbers(Tensor.__floordiv__), _of_numbers(Tensor.__rfloordiv__)
    __mod__, __rmod__ = _of_numbers(Tensor.__mod__), _of_numbers(Tensor.__rmod__)
    __pow__, __rpow__ = _of_numbers(Tensor.__pow__), _of_numbers(Tensor.__rpow__)
    __neg__, __pos__, __abs__ = _of_numbers(Tensor.__neg__), _of_numbers(Tensor.__pos__), _of_numbers(Tensor.__abs__)
