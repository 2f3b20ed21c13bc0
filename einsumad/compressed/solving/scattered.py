"""Matrices with few entries: bands, and any other pattern that the indices give.

Owns these strategies. Imports the enumeration of entries and the factorisations. Invariant: the width of the band
follows from index maps and sizes; no entry is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import prod

import numpy as np

from einsumad.compressed.entries import entries_by_term
from einsumad.compressed.factorisations import Banded, Factorisation, Sparse
from einsumad.compressed.forms import Form
from einsumad.compressed.places import entry_count, linear_indices
from einsumad.compressed.solving.strategy import Arrays, Effort, Strategy, in_order, is_symmetric
from einsumad.compressed.sparse import sparse_matrix

_MOST_ORDERED = 4
_FILL = 30
"""What a sparse factorisation has for each entry of the matrix, in a plane mesh of a million points."""


class BandedStrategy(Strategy):
    """A band, with the positions in the order in which it is narrowest."""

    def __init__(self, form: Form, order: Sequence[int], lower: int, upper: int) -> None:
        self.order, self.lower, self.upper = tuple(order), lower, upper
        self.symmetric = is_symmetric(form)
        self.size = prod([form.shape[p] for p in order])
        width = lower + upper + 1
        bytes_kept = (3 if self.symmetric else 5) * self.size * width * form.dtype.itemsize
        super().__init__(form, Effort(self.size * width * (lower + 4), 8, bytes_kept))

    def factorise(self, arrays: Arrays) -> Factorisation:
        """The factorisation of the entries."""
        band = np.zeros((self.lower + self.upper + 1, self.size), self.form.dtype)
        for found in entries_by_term(self.form, arrays):
            rows, columns = (self._moved(side) for side in (found.rows, found.columns))
            place = self.upper + rows - columns
            if len(place) and (place == place[0]).all():
                band[place[0]] += np.bincount(columns, found.values, self.size)
            else:
                flat = np.bincount(place * self.size + columns, found.values, band.size)
                band += flat.reshape(band.shape)
        return in_order(Banded(band, self.lower, self.upper, self.symmetric), self.shape, self.order)

    def _moved(self, flat: np.ndarray) -> np.ndarray:
        """The places with the positions in the order of the band."""
        if self.order == tuple(sorted(self.order)):
            return flat
        index = np.unravel_index(flat, self.shape)
        moved = [self.shape[p] for p in self.order]
        return np.asarray(np.ravel_multi_index([index[p] for p in self.order], moved))


class SparseStrategy(Strategy):
    """A sparse factorisation of the entries that are not zero by structure."""

    def __init__(self, form: Form, count: int) -> None:
        size = prod([form.shape[p] for p in range(form.rows)])
        self.symmetric = is_symmetric(form)
        kept = _FILL * count + 4 * size
        super().__init__(form, Effort(50.0 * kept, 400, 12 * kept))

    def factorise(self, arrays: Arrays) -> Factorisation:
        """The factorisation of the entries."""
        return Sparse(sparse_matrix(self.form, arrays), self.symmetric)


def stored_entries(form: Form) -> int:
    """How many entries the terms have together."""
    return sum([entry_count(term) for term in form.terms])


def band_of(form: Form) -> tuple[tuple[int, ...], int, int] | None:
    """The order of positions with the narrowest band, and how far it reaches below and above the diagonal."""
    if form.rows > _MOST_ORDERED:
        return None
    indices = [linear_indices(term) for term in form.terms]
    best: tuple[tuple[int, ...], int, int] | None = None
    for order in permutations(range(form.rows)):
        steps = [prod([form.shape[p] for p in order[k + 1 :]]) for k in range(form.rows)]
        lower = upper = 0
        for term, known in zip(form.terms, indices, strict=True):
            if known is None:
                return None
            constant, slopes = 0, dict.fromkeys(term.sizes, 0)
            for p, step in zip(order, steps, strict=True):
                for axis, sign in ((p, step), (form.rows + p, -step)):
                    linear = known[term.axes[axis]]
                    constant += sign * linear.constant
                    for label, slope in linear.steps.items():
                        slopes[label] += sign * slope
            ends = [slope * (term.sizes[label] - 1) for label, slope in slopes.items()]
            lower = max(lower, constant + sum([max(0, end) for end in ends]))
            upper = max(upper, -constant - sum([min(0, end) for end in ends]))
        if best is None or lower + upper < best[1] + best[2]:
            best = (order, lower, upper)
    return best
