"""Block diagonal matrices, of which diagonal and dense ones are the ends.

Owns this strategy. Imports the factorisations of blocks. Invariant: the block positions are those that a delta ties in
every term.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from einsumad.compressed.factorisations import Blocks, Diagonal, Factorisation, Identity
from einsumad.compressed.forms import Form
from einsumad.compressed.solving.strategy import Arrays, Effort, Strategy, in_order, is_symmetric, of_array
from einsumad.compressed.terms import total_of, write_over
from einsumad.compressed.values import Structured, compute


def tied_positions(form: Form) -> tuple[int, ...]:
    """The positions whose row and column are one index in every term."""
    rows = form.rows
    return tuple([p for p in range(rows) if all(term.axes[p] == term.axes[rows + p] for term in form.terms)])


class BlockStrategy(Strategy):
    """A block for each index of the tied positions, dense over the others."""

    def __init__(self, form: Form, tied: Sequence[int]) -> None:
        self.tied = tuple(tied)
        self.open = tuple([p for p in range(form.rows) if p not in tied])
        self.count = prod([form.shape[p] for p in self.tied])
        self.width = prod([form.shape[p] for p in self.open])
        self.symmetric = is_symmetric(form)
        rows = form.rows
        axes = [*self.tied, *self.open, *[rows + p for p in self.open]]
        parts = [write_over(term, [(term.axes[axis],) for axis in axes]) for term in form.terms]
        self.node = total_of(parts, [form.shape[axis] for axis in axes], form.dtype)
        work = self.count * self.width**2 * ((self.width / 3 if self.symmetric else self.width) + 4)
        super().__init__(form, Effort(work, 6, 2 * self.count * self.width**2 * form.dtype.itemsize))

    def factorise(self, arrays: Arrays) -> Factorisation:
        """Cholesky, ``L D Lᵀ`` or ``L U`` of every block."""
        (blocks,) = compute([self.node], arrays)
        inner: Factorisation
        if not self.open:
            inner = Diagonal(np.asarray(blocks).reshape(self.count))
        else:
            inner = Blocks(blocks.reshape(self.count, self.width, self.width), self.count, self.symmetric)
        return in_order(inner, self.shape, (*self.tied, *self.open))

    def inverse(self, arrays: Arrays) -> Structured:
        """The inverse of every block, under the same deltas."""
        factorisation = self.factorise(arrays)
        order = (*self.tied, *self.open)
        sizes = [self.shape[p] for p in order]
        ones = np.broadcast_to(np.eye(self.width, dtype=self.form.dtype), (self.count, self.width, self.width))
        back = [*np.argsort(order), len(order)]
        right = ones.reshape((*sizes, self.width)).transpose(back).reshape(prod(sizes), self.width)
        found = factorisation.solve(right).reshape((*self.shape, self.width)).transpose([*order, len(order)])
        columns = [self.shape[p] for p in self.open]
        array = found.reshape((*sizes, *columns)).copy()
        place = {p: k for k, p in enumerate(order)}
        places = range(self.form.rows)
        axes = [place[p] + (len(self.open) if side and p in self.open else 0) for side in (0, 1) for p in places]
        return of_array(array, tuple(axes), self.form.rows, self.symmetric)


class IdentityStrategy(Strategy):
    """The product of deltas alone."""

    def __init__(self, form: Form) -> None:
        super().__init__(form, Effort(0, 0, 0))

    def factorise(self, arrays: Arrays) -> Factorisation:  # noqa: ARG002 (it stores none)
        """Cholesky, ``L D Lᵀ`` or ``L U`` of every block."""
        """The identity."""
        return Identity(prod(self.shape), self.form.dtype)

    def inverse(self, arrays: Arrays) -> Structured:  # noqa: ARG002 (it stores none)
        """The inverse of every block, under the same deltas."""
        """The identity."""
        return Structured(self.form, ())


def is_identity(form: Form) -> bool:
    """Whether the matrix is the identity by its indices."""
    if len(form.terms) != 1 or len(tied_positions(form)) < form.rows:
        return False
    (term,) = form.terms
    return term.coefficient == 1 and not term.items and len(set(term.axes)) == form.rows
