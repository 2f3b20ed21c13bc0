"""The pattern of a structured matrix as a coarse picture: which term has entries where.

Owns pictures. Imports the cells of terms and their text. Invariant: the dense matrix is never made, and a cell is drawn
if and only if some entry in it is not zero by the structure (very large terms: see :mod:`einsumad.compressed.cells`).

A matrix of several variables has cells for each of them, in proportion to its size but enough for small ones to be
seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.cells import term_cells
from einsumad.compressed.text import term_texts
from einsumad.compressed.values import Structured
from einsumad.records import record

Pair: TypeAlias = tuple[int, int]
Array: TypeAlias = np.ndarray[Any, Any]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#882255")
"""Those of the terms, one after the other; told apart by eyes that see few colours."""


@record
class Layer:
    """The cells of one term in one block, whose first cell is at the row `top` and the column `left` of the picture."""

    term: int
    top: int
    left: int
    cells: Array


@record
class Picture:
    """Cells of a matrix of `size` rows and columns, in layers: the first are covered by those that come after.

    `borders` are the cells of rows, and of columns, where a variable begins, and the number of all; `names` those of
    the variables. `terms` has a text for each term, `layers` refer to it.
    """

    size: tuple[int, int]
    borders: tuple[tuple[int, ...], tuple[int, ...]]
    names: tuple[str, ...]
    terms: tuple[str, ...]
    layers: tuple[Layer, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of cells."""
        return self.borders[0][-1], self.borders[1][-1]

    def seen(self) -> Array:
        """For each cell the term whose colour it has, or -1."""
        found = np.full(self.shape, -1)
        for layer in self.layers:
            height, width = layer.cells.shape
            found[layer.top : layer.top + height, layer.left : layer.left + width][layer.cells] = layer.term
        return found


def picture_of(held: Mapping[Pair, Structured], names: Sequence[str], symmetric: bool, most: int) -> Picture:
    """The picture of a tensor, or of the blocks of several variables, in about `most` cells in each direction.

    With `symmetric` the blocks below the diagonal are those above, turned.
    """
    tall, wide = (max(pair[axis] for pair in held) + 1 for axis in (0, 1))
    heights = [prod(_rows(held[i, 0])) for i in range(tall)]
    widths = [prod(_columns(held[0, j])) for j in range(wide)]
    cells = _allotted(heights, most), _allotted(widths, most)
    borders = tuple(accumulate(cells[0], initial=0)), tuple(accumulate(cells[1], initial=0))
    terms: list[str] = []
    layers: list[Layer] = []
    for (i, j), block in held.items():
        if symmetric and i > j:
            continue
        where = f"[{names[i]}, {names[j]}] " if names else ""
        for term, text in zip(block.form.terms, term_texts(block.form, block.arrays), strict=True):
            marked = term_cells(term, block.form.rows, block.arrays, (cells[0][i], cells[1][j]))
            layers.append(Layer(len(terms), borders[0][i], borders[1][j], marked))
            if symmetric and i < j:
                layers.append(Layer(len(terms), borders[0][j], borders[1][i], marked.T))
            terms.append(where + text)
    layers.sort(key=lambda layer: -np.count_nonzero(layer.cells))
    return Picture((sum(heights), sum(widths)), borders, tuple(names), tuple(terms), tuple(layers))


def _rows(block: Structured) -> tuple[int, ...]:
    return block.form.shape[: block.form.rows]


def _columns(block: Structured) -> tuple[int, ...]:
    return block.form.shape[block.form.rows :]


def _allotted(sizes: Sequence[int], most: int) -> list[int]:
    """The number of cells of each variable: one an entry, or in proportion where they are too many."""
    total = sum(sizes)
    if total <= most:
        return list(sizes)
    least = max(1, most // (4 * len(sizes)))
    return [min(size, max(least, size * most // total)) for size in sizes]
