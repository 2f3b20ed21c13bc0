"""Matrices over several variables, by eliminating one variable after the other.

Owns the choice of the variable, and Schur complements in their structure. Imports the strategies, the algebra of
structured tensors and the factorisations. Invariant: the choice follows from forms and sizes; a complement that is
singular to working precision, judged by the matrix it was subtracted from, is refused.

Source: F. Zhang (ed.), The Schur Complement and Its Applications, section 1.2; B. Triggs et al., Bundle Adjustment - A
Modern Synthesis, 2000, section 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed import algebra
from einsumad.compressed.factorisations import Border, Bordered, Factorisation, factorise
from einsumad.compressed.solving.choice import choose
from einsumad.compressed.solving.strategy import Strategy, of_array
from einsumad.compressed.sparse import sparse_matrix
from einsumad.compressed.values import Structured, times
from einsumad.errors import LinearAlgebraError, MemoryLimitError
from einsumad.graph import Selection
from einsumad.planning import physical_memory, readable_bytes
from einsumad.records import record

Pair: TypeAlias = tuple[int, int]
_FEWEST = 48
"""Matrices up to this size are factorised whole."""
_WORTH_IT = 10
"""How many times less work than a dense factorisation eliminating a variable has to be."""


@record(repr=True)
class Blocks:
    """A square matrix: a structured tensor for each pair of the variables `parts`, in their order.

    `scales` are the largest entries of the rows before anything was subtracted, where something was.
    """

    parts: tuple[int, ...]
    held: Mapping[Pair, Structured]
    sizes: Mapping[int, int]
    dtype: np.dtype
    symmetric: bool
    scales: Mapping[int, np.ndarray] | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return sum([self.sizes[part] for part in self.parts])

    def without(self, part: int) -> tuple[int, ...]:
        """The other variables."""
        return tuple([other for other in self.parts if other != part])

    def places(self, part: int) -> np.ndarray:
        """Where the rows of a variable stand."""
        start = sum([self.sizes[other] for other in self.parts[: self.parts.index(part)]])
        return np.arange(start, start + self.sizes[part])


def factorise_blocks(blocks: Blocks, memory_limit: int | None) -> Factorisation:
    """A factorisation of the whole.

    Of a variable whose own block is singular, or nearly so, it says nothing about the whole, which is taken at once.
    """
    chosen = eliminated_part(blocks, memory_limit)
    if chosen is None:
        return factorise_whole(blocks, memory_limit)
    part, strategy = chosen
    try:
        inner = strategy.factorise(blocks.held[part, part].arrays)
    except LinearAlgebraError:
        return factorise_whole(blocks, memory_limit)
    step = _Elimination(blocks, part, strategy, inner)
    try:
        schur = factorise_blocks(step.complement(), memory_limit)
    except LinearAlgebraError:
        largest = float(_row_scale(blocks, part).max(initial=0))
        if abs(inner.smallest_pivot) > np.sqrt(np.finfo(blocks.dtype).eps) * largest:
            raise
        return factorise_whole(blocks, memory_limit)
    lower = None if blocks.symmetric else step.border(lower=True)
    return Bordered(inner, step.border(lower=False), schur, lower=lower, eliminated=blocks.places(part))


def eliminated_part(blocks: Blocks, memory_limit: int | None) -> tuple[int, Strategy] | None:
    """The largest variable whose own block is cheap to solve with; None where the whole is factorised at once."""
    if blocks.size <= _FEWEST or len(blocks.parts) == 1:
        return None
    found: list[tuple[int, int, Strategy]] = []
    for part in blocks.parts:
        size = blocks.sizes[part]
        form = blocks.held[part, part].form
        if size and form.terms:
            strategy = choose(form, memory_limit)
            if strategy.effort.flops * _WORTH_IT <= size**3:
                found.append((size, -part, strategy))
    if not found:
        return None
    _, part, strategy = max(found, key=lambda item: item[:2])
    return -part, strategy


def factorise_whole(blocks: Blocks, memory_limit: int | None) -> Factorisation:
    """The one variable that is left in its structure, or all of them as one dense matrix."""
    if len(blocks.parts) == 1:
        (part,) = blocks.parts
        held = blocks.held[part, part]
        strategy = choose(held.form, memory_limit)
        if blocks.scales is None or strategy.effort.flops * _WORTH_IT <= blocks.size**3:
            found = strategy.factorise(held.arrays)
            _check_scale(found, blocks)
            return found
    needed = 3 * blocks.size**2 * blocks.dtype.itemsize
    limit = physical_memory() if memory_limit is None else memory_limit
    if needed > limit:
        raise MemoryLimitError(
            f"a dense factorisation of {blocks.size} rows would need {readable_bytes(needed)}, over the limit of "
            f'{readable_bytes(limit)}: solve with method="cg", which needs products only, or raise the limit with '
            f"memory_limit={needed} (bytes)"
        )
    scale = None if blocks.scales is None else np.concatenate([blocks.scales[part] for part in blocks.parts])
    return factorise(dense_matrix(blocks), blocks.symmetric, scale)


def dense_matrix(blocks: Blocks) -> np.ndarray:
    """The whole as one array."""
    rows = []
    for i in blocks.parts:
        row = [dense(blocks.held[i, j]).reshape(blocks.sizes[i], blocks.sizes[j]) for j in blocks.parts]
        rows.append(np.concatenate(row, axis=1).astype(blocks.dtype, copy=False))
    return np.concatenate(rows)


def dense(held: Structured) -> np.ndarray:
    """The tensor as an array."""
    return np.asarray(held.compute([held.form.node])[0])


def _check_scale(found: Factorisation, blocks: Blocks) -> None:
    """Refuse a complement whose smallest pivot is the rounding error of the subtraction."""
    if blocks.scales is None or not blocks.size:
        return
    largest = max([float(scale.max(initial=0)) for scale in blocks.scales.values()])
    if not abs(found.smallest_pivot) > blocks.size * np.finfo(blocks.dtype).eps * largest:
        raise LinearAlgebraError(
            f"the matrix is singular: its Schur complement has the pivot {found.smallest_pivot:.3g}, beside entries of "
            f"{largest:.3g}; pass damping= to add a multiple of the identity"
        )


class _Elimination:
    """One variable eliminated from a matrix: the border, and what is left."""

    def __init__(self, blocks: Blocks, part: int, strategy: Strategy, inner: Factorisation) -> None:
        self.blocks, self.part, self.inner = blocks, part, inner
        self.rest = blocks.without(part)
        self.right = {i: blocks.held[i, part] for i in self.rest}
        self.left = {i: blocks.held[part, i] for i in self.rest}
        self.scattered = any(_selects(held) for held in self.right.values())
        self.strategy = strategy
        self.matrices = {i: sparse_matrix(h.form, h.arrays) for i, h in self.right.items()} if self.scattered else {}
        self.turned = (
            {
                i: self.matrices[i].T if blocks.symmetric else sparse_matrix(h.form, h.arrays)
                for i, h in self.left.items()
            }
            if self.scattered
            else {}
        )

    def border(self, *, lower: bool) -> Border:
        """The block beside what is eliminated, or below it, as its products."""
        down, across = (self._below, self._beside) if lower else (self._beside, self._below)
        if lower:
            return Border(down, lambda v: self._turned(self.left, v, rows=True))
        if self.blocks.symmetric:
            return Border(down, across)
        return Border(down, lambda v: self._turned(self.right, v, rows=False))

    def _beside(self, v: np.ndarray) -> np.ndarray:
        """``B v``, for v over the eliminated rows."""
        return np.concatenate([self._times(self.matrices.get(i), self.right[i], v) for i in self.rest])

    def _below(self, v: np.ndarray) -> np.ndarray:
        """``C v``, for v over the rest."""
        starts = np.cumsum([0, *[self.blocks.sizes[i] for i in self.rest]])
        total = np.zeros((self.blocks.sizes[self.part], v.shape[1]), self.blocks.dtype)
        for k, i in enumerate(self.rest):
            total += self._times(self.turned.get(i), self.left[i], v[starts[k] : starts[k + 1]])
        return total

    def _turned(self, held: Mapping[int, Structured], v: np.ndarray, *, rows: bool) -> np.ndarray:
        """The transpose of either border times v."""
        turned = {i: algebra.transpose(one) for i, one in held.items()}
        if rows:
            return np.concatenate([self._times(None, turned[i], v) for i in self.rest])
        starts = np.cumsum([0, *[self.blocks.sizes[i] for i in self.rest]])
        parts = [self._times(None, turned[i], v[starts[k] : starts[k + 1]]) for k, i in enumerate(self.rest)]
        return np.asarray(np.sum(parts, axis=0))

    def _times(self, matrix: Any, held: Structured, v: np.ndarray) -> np.ndarray:
        if matrix is not None:
            return np.asarray(matrix @ v)
        columns = held.form.shape[held.form.rows :]
        return times(held, v.reshape((*columns, v.shape[1]))).reshape(-1, v.shape[1])

    def complement(self) -> Blocks:
        """``A - B D⁻¹ C`` over the other variables."""
        blocks = self.blocks
        products = self._scattered_products() if self.scattered else self._structured_products()
        held: dict[Pair, Structured] = {}
        for (i, j), product in products.items():
            minus = algebra.scale(product, -1)
            held[i, j] = algebra.add(blocks.held[i, j], minus) if blocks.held[i, j].form.terms else minus
            if blocks.symmetric and i != j:
                held[j, i] = algebra.transpose(held[i, j])
        scales = {i: _row_scale(blocks, i) for i in self.rest} if blocks.scales is None else blocks.scales
        return Blocks(self.rest, held, blocks.sizes, blocks.dtype, blocks.symmetric, {i: scales[i] for i in self.rest})

    def _pairs(self) -> list[Pair]:
        return [(i, j) for i in self.rest for j in self.rest if not self.blocks.symmetric or i <= j]

    def _structured_products(self) -> dict[Pair, Structured]:
        """``B D⁻¹ C`` by the algebra of structured tensors."""
        inverse = self.strategy.inverse(self.blocks.held[self.part, self.part].arrays)
        solved = {j: algebra.multiply(inverse, self.left[j]) for j in self.rest}
        return {
            (i, j): algebra.multiply(self.right[i], solved[j], symmetric=self._same(i, j)) for i, j in self._pairs()
        }

    def _scattered_products(self) -> dict[Pair, Structured]:
        """``B D⁻¹ C`` by sparse matrices: selections that meet would be multiplied out pair by pair."""
        inverse = self.strategy.inverse(self.blocks.held[self.part, self.part].arrays)
        matrix = sparse_matrix(inverse.form, inverse.arrays)
        solved = {j: matrix @ self.turned[j] for j in self.rest}
        found: dict[Pair, Structured] = {}
        for i, j in self._pairs():
            form = self.blocks.held[i, j].form
            array = (self.matrices[i] @ solved[j]).toarray().reshape(form.shape)
            found[i, j] = of_array(array, tuple(range(array.ndim)), form.rows, self._same(i, j))
        return found

    def _same(self, i: int, j: int) -> bool:
        return self.blocks.symmetric and i == j


def _selects(held: Structured) -> bool:
    return any(isinstance(node, Selection) for term in held.form.terms for node, _ in term.maps)


def _row_scale(blocks: Blocks, part: int) -> np.ndarray:
    """The sizes of the diagonal entries of a variable, or the largest of them where one is zero."""
    found = np.abs(algebra.diagonal(blocks.held[part, part])).reshape(blocks.sizes[part])
    return np.asarray(np.where(found > 0, found, found.max(initial=0)))


def inverse_blocks(blocks: Blocks, memory_limit: int | None) -> dict[Pair, Structured]:
    """The blocks of the inverse."""
    chosen = eliminated_part(blocks, memory_limit)
    if chosen is None:
        return inverse_whole(blocks, memory_limit)
    part, strategy = chosen
    try:
        step = _Elimination(blocks, part, strategy, strategy.factorise(blocks.held[part, part].arrays))
        found = inverse_blocks(step.complement(), memory_limit)
    except LinearAlgebraError:
        return inverse_whole(blocks, memory_limit)
    inverse = strategy.inverse(blocks.held[part, part].arrays)
    solved = {j: algebra.multiply(inverse, step.left[j]) for j in step.rest}
    turned = {i: algebra.multiply(step.right[i], inverse) for i in step.rest}
    corner = inverse
    for i in step.rest:
        found[part, i] = algebra.scale(_total([algebra.multiply(solved[j], found[j, i]) for j in step.rest]), -1)
        found[i, part] = algebra.scale(_total([algebra.multiply(found[i, j], turned[j]) for j in step.rest]), -1)
    for i in step.rest:
        corner = algebra.add(corner, algebra.scale(algebra.multiply(solved[i], found[i, part]), -1))
    found[part, part] = corner
    return found


def inverse_whole(blocks: Blocks, memory_limit: int | None) -> dict[Pair, Structured]:
    """The blocks of the inverse of the whole at once."""
    if len(blocks.parts) == 1:
        (part,) = blocks.parts
        held = blocks.held[part, part]
        return {(part, part): choose(held.form, memory_limit).inverse(held.arrays)}
    array = factorise_whole(blocks, memory_limit).solve(np.eye(blocks.size, dtype=blocks.dtype))
    found: dict[Pair, Structured] = {}
    for i in blocks.parts:
        for j in blocks.parts:
            form = blocks.held[i, j].form
            part = array[np.ix_(blocks.places(i), blocks.places(j))].astype(form.dtype).reshape(form.shape)
            found[i, j] = of_array(part, tuple(range(part.ndim)), form.rows, blocks.symmetric and i == j)
    return found


def _total(parts: Sequence[Structured]) -> Structured:
    found = parts[0]
    for part in parts[1:]:
        found = algebra.add(found, part)
    return found
