"""CuPy.

Owns the differences of its arrays from the standard. Imports CuPy, which is loaded already, through array-api-compat.
Invariant: all is done on the device of the arrays, on the stream and in the memory pool that are CuPy's current ones;
nothing waits for the device and nothing is read back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from einsumad.execution.backends.array_library import Array, Function, Home, Library
from einsumad.execution.backends.same_names import SameNames


class CupyLibrary(Library):
    """Arrays of CuPy."""

    takes_numbers = True
    takes_device = False

    def __init__(self, cupy: Any, namespace: Any, special: Any) -> None:
        super().__init__("cupy", namespace)
        self.cupy, self.special = cupy, special

    def home_of(self, x: Array) -> Home:
        """The number of the device, on which new arrays are made while a plan runs."""
        return Home(self, int(x.device.id), False)

    def private(self, x: Array) -> Array:
        """A copy on the device."""
        with x.device:
            return x.copy()

    def from_numpy(self, array: np.ndarray, device: Any) -> Array:
        """On the device, by the current stream."""
        with self.cupy.cuda.Device(device):
            return self.cupy.asarray(array)

    def apart(self, outputs: Sequence[Array], given: Sequence[Array], shared: Sequence[bool]) -> tuple[Array, ...]:
        """By the memory that arrays hold."""
        met = [x.data.mem for x in given]
        found = []
        for x, may in zip(outputs, shared, strict=True):
            if may and (any(x.data.mem is other for other in met) or 0 in x.strides):
                x = x.copy()  # noqa: PLW2901 (the copy in its place)
            met.append(x.data.mem)
            found.append(x)
        return tuple(found)

    def add_rows(self, x: Array, index: Array, size: int) -> Array:
        """By ``cupy.add.at``."""
        result = self.cupy.zeros((size, *x.shape[1:]), x.dtype)
        self.cupy.add.at(result, index, x)
        return result

    def running(self, device: Any) -> AbstractContextManager[Any]:
        """On this device. CuPy does not warn."""
        return self.cupy.cuda.Device(device)  # type: ignore[no-any-return]  # CuPy's devices are contexts

    def elementwise(self) -> tuple[Mapping[str, Function], Mapping[str, Function]]:
        """What CuPy and ``cupyx.scipy.special`` have by the same names."""
        return SameNames(self.cupy), SameNames(self.special)
