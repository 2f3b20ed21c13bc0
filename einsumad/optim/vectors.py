"""Trees of arrays as one vector of float64, which is what optimisers work with.

Owns the order of the entries and the casts. Imports NumPy, the errors and the trees of the frontend. Invariant: leaves
stand one after the other in the order of the tree, each in C order; what goes out is a copy in float64, what comes back
is a copy in the leaf's own dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.errors import DifferentiationError, ShapeError
from einsumad.frontend.trees import Tree, leaf_names, unflatten
from einsumad.frontend.trees import flatten as leaves_of

_REAL = "fiub"


@dataclass(frozen=True, eq=False)
class Layout:
    """The tree that a vector stands for, with the shape and dtype of each leaf."""

    tree: Tree
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype, ...]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of entries of each leaf."""
        return tuple([prod(shape) for shape in self.shapes])

    @cached_property
    def size(self) -> int:
        """The number of entries of the vector."""
        return sum(self.sizes)

    @cached_property
    def _slices(self) -> tuple[slice, ...]:
        ends = accumulate(self.sizes)
        return tuple([slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)])

    def flatten(self, tree: Any) -> np.ndarray:
        """The vector of a tree of this structure; each leaf is broadcast to its shape."""
        leaves, found = leaves_of(tree)
        if found != self.tree:
            raise TypeError(f"the tree has the structure {found}, expected {self.tree}")
        parts = []
        for number, (leaf, shape) in enumerate(zip(leaves, self.shapes, strict=True)):
            array = real_array(leaf, f"leaf {number}")
            try:
                parts.append(np.broadcast_to(array, shape).reshape(-1))
            except ValueError:
                raise ShapeError(f"leaf {number} has shape {array.shape}, expected {shape}") from None
        return np.concatenate(parts)

    def unflatten(self, vector: Any) -> Any:
        """The tree of a vector, with new arrays in the shapes and dtypes of the leaves; numbers for shape ()."""
        array = real_array(vector, "the vector").reshape(-1)
        if array.size != self.size:
            raise ShapeError(f"the vector has {array.size} entries, expected {self.size}")
        places = zip(self._slices, self.shapes, self.dtypes, strict=True)
        return unflatten(self.tree, [array[at].reshape(shape).astype(dtype)[()] for at, shape, dtype in places])

    def matrix(self, blocks: Sequence[Any]) -> np.ndarray:
        """Jacobians of some outputs, each by all leaves, as one matrix with a column for each entry of the vector."""
        count = len(self.shapes)
        rows = [blocks[start : start + count] for start in range(0, len(blocks), count)]
        return np.block([[_block(part, shape) for part, shape in zip(row, self.shapes, strict=True)] for row in rows])


def _block(jacobian: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = np.asarray(jacobian, np.float64)
    return array.reshape(prod(array.shape[: array.ndim - len(shape)]), prod(shape))


def real_array(value: Any, what: str) -> np.ndarray:
    """The value as an array of float64. Complex numbers, texts and objects raise."""
    array = np.asarray(value)
    if array.dtype.kind not in _REAL:
        raise TypeError(f"{what} has dtype {array.dtype}: optimisers work with real numbers")
    return array.astype(np.float64, copy=False)


def joined(tree: Any, what: str) -> np.ndarray:
    """The entries of all leaves of a tree in one new vector."""
    leaves, _ = leaves_of(tree)
    if not leaves:
        raise TypeError(f"{what} has no arrays in it, got {tree!r}")
    return np.concatenate([real_array(leaf, what).reshape(-1) for leaf in leaves])


def rounding_of(value: Any) -> float:
    """A bound on the error by rounding of a number that is a sum of many, in the dtype that it has."""
    return 10.0 * float(np.finfo(np.asarray(value).dtype).eps) * abs(float(value))


def layout_of(tree: Any, name: str) -> Layout:
    """The layout of a tree of floating-point arrays and numbers; `name` stands for the tree in messages."""
    leaves, spec = leaves_of(tree)
    arrays = []
    for leaf, where in zip(leaves, leaf_names(tree, name), strict=True):
        if isinstance(leaf, ea.Tensor):
            raise TypeError(f"{where} is a tensor: optimisers start at plain arrays")
        array = np.asarray(leaf)
        if array.dtype.kind != "f":
            raise DifferentiationError(
                f"{where} has dtype {array.dtype}: pass floating-point values, e.g. np.asarray(x, float)"
            )
        arrays.append(array)
    layout = Layout(spec, tuple([array.shape for array in arrays]), tuple([array.dtype for array in arrays]))
    if not layout.size:
        raise ShapeError(f"{name} has no entries: pass an array or a tree of arrays with at least one")
    return layout


def flatten(tree: Any) -> tuple[np.ndarray, Callable[[Any], Any]]:
    """The entries of a tree of arrays as one vector of float64, and the function that makes the tree of a vector.

    Leaves stand in the order of the tree (dictionaries by sorted keys), each in C order. They must be floating-point;
    in the tree that comes back each has its own shape and dtype, so float32 stays float32. Raises
    :class:`DifferentiationError` (a ``TypeError``) for integers and :class:`ShapeError` where there are no entries.

    >>> import numpy as np
    >>> from einsumad.optim import flatten
    >>> vector, unflatten = flatten({"W": np.eye(2, dtype=np.float32), "b": 0.5})
    >>> vector
    array([1. , 0. , 0. , 1. , 0.5])
    >>> unflatten(2 * vector)["W"]
    array([[2., 0.],
           [0., 2.]], dtype=float32)
    """
    layout = layout_of(tree, "tree")
    return layout.flatten(tree), layout.unflatten
