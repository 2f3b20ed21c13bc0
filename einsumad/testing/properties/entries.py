"""The entries of a point and of a value, by position and by name.

Owns the correspondence. Imports nothing of the toolkit but points. Invariant: positions count the entries of all
arrays in order, each array row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from einsumad.testing.point import Array, count, subscript


@dataclass(frozen=True)
class Entries:
    """Arrays with names, and a value."""

    names: tuple[str, ...]
    arrays: tuple[Array, ...]
    value: Array

    @property
    def sizes(self) -> list[int]:
        """The number of entries of each array."""
        return [array.size for array in self.arrays]

    @property
    def size(self) -> int:
        """The number of entries of all arrays."""
        return sum(self.sizes)

    def in_parts(self, vector: Array) -> tuple[Array, ...]:
        """A vector of the size of the point as arrays of the shapes of the arrays."""
        ends = np.cumsum([0, *self.sizes])
        return tuple([vector[a:b].reshape(x.shape) for a, b, x in zip(ends[:-1], ends[1:], self.arrays, strict=True)])

    def of_point(self, position: int) -> str:
        """The name of an entry of the point."""
        for name, array in zip(self.names, self.arrays, strict=True):
            if position < array.size:
                return name + subscript(array.shape, position)
            position -= array.size
        raise IndexError(f"the point has {self.size} entries")

    def of_tensor(self, order: int) -> Callable[[int], str]:
        """How entries of a derivative, or of a stack of them, are named: the entry of the value, then of the point."""
        shape = (count(self.value.shape), *[self.size] * order)
        entries = count(shape)

        def locate(position: int) -> str:
            which = [int(k) for k in np.unravel_index(position % entries, shape)]
            output = [f"value{subscript(self.value.shape, which[0])}"] if self.value.ndim else []
            return "(" + ", ".join([*output, *[self.of_point(k) for k in which[1:]]]) + ")"

        return locate

    def of_value(self, position: int) -> str:
        """How entries of something of the shape of the value are named."""
        return f"value{subscript(self.value.shape, position)}"
