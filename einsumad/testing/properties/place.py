"""The point of a case and places a few units in the last place away, where the same quantities are computed again.

Owns how a place differs from the point. Imports systems. Invariant: at place 0 everything is as the case says, bit by
bit; elsewhere equal magnitudes move by equal factors, so ties, zeros, signs and symmetries stay.

What a quantity changes by from place to place is what rounding may do to it: its conditioning. Besides the arrays, the
directions move. A system that can compute in Monte Carlo arithmetic does so; for one that cannot, the function is
multiplied inside and outside by numbers close to one, which rounds intermediate results anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.testing.point import Array, count
from einsumad.testing.systems.base import Function, System, flat_tensor
from einsumad.testing.systems.noisy import moved

PLACES = 6
"""The number of places beside the point."""


@dataclass(frozen=True)
class Place:
    """A system, a function and arrays near those of a case; place 0 is that of the case itself."""

    system: System
    original: Function
    arrays: tuple[Array, ...]
    number: int = 0

    def near(self, array: Array) -> Array:
        """A direction as it is at this place."""
        return moved(array, self.number) if self.number else array

    def function(self, f: Function) -> Function:
        """A function as it is at this place."""
        if not self.number or not self.system.any_function or self.system.noisy is not None:
            return f
        factors = [self._near_one(array) for array in self.arrays]
        outside = float(self._near_one(np.ones((), self.arrays[0].dtype))) if self.arrays else 1.0

        def scaled(*xs: Any) -> Any:
            return f(*[_times(x, factor) for x, factor in zip(xs, factors, strict=True)]) * outside

        return scaled

    def _near_one(self, array: Array) -> Array:
        """Numbers near one, equal where the entries of an array have equal magnitudes."""
        nonzero = np.where(array == 0, 1, array)
        return np.asarray(moved(nonzero, self.number + PLACES) / nonzero, array.dtype)

    @property
    def computing(self) -> System:
        """The system as it computes at this place."""
        return self.system.noisy(self.number) if self.number and self.system.noisy is not None else self.system

    def fresh(self) -> tuple[Array, ...]:
        """Copies of the arrays."""
        return tuple([array.copy() for array in self.arrays])

    def value(self, f: Function | None = None) -> Array:
        """The value of the function, or of another one."""
        found = self.computing.evaluate(self.function(self.original if f is None else f), self.fresh())
        return np.asarray(found)

    def derivative(self, order: int, mode: str, f: Function | None = None, shape: Sequence[int] | None = None) -> Array:
        """A derivative as one array in double precision: entries of the value, then of the point for each order.

        `shape` is that of the value, which is asked for where it is not given.
        """
        wanted = self.function(self.original if f is None else f)
        nested = self.computing.derivative(wanted, self.fresh(), order, mode)
        output = self.value(f).shape if shape is None else shape
        return flat_tensor(nested, output, [array.shape for array in self.arrays], order).astype(np.float64)

    def jvp(self, tangents: Sequence[Array], f: Function | None = None) -> Array:
        """The tangent of the value."""
        wanted = self.function(self.original if f is None else f)
        return np.asarray(self.computing.jvp(wanted, self.fresh(), [self.near(t) for t in tangents])[1], np.float64)

    def vjp(self, cotangent: Array, f: Function | None = None) -> tuple[Array, ...]:
        """The cotangents of the arrays."""
        wanted = self.function(self.original if f is None else f)
        pulled = self.computing.vjp(wanted, self.fresh(), self.near(cotangent))[1]
        return tuple([np.asarray(part, np.float64) for part in pulled])

    def hvp(self, tangents: Sequence[Array], f: Function | None = None) -> Array:
        """The Hessian times a vector, as one vector."""
        wanted = self.function(self.original if f is None else f)
        return flat(self.computing.hvp(wanted, self.fresh(), [self.near(t) for t in tangents]))

    def further(self, name: str, f: Function | None = None) -> Any:
        """The answer of a further transform."""
        return self.computing.extras[name](self.function(self.original if f is None else f), self.fresh())


def _times(x: Any, factor: Array) -> Any:
    """An array of any library times one of NumPy; PyTorch takes only numbers."""
    return x * float(factor.reshape(-1)[0]) if hasattr(x, "__torch_function__") and factor.size else x * factor


def flat(arrays: Sequence[Any]) -> Array:
    """Arrays as one vector in double precision."""
    return np.concatenate([np.zeros(0), *[np.asarray(array, np.float64).reshape(-1) for array in arrays]])


def sizes(arrays: Sequence[Array]) -> list[int]:
    """The numbers of entries."""
    return [count(array.shape) for array in arrays]
