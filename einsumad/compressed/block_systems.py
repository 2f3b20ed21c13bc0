"""The square matrix of several variables as one on flat vectors.

Owns layouts and this system. Imports systems and solving. Invariant: the variables stand one after the other, each in C
order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from einsumad.compressed import algebra
from einsumad.compressed.loading import factorisations, solving
from einsumad.compressed.systems import System, damped, real_array
from einsumad.compressed.values import Structured, times
from einsumad.errors import ShapeError
from einsumad.graph import Shape
from einsumad.records import record

if TYPE_CHECKING:
    from einsumad.compressed.factorisations import Factorisation
    from einsumad.compressed.solving import Blocks

Pair: TypeAlias = tuple[int, int]


@record(repr=True)
class Layout:
    """The variables of a block matrix: names and shapes, and how a tree of their arrays is taken apart and made."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[np.dtype, ...]
    flatten: Callable[[Any], list[Any]]
    unflatten: Callable[[Sequence[Any]], Any]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of entries of each variable."""
        return tuple([prod(shape) for shape in self.shapes])

    @property
    def dtype(self) -> np.dtype:
        """The dtype that those of the variables promote to."""
        return np.result_type(*self.dtypes)

    def position(self, key: Any) -> int:
        """The position of a variable given by position, by name, or by the last part of its name if only one has it."""
        count = len(self.names)
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            if not -count <= key < count:
                raise IndexError(f"block {key} is out of bounds: there are {count} variables")
            return int(key) % count
        found = [k for k, name in enumerate(self.names) if key in (name, _last(name))]
        if len(found) != 1:
            raise KeyError(
                f"{key!r} names {'no' if not found else 'more than one'} variable of {', '.join(self.names)}"
            )
        return found[0]


def _last(name: str) -> str:
    """``W`` of ``params['layer']['W']``."""
    return name.rsplit("[", 1)[-1].rstrip("]").strip("'\"") if "[" in name else name


class BlockSystem(System):
    """The system of the blocks of all pairs of variables."""

    def __init__(self, layout: Layout, held: Mapping[Pair, Structured], symmetric: bool) -> None:
        self.layout = layout
        self.held = held
        self.size = sum(layout.sizes)
        self.dtype = layout.dtype
        self.symmetric = symmetric

    def to_flat(self, given: Any, what: str) -> tuple[np.ndarray, Shape]:
        """The arrays of a tree one after the other, shape (N, m), and the further axes that all have."""
        parts = [real_array(part, what) for part in self.layout.flatten(given)]
        extras = []
        for part, shape, name in zip(parts, self.layout.shapes, self.layout.names, strict=True):
            if part.shape[: len(shape)] != shape:
                raise ShapeError(f"{what} needs first axes {shape} for {name}, got shape {part.shape}")
            extras.append(part.shape[len(shape) :])
        if len(set(extras)) > 1:
            raise ShapeError(
                f"{what} got further axes {extras} for {', '.join(self.layout.names)}: they have to be equal"
            )
        flat = [part.reshape(size, prod(extras[0])) for part, size in zip(parts, self.layout.sizes, strict=True)]
        return np.concatenate(flat).astype(self.dtype, copy=False), extras[0]

    def from_flat(self, flat: np.ndarray, extra: Shape) -> Any:
        """A tree like the arguments from (N, m)."""
        parts = []
        for part, shape, dtype in zip(self.split(flat), self.layout.shapes, self.layout.dtypes, strict=True):
            found = part.reshape((*shape, *extra)).astype(dtype)
            parts.append(found if found.ndim else found[()])
        return self.layout.unflatten(parts)

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """The rows of each variable."""
        return np.split(flat, np.cumsum(self.layout.sizes)[:-1])

    def apply(self, flat: np.ndarray) -> np.ndarray:
        """The matrix times (N, m), block by block."""
        shapes = self.layout.shapes
        parts = [p.reshape((*shape, flat.shape[1])) for p, shape in zip(self.split(flat), shapes, strict=True)]
        rows = []
        for i, size in enumerate(self.layout.sizes):
            row = np.zeros((size, flat.shape[1]), self.dtype)
            for j, part in enumerate(parts):
                row += times(self.held[i, j], part).reshape(row.shape)
            rows.append(row)
        return np.concatenate(rows)

    def diagonal(self) -> np.ndarray:
        """The diagonals of the blocks on the diagonal, shape (N, 1)."""
        parts = [algebra.diagonal(self.held[k, k]).reshape(-1, 1) for k in range(len(self.layout.names))]
        return np.concatenate(parts).astype(self.dtype, copy=False)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return np.sum(self.diagonal())

    def blocks(self, damping: float) -> Blocks:
        """The blocks, with a multiple of the identity on the diagonal."""
        parts = range(len(self.layout.names))
        held = {pair: damped(one, damping if pair[0] == pair[1] else 0.0) for pair, one in self.held.items()}
        sizes = dict(enumerate(self.layout.sizes))
        found: Blocks = solving().Blocks(tuple(parts), held, sizes, self.dtype, self.symmetric)
        return found

    def factorise(self, damping: float, memory_limit: int | None) -> Factorisation:
        """A factorisation by elimination of one variable after the other, or of the whole where that loses digits."""
        blocks = self.blocks(damping)
        times = BlockSystem(self.layout, blocks.held, True).apply
        found: Factorisation = solving().factorise_blocks(blocks, memory_limit)
        if solving().backward_error(found.solve, times, self.size, self.dtype) > np.finfo(self.dtype).eps ** 0.5:
            found = solving().factorise_whole(blocks, memory_limit)
        refined: Factorisation = factorisations().Refined(found, times)
        return refined

    def inverse(self, memory_limit: int | None) -> dict[Pair, Structured]:
        """The blocks of the inverse, by elimination, or of the whole where that loses digits."""
        blocks = self.blocks(0.0)
        found: dict[Pair, Structured] = solving().inverse_blocks(blocks, memory_limit)
        lost = solving().backward_error(
            BlockSystem(self.layout, found, self.symmetric).apply, self.apply, self.size, self.dtype
        )
        return found if lost <= np.finfo(self.dtype).eps ** 0.75 else solving().inverse_whole(blocks, memory_limit)
