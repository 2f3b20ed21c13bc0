"""A subject: a function of a point with one array as its value, seen as a function from real vectors to real vectors.

Owns how the toolkit calls functions of users. Imports points. Invariant: a function is always called with fresh copies,
so nothing it does to its arguments reaches the caller or a later call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError
from einsumad.testing.point import Array, Point, point_of, real_vector


@dataclass(frozen=True)
class Subject:
    """`function` takes the arguments of the point, in their containers, and returns one array or number."""

    function: Callable[..., Any]
    point: Point
    name: str

    @cached_property
    def output(self) -> Array:
        """The value at the point, computed in the precision of the arguments."""
        return self.native(self.point.vector)

    @cached_property
    def wide_output(self) -> Array:
        """The value at the point, computed from arguments in double precision where the function takes them."""
        return self._call(self.point.arguments(self.point.vector, wide=self._takes_wide))

    @cached_property
    def _takes_wide(self) -> bool:
        """Whether the function takes arguments in double precision; one that holds float32 arrays may refuse them."""
        if all(array.dtype in (np.float64, np.complex128) for array in self.point.arrays):
            return True
        try:
            self._call(self.point.arguments(self.point.vector))
        except Exception:  # noqa: BLE001 - the value itself was computed, so it is a refusal
            return False
        return True

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return tuple(self.output.shape)

    @property
    def single(self) -> bool:
        """Whether the function computes in less than double precision whatever it is given."""
        dtype = self.wide_output.dtype
        return bool(dtype.itemsize < (16 if dtype.kind == "c" else 8))

    def native(self, vector: Array) -> Array:
        """The value at a vector, from arguments in their own precision."""
        return self._call(self.point.arguments(vector, wide=False))

    def flat(self, vector: Array) -> Array:
        """The value at a vector in double precision, as a real vector; not a number where the function raises.

        At the point itself exceptions come through, and they do so in :attr:`output`.
        """
        try:
            value = self._call(self.point.arguments(vector, wide=self._takes_wide))
        except Exception:  # noqa: BLE001 - whatever a function raises where it is not defined
            return np.full(self.flat_size, np.nan)
        flat = real_vector(value, self._complex)
        if flat.size != self.flat_size:
            raise ShapeError(
                f"{self.name} returned the shape {value.shape} near the point and {self.shape} at it: "
                "a derivative needs one shape"
            )
        return flat

    @cached_property
    def _complex(self) -> bool:
        return bool(self.wide_output.dtype.kind == "c")

    @cached_property
    def flat_size(self) -> int:
        """The number of real entries of the value."""
        return int(self.wide_output.size) * (2 if self._complex else 1)

    def analytic(self, vector: Array) -> Array:
        """The complex value at a complex vector, of a function that takes complex arguments for real ones."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return self._call(self.point.arguments(vector)).reshape(-1)

    def _call(self, arguments: Sequence[Any]) -> Array:
        with np.errstate(all="ignore"):
            return as_output(self.function(*arguments), self.name)


def as_output(value: Any, name: str) -> Array:
    """The value of a function as an array of numbers."""
    if value is None:
        raise DifferentiationError(f"{name} returned None: return the value, an array or a number")
    array = np.asarray(value)
    if array.dtype.kind not in "fc":
        if array.dtype.kind in "iub":
            return array.astype(np.float64)
        raise DifferentiationError(f"{name} returned {type(value).__name__}: return one array or number")
    return array


def bind(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    argnums: Sequence[int],
    names: Sequence[str],
) -> tuple[Callable[..., Any], Point]:
    """The function of the chosen arguments alone, and the point they make; the others keep their values."""
    point = point_of([args[k] for k in argnums], names)

    def of_chosen(*chosen: Any) -> Any:
        full = list(args)
        for k, value in zip(argnums, chosen, strict=True):
            full[k] = value
        return f(*full, **kwargs)

    return of_chosen, point
