"""A point: the differentiated arguments of a function, taken apart into arrays and seen as one real vector.

Owns the correspondence between arguments, their arrays and the entries of a real vector. Imports the errors and the
trees. Invariant: ``split(join(arrays))`` gives the arrays back, bit by bit; a complex array counts as two real ones,
its real parts before its imaginary parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from einsumad.errors import DifferentiationError, ShapeError
from einsumad.frontend.trees import Tree, flatten, leaf_names, unflatten

Array = np.ndarray[Any, Any]

_WIDE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


@dataclass(frozen=True)
class Point:
    """Arrays with names; `tree` is the container they came in and `numbers` says which of them were Python numbers."""

    arrays: tuple[Array, ...]
    names: tuple[str, ...]
    tree: Tree
    numbers: tuple[bool, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of real entries of each array."""
        return tuple([array.size * (2 if array.dtype.kind == "c" else 1) for array in self.arrays])

    @cached_property
    def size(self) -> int:
        """The number of real entries of all arrays."""
        return sum(self.sizes)

    @cached_property
    def vector(self) -> Array:
        """All entries as one vector of float64."""
        return self.join(self.arrays)

    @cached_property
    def epsilon(self) -> float:
        """The rounding unit of the least precise array."""
        return max([float(np.finfo(array.dtype).eps) for array in self.arrays], default=float(np.finfo(float).eps))

    @property
    def is_complex(self) -> bool:
        """Whether some array is complex."""
        return any(array.dtype.kind == "c" for array in self.arrays)

    def join(self, arrays: Sequence[Any]) -> Array:
        """The real vector of arrays of these shapes."""
        parts = [
            real_vector(np.asarray(array), own.dtype.kind == "c")
            for array, own in zip(arrays, self.arrays, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def split(self, vector: Array, *, wide: bool = True) -> list[Any]:
        """The arrays of a vector: in double precision, or in their own; from a complex vector complex ones."""
        arrays: list[Any] = []
        start = 0
        for own, size, number in zip(self.arrays, self.sizes, self.numbers, strict=True):
            part = vector[start : start + size]
            start += size
            if own.dtype.kind == "c":
                part = part[: own.size] + 1j * part[own.size :]
            if vector.dtype.kind != "c":
                part = part.astype(_WIDE[own.dtype.kind] if wide else own.dtype, copy=True)
            shaped = part.reshape(own.shape)
            arrays.append(shaped[()] if number else shaped)
        return arrays

    def arguments(self, vector: Array, *, wide: bool = True) -> Any:
        """The arguments in their containers, with the entries of a vector."""
        return unflatten(self.tree, self.split(vector, wide=wide))

    def in_containers(self, arrays: Sequence[Any]) -> Any:
        """Arrays, or whatever stands for them, in the containers of the arguments."""
        return unflatten(self.tree, arrays)

    def locate(self, entry: int) -> str:
        """The name of an entry, such as ``x[2, 0]`` or ``z[1].imag``."""
        for own, size, name in zip(self.arrays, self.sizes, self.names, strict=True):
            if entry < size:
                part = "" if own.dtype.kind != "c" else ".real" if entry < own.size else ".imag"
                return name + subscript(own.shape, entry % max(own.size, 1)) + part
            entry -= size
        raise IndexError(f"the point has {self.size} entries, asked for one behind the last")


def real_vector(array: Array, as_complex: bool | None = None) -> Array:
    """The entries in double precision, complex ones as real parts followed by imaginary parts."""
    flat = array.reshape(-1)
    if as_complex is None:
        as_complex = array.dtype.kind == "c"
    if as_complex:
        return np.concatenate([flat.real, flat.imag]).astype(np.float64)
    if flat.dtype.kind == "c":
        raise ShapeError("a complex array was given for a real one: take its real part if the rest is meant to be lost")
    return flat.astype(np.float64)


def subscript(shape: Sequence[int], entry: int) -> str:
    """The index of a flat entry as text, such as ``[2, 0]``; nothing for a scalar."""
    if not shape:
        return ""
    return "[" + ", ".join(map(str, (int(k) for k in np.unravel_index(entry, tuple(shape))))) + "]"


def count(shape: Sequence[int]) -> int:
    """The number of entries of a shape."""
    return prod(shape)


def point_of(arguments: Sequence[Any], names: Sequence[str]) -> Point:
    """The point of some arguments: arrays, numbers, lists of numbers, or containers of these.

    Raises :class:`DifferentiationError` for entries that are no floating or complex numbers.
    """
    prepared = [_as_array_if_numbers(argument) for argument in arguments]
    leaves, tree = flatten(tuple(prepared))
    labels = [label for value, name in zip(prepared, names, strict=True) for label in leaf_names(value, name)]
    arrays = []
    for leaf, label in zip(leaves, labels, strict=True):
        array = np.asarray(leaf)
        if array.dtype.kind not in "fc":
            remedy = "leave it out of argnums" if label in names else "take it out of its container"
            raise DifferentiationError(
                f"argument {label!r} has dtype {array.dtype}, which has no derivative: "
                f"pass floating-point values, e.g. np.asarray(x, float), or {remedy}"
            )
        arrays.append(array.copy())
    return Point(tuple(arrays), tuple(labels), tree, tuple([not isinstance(leaf, np.ndarray) for leaf in leaves]))


def _as_array_if_numbers(argument: Any) -> Any:
    """Lists of numbers are arrays, as NumPy's functions see them; other containers stay what they are."""
    if type(argument) in (list, tuple) and argument:
        leaves, _ = flatten(argument)
        if all(isinstance(leaf, (int, float, complex, np.number)) for leaf in leaves):
            return np.asarray(argument)
    return argument
