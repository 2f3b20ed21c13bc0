"""The point of a case and places a few units in the last place away, where the same quantities are computed again.

Owns how a place differs from the point. Imports systems. Invariant: at place 0 everything is as the case says, bit by
bit; elsewhere equal magnitudes move by equal factors, so ties, zeros, signs and symmetries stay.

What a quantity changes by from place to place is what rounding may do to it: its conditioning. Besides the arrays, the
directions move. A system that can compute in Monte Carlo arithmetic does so; for one that cannot, arrays and value are
multiplied by numbers close to one, and what is computed is divided by them, which rounds intermediate results anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.testing.point import Array
from einsumad.testing.systems.base import Function, System, flat_tensor
from einsumad.testing.systems.noisy import moved

PLACES = 6
"""The number of places beside the point."""

_WIDTH = 2.0**-9
_RATIOS = (0.618033988749895, 0.7548776662466927)


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

    @property
    def computing(self) -> System:
        """The system as it computes at this place."""
        return self.system.noisy(self.number) if self.number and self.system.noisy is not None else self.system

    @property
    def _factors(self) -> tuple[float, float]:
        """What the arrays and the value are multiplied by, to round all that is computed anew."""
        if not self.number or not self.system.any_function or self.system.noisy is not None:
            return 1.0, 1.0
        first, second = (_WIDTH * ((self.number * ratio) % 1 - 0.5) for ratio in _RATIOS)
        return 1 + first, 1 + second

    def _scaled(self, f: Function | None) -> Function:
        """The function, or another one, of the arrays times a factor, times a factor."""
        wanted = self.original if f is None else f
        inside, outside = self._factors
        if inside == outside == 1:
            return wanted

        def scaled(*xs: Any) -> Any:
            return wanted(*[x * inside for x in xs]) * outside

        return scaled

    def _shrunk(self, arrays: Sequence[Array]) -> list[Array]:
        """Copies of the arrays, divided by what they will be multiplied by."""
        inside, _ = self._factors
        return [array.copy() if inside == 1 else np.asarray(array / inside, array.dtype) for array in arrays]

    def fresh(self) -> tuple[Array, ...]:
        """Copies of the arrays."""
        return tuple([array.copy() for array in self.arrays])

    def value(self, f: Function | None = None) -> Array:
        """The value of the function, or of another one."""
        value = np.asarray(self.computing.evaluate(self._scaled(f), self._shrunk(self.arrays)))
        return value if self._factors[1] == 1 else np.asarray(value / self._factors[1])

    def derivative(self, order: int, mode: str, f: Function | None = None, shape: Sequence[int] | None = None) -> Array:
        """A derivative as one array in double precision: entries of the value, then of the point for each order.

        `shape` is that of the value, which is asked for where it is not given.
        """
        inside, outside = self._factors
        nested = self.computing.derivative(self._scaled(f), self._shrunk(self.arrays), order, mode)
        output = self.value(f).shape if shape is None else shape
        tensor = flat_tensor(nested, output, [array.shape for array in self.arrays], order)
        return np.asarray(tensor.astype(np.float64) / (inside**order * outside))

    def jvp(self, tangents: Sequence[Array], f: Function | None = None) -> Array:
        """The tangent of the value."""
        directions = self._shrunk([self.near(tangent) for tangent in tangents])
        found = self.computing.jvp(self._scaled(f), self._shrunk(self.arrays), directions)[1]
        return np.asarray(found, np.float64) / self._factors[1]

    def vjp(self, cotangent: Array, f: Function | None = None) -> tuple[Array, ...]:
        """The cotangents of the arrays."""
        inside, outside = self._factors
        pulled = self.computing.vjp(self._scaled(f), self._shrunk(self.arrays), self.near(cotangent).copy())[1]
        return tuple([np.asarray(part, np.float64) / (inside * outside) for part in pulled])

    def hvp(self, tangents: Sequence[Array], f: Function | None = None) -> Array:
        """The Hessian times a vector, as one vector."""
        inside, outside = self._factors
        directions = self._shrunk([self.near(tangent) for tangent in tangents])
        return flat(self.computing.hvp(self._scaled(f), self._shrunk(self.arrays), directions)) / (inside * outside)

    def further(self, name: str) -> Any:
        """The answer of a further transform."""
        return self.computing.extras[name](self.original, self.fresh())


def flat(arrays: Sequence[Any]) -> Array:
    """Arrays as one vector in double precision."""
    return np.concatenate([np.zeros(0), *[np.asarray(array, np.float64).reshape(-1) for array in arrays]])
