"""A case with what several properties need of it, computed once.

Owns directions and the derivatives at the point. Imports cases and places. Invariant: what is
kept is never handed to a system, and a derivative of too many entries is refused before it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from einsumad.testing.point import Array, count
from einsumad.testing.properties.case import Case
from einsumad.testing.properties.entries import Entries
from einsumad.testing.properties.place import PLACES, Place
from einsumad.testing.systems.noisy import TooLargeError, moved

DIRECTIONS = 3
SHIFTS = 2
LARGEST = 2**20
"""The most entries of a derivative that is computed as a whole."""

_SATURATION = 16.0


@dataclass(frozen=True)
class Probe:
    """A case, the place where it is, and its value there."""

    case: Case
    at: Place
    value: Array
    known: dict[tuple[int, str], Array] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes to look at."""
        return self.case.modes or self.case.system.modes

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The arrays of the case; not to be handed out."""
        return self.at.arrays

    @cached_property
    def unit(self) -> float:
        """The rounding unit of the least precise of arrays and value."""
        dtypes = [array.dtype for array in (*self.arrays, self.value) if array.dtype.kind == "f"]
        return float(max([np.finfo(dtype).eps for dtype in dtypes], default=np.finfo(float).eps))

    @cached_property
    def tiny(self) -> float:
        """The least normal number of the least precise of arrays and value."""
        dtypes = [array.dtype for array in (*self.arrays, self.value) if array.dtype.kind == "f"]
        return float(max([np.finfo(dtype).tiny for dtype in dtypes], default=np.finfo(float).tiny))

    @cached_property
    def entries(self) -> Entries:
        """The entries of the point and of the value, by name."""
        single = ("x",) if len(self.arrays) == 1 else ()
        names = self.case.names or single or tuple([f"x{k}" for k in range(len(self.arrays))])
        return Entries(names, self.arrays, self.value)

    @property
    def size(self) -> int:
        """The number of entries of the arrays."""
        return self.entries.size

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The places beside the point."""
        case = self.case
        return tuple(
            [
                Place(case.system, case.function, tuple([moved(array, number) for array in self.arrays]), number)
                for number in range(1, PLACES + 1)
            ]
        )

    @cached_property
    def shifted(self) -> tuple[Place, ...]:
        """Places as far away as half the digits, off the kinks that the point may be at."""
        case, found = self.case, []
        for number in range(PLACES, PLACES + SHIFTS):
            pairs = zip(self.arrays, _direction(self.rng, self.arrays), strict=True)
            arrays = tuple([np.asarray(x + v * np.where(x == 0, 1, x) * _root(x), x.dtype) for x, v in pairs])
            found.append(Place(case.system, case.function, arrays, number + 1))
        return tuple(found)

    def saturation(self, order: int) -> float:
        """How large an error of a derivative may be that no move of the point shows.

        Where a function is saturated (a softmax that is one in an entry), a derivative is a difference of numbers of
        the size of derivatives below it, and does not change when the point moves. Monte Carlo arithmetic shows it.
        """
        if self.case.system.noisy is not None or order < 1:
            return 0.0
        size = max([float(np.max(np.abs(array), initial=0.0)) for array in self.arrays], default=0.0)
        below = [self.value, *[self.derivative(k) for k in range(1, order)]]
        largest = max([float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a))) for a in below])
        return _SATURATION * self.unit * largest * max(1.0, 1 / size if size else 1.0)

    @cached_property
    def rng(self) -> np.random.Generator:
        """The source of everything random."""
        return np.random.default_rng(self.case.seed)

    @cached_property
    def tangents(self) -> tuple[tuple[Array, ...], ...]:
        """Directions for the arrays; the last has the sizes of their entries."""
        found = [_direction(self.rng, self.arrays) for _ in range(DIRECTIONS)]
        scales = [np.where(array == 0, 1, np.abs(array)) for array in self.arrays]
        found[-1] = tuple([(t * s).astype(t.dtype) for t, s in zip(found[-1], scales, strict=True)])
        return tuple(found)

    @cached_property
    def cotangents(self) -> tuple[Array, ...]:
        """Directions for the value."""
        return tuple([_direction(self.rng, (self.value,))[0] for _ in range(DIRECTIONS)])

    def derivative(self, order: int, mode: str | None = None) -> Array:
        """The derivative of that order at the point: entries of the value, then of the point for each order."""
        mode = self.modes[0] if mode is None else mode
        if (order, mode) not in self.known:
            self.refuse_large(order)
            self.known[order, mode] = self.at.derivative(order, mode, shape=self.value.shape)
        return self.known[order, mode]

    def tensor(self, place: Place, order: int, mode: str | None = None) -> Array:
        """The derivative of that order at a place, the one at the point computed once."""
        if not place.number:
            return self.derivative(order, mode)
        return place.derivative(order, self.modes[0] if mode is None else mode, shape=self.value.shape)

    def refuse_large(self, order: int) -> None:
        """Raise :class:`TooLargeError` for a derivative that is not to be computed as a whole."""
        entries = count(self.value.shape) * self.size**order
        if entries > LARGEST:
            raise TooLargeError(f"the derivative of order {order} has {entries} entries, more than {LARGEST}")


def _root(array: Array) -> float:
    return float(np.sqrt(np.finfo(array.dtype).eps))


def _direction(rng: np.random.Generator, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """A random direction: entries of mixed signs, none of them small, none equal."""
    return tuple([_mixed(rng, array.shape).astype(array.dtype) for array in arrays])


def _mixed(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    magnitudes = rng.uniform(0.5, 1.5, shape)
    signs = rng.choice([-1.0, 1.0], shape)
    if np.size(signs) > 1 and abs(np.sum(signs)) == np.size(signs):
        np.asarray(signs).reshape(-1)[0] *= -1
    return np.asarray(magnitudes * signs)


def probe_of(case: Case) -> Probe:
    """The probe of a case; an exception of the function comes through."""
    arrays = tuple([np.array(array) for array in case.arrays])
    at = Place(case.system, case.function, arrays)
    return Probe(case, at, at.value())
