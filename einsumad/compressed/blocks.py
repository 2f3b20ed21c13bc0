"""Structured matrices over several variables, such as the Hessian of a function of several arrays.

Owns :class:`BlockTensor`. Imports structured tensors, their algebra, what square matrices can do, and how they are
shown. Invariant: the block of a row variable and a column variable is a structured tensor. Arrays of a block are
fetched when it is first looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed import algebra
from einsumad.compressed.block_systems import BlockSystem, Layout, Pair
from einsumad.compressed.forms import Form
from einsumad.compressed.matrix import SquareMatrix
from einsumad.compressed.shown import Shown
from einsumad.compressed.sparse import block_sparse, linear_operator, sparse_matrix
from einsumad.compressed.tensor import CompressedTensor, is_number, not_added
from einsumad.compressed.text import blocks_text
from einsumad.compressed.values import Structured
from einsumad.errors import ShapeError
from einsumad.planning import checked_limit

Fetch: TypeAlias = Callable[[Sequence[Pair]], Sequence[Sequence[Any]]]


class BlockTensor(SquareMatrix, Shown):
    """A square matrix of structured tensors, one for each pair of variables.

    It is what ``ea.hessian(f, argnums=(0, 1), compressed=True)`` returns, also for an argument that is a tree of
    arrays. ``H[0, 1]`` or ``H["W", "b"]`` is a :class:`CompressedTensor`, ``H[0]`` a row of them. Products and
    solutions take and give trees like the arguments.

    >>> import numpy as np, einsumad as ea
    >>> H = ea.hessian(lambda w, b: np.sum((w + b) ** 2), argnums=(0, 1), compressed=True)(np.ones(2), 1.0)
    >>> H["w", "b"].dense()
    array([2., 2.])
    >>> H @ (np.ones(2), 0.0)
    (array([2., 2.]), np.float64(4.0))
    """

    __array_ufunc__ = None

    def __init__(
        self,
        layout: Layout,
        forms: Mapping[Pair, Form],
        fetch: Fetch,
        held: Mapping[Pair, Structured] | None = None,
        symmetric: bool = True,
    ) -> None:
        super().__init__()
        self.layout: Layout = layout
        self._forms = dict(forms)
        self._fetch = fetch
        self._held: dict[Pair, Structured] = dict(held or {})
        self._is_symmetric = symmetric

    @property
    def symmetric(self) -> bool:
        """Whether the matrix is known to be symmetric."""
        return self._is_symmetric

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the whole as a matrix of flattened rows and columns."""
        return sum(self.layout.sizes), sum(self.layout.sizes)

    @property
    def dtype(self) -> np.dtype:
        """The dtype that those of the variables promote to."""
        return self.layout.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays that are stored; one that several blocks have counts once."""
        arrays = {id(array): array for held in self.blocks().values() for array in held.arrays}
        return sum([array.nbytes for array in arrays.values() if array.shape])

    @property
    def structure(self) -> str:
        """The structure of each block, and the size of both forms."""
        return blocks_text(self.layout.names, self.blocks(), self.symmetric, self.nbytes)

    @property
    def T(self) -> BlockTensor:  # noqa: N802 (NumPy's name)
        """The matrix with the columns as rows."""
        return self._of(_turned(self.blocks()), self.symmetric)

    def dense(self, *, memory_limit: int | None = None) -> Any:
        """The blocks as arrays, in a tree of trees like that of ``ea.hessian``; over the limit MemoryLimitError."""
        blocks, limit = self.blocks(), checked_limit(memory_limit)
        rows = []
        for i in range(len(self)):
            row = [blocks[i, j].compute([blocks[i, j].form.node], limit)[0] for j in range(len(self))]
            rows.append(self.layout.unflatten(row))
        return self.layout.unflatten(rows)

    def restrict(self, *keys: Any) -> tuple[tuple[CompressedTensor, ...], ...]:
        """The blocks of some variables, by position or name, as a tuple of rows."""
        chosen = [self.layout.position(key) for key in keys]
        return tuple([tuple([self[i, j] for j in chosen]) for i in chosen])

    def inverse(self, *, memory_limit: int | None = None) -> BlockTensor:
        """The inverse, block by block through Schur complements, each in its structure where it has one."""
        return self._of(self._system("inverse").inverse(checked_limit(memory_limit)), self.symmetric)

    def to_sparse(self) -> Any:
        """The whole as a sparse array of SciPy."""
        held = self.blocks()
        return block_sparse(
            [[sparse_matrix(held[i, j].form, held[i, j].arrays) for j in range(len(self))] for i in range(len(self))]
        )

    def as_linear_operator(self) -> Any:
        """The matrix on flat vectors, the variables one after the other, as a LinearOperator of SciPy."""
        system = self._system("as_linear_operator")
        turned = BlockSystem(self.layout, _turned(self.blocks()), self.symmetric)
        return linear_operator(
            self.shape,
            self.dtype,
            lambda v: system.apply(v.reshape(len(v), -1)).reshape(v.shape),
            lambda v: turned.apply(v.reshape(len(v), -1)).reshape(v.shape),
        )

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            if len(key) != 2:
                raise IndexError(f"a block is named by a row and a column, got {len(key)} keys")
            i, j = (self.layout.position(part) for part in key)
            return CompressedTensor(self._blocks([(i, j)])[0])
        return BlockRow(self, self.layout.position(key))

    def __len__(self) -> int:
        return len(self.layout.names)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a block tensor has no dense array to share: let NumPy copy")
        whole = self._system("dense").apply(np.eye(self.shape[0], dtype=self.dtype))
        return whole.astype(self.dtype if dtype is None else dtype, copy=False)

    def __repr__(self) -> str:
        return f"<BlockTensor {', '.join(self.layout.names)}: {self.shape} {self.dtype}>\n{self.structure}"

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, CompressedTensor):
            return NotImplemented
        if not isinstance(other, BlockTensor):
            system = self._system("H @ v")
            flat, extra = system.to_flat(other, "H @ v")
            return system.from_flat(system.apply(flat), extra)
        _check_same(self, other)
        mine, theirs = self.blocks(), other.blocks()
        found: dict[Pair, Structured] = {}
        for i, j in product(range(len(self)), repeat=2):
            parts = [algebra.multiply(mine[i, k], theirs[k, j]) for k in range(len(self))]
            found[i, j] = _total(parts)
        return self._of(found, symmetric=False)

    def __add__(self, other: Any) -> BlockTensor:
        if not isinstance(other, BlockTensor):
            raise not_added(other)
        _check_same(self, other)
        theirs = other.blocks()
        found = {pair: algebra.add(held, theirs[pair]) for pair, held in self.blocks().items()}
        return self._of(found, self.symmetric and other.symmetric)

    def __radd__(self, other: Any) -> BlockTensor:
        raise not_added(other)

    __rsub__ = __radd__

    def __rmatmul__(self, other: Any) -> Any:
        return (self if self.symmetric else self.T) @ other

    def __neg__(self) -> BlockTensor:
        return self * -1

    def __sub__(self, other: Any) -> BlockTensor:
        return self + -other if isinstance(other, BlockTensor) else self + other

    def __mul__(self, other: Any) -> BlockTensor:
        if not is_number(other):
            return NotImplemented
        number = float(other)
        return self._of({pair: algebra.scale(held, number) for pair, held in self.blocks().items()}, self.symmetric)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> BlockTensor:
        return self * (1 / float(other)) if is_number(other) else NotImplemented

    def _of(self, held: Mapping[Pair, Structured], symmetric: bool) -> BlockTensor:
        return BlockTensor(self.layout, {}, _nothing, held, symmetric)

    def _blocks(self, pairs: Sequence[Pair]) -> list[Structured]:
        """These blocks, those that are not there yet fetched together."""
        with self._lock:
            wanted = dict.fromkeys([pair for pair in pairs if pair not in self._held])
            missing = [pair for pair in wanted if pair in self._forms]
            for pair, arrays in zip(missing, self._fetch(missing) if missing else (), strict=True):
                self._held[pair] = Structured(self._forms[pair], tuple(arrays))
            return [self._held[pair] for pair in pairs]

    def blocks(self) -> dict[Pair, Structured]:
        """All blocks, for each its form and arrays."""
        pairs = [(i, j) for i in range(len(self)) for j in range(len(self))]
        return dict(zip(pairs, self._blocks(pairs), strict=True))

    def _system(self, what: str) -> BlockSystem:  # noqa: ARG002 (it is square always)
        return BlockSystem(self.layout, self.blocks(), self.symmetric)


class BlockRow(Sequence[CompressedTensor]):
    """The blocks of one row variable, by position or name of the column."""

    def __init__(self, whole: BlockTensor, row: int) -> None:
        self._whole, self._row = whole, row

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return tuple([self[k] for k in range(len(self))[key]])
        return self._whole[self._row, key]

    def __len__(self) -> int:
        return len(self._whole)

    def __repr__(self) -> str:
        return f"<row {self._whole.layout.names[self._row]} of {self._whole!r}>"

    def __iter__(self) -> Iterator[CompressedTensor]:
        return (self[k] for k in range(len(self)))


def _turned(held: Mapping[Pair, Structured]) -> dict[Pair, Structured]:
    return {(j, i): algebra.transpose(block) for (i, j), block in held.items()}


def _check_same(one: BlockTensor, other: BlockTensor) -> None:
    if one.layout.shapes != other.layout.shapes:
        raise ShapeError(
            f"block tensors over variables of shapes {one.layout.shapes} and {other.layout.shapes} do not fit"
        )


def _nothing(pairs: Sequence[Pair]) -> Sequence[Sequence[Any]]:
    raise KeyError(f"the blocks {pairs} are not there")


def _total(parts: Sequence[Structured]) -> Structured:
    found = parts[0]
    for part in parts[1:]:
        found = algebra.add(found, part)
    return found
