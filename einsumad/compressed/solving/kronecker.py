"""Kronecker products, and sums of two of them.

Owns these strategies. Imports the factorisations. Invariant: each group of positions has a matrix of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np

from einsumad.compressed.factorisations import Factorisation, Kronecker, KroneckerPair
from einsumad.compressed.forms import Form, make_form
from einsumad.compressed.operations import over_slots
from einsumad.compressed.solving.contents import Positions, Product, joined, part_form
from einsumad.compressed.solving.strategy import Arrays, Effort, Strategy, in_order, is_symmetric
from einsumad.compressed.terms import Term, read_term
from einsumad.compressed.values import Structured, compute


class KroneckerStrategy(Strategy):
    """A strategy for each group of positions."""

    def __init__(self, form: Form, parts: Sequence[Strategy], groups: Sequence[Positions]) -> None:
        self.parts = tuple(parts)
        self.groups = tuple(groups)
        self.rough = any(part.rough for part in parts)
        size = prod([form.shape[p] for p in range(form.rows)])
        effort = Effort(2 * size, 2, 0)
        for part in parts:
            width = max(1, prod(part.shape))
            effort += part.effort
            effort += Effort(2 * width * size if part.effort.flops else 0, 1, 0)
        super().__init__(form, effort)

    def factorise(self, arrays: Arrays) -> Factorisation:
        """The factorisations of the parts."""
        inner = Kronecker([part.factorise(arrays) for part in self.parts])
        return in_order(inner, self.shape, [p for group in self.groups for p in group])

    def inverse(self, arrays: Arrays) -> Structured:
        """The Kronecker product of the inverses."""
        found = [part.inverse(arrays) for part in self.parts]
        held: list[object] = []
        choices: list[list[Term]] = []
        for part in found:
            moved = over_slots(part.form, {k: len(held) + k for k in range(len(part.arrays))})
            choices.append([term for node in moved if (term := read_term(node)) is not None])
            held += part.arrays
        terms = [joined(choice, self.groups) for choice in product(*choices)]
        form = make_form(terms, self.form.shape, self.form.dtype, self.form.rows, is_symmetric(self.form))
        return Structured(form, tuple(held))


class PairStrategy(Strategy):
    """``A1 ⊗ B1 ⊗ … + A2 ⊗ B2 ⊗ …``: both diagonalised at once, or the generalised Schur form."""

    rough = True

    def __init__(self, form: Form, products: Sequence[Product], groups: Sequence[Positions]) -> None:
        self.groups = tuple(groups)
        last = len(groups) - 1
        self.matrices = [
            [part_form(form, one.weighted(k) if k == last else one.contents[k], groups[k]) for k in range(len(groups))]
            for one in products
        ]
        self.symmetric = all(is_symmetric(part) for parts in self.matrices for part in parts)
        widths = [prod([form.shape[p] for p in group]) for group in groups]
        size = prod(widths)
        work = sum([30 * width**3 for width in widths]) + 4 * size * sum(widths)
        if not self.symmetric:
            work += 2 * size * sum(widths)
        super().__init__(form, Effort(work, 12, sum([4 * w * w for w in widths]) * form.dtype.itemsize))

    def factorise(self, arrays: Arrays) -> Factorisation:
        """The factorisations of the parts."""
        first, second = (
            [
                np.asarray(matrix).reshape(2 * (prod(part.shape[: part.rows]),))
                for part, matrix in self._values(parts, arrays)
            ]
            for parts in self.matrices
        )
        inner = KroneckerPair(*self._symmetrised(first, second))
        return in_order(inner, self.shape, [p for group in self.groups for p in group])

    def _symmetrised(
        self, first: list[np.ndarray], second: list[np.ndarray]
    ) -> tuple[list[np.ndarray], list[np.ndarray], bool]:
        """The matrices and whether they are symmetric; of a symmetric sum those that are so up to rounding are made so.

        The inertia of the sum is found in this way where the indices do not show that a matrix is symmetric.
        """
        if not self.symmetric and is_symmetric(self.form) and all(map(_nearly_symmetric, [*first, *second])):
            return [(m + m.T) / 2 for m in first], [(m + m.T) / 2 for m in second], True
        return first, second, self.symmetric

    def _values(self, parts: Sequence[Form], arrays: Arrays) -> list[tuple[Form, np.ndarray]]:
        return list(zip(parts, compute([part.node for part in parts], arrays), strict=True))


def _nearly_symmetric(matrix: np.ndarray) -> bool:
    """Whether the matrix differs from its transpose by no more than rounding."""
    least = float(np.finfo(matrix.dtype).eps) * len(matrix) * np.abs(matrix).max(initial=0)
    return bool(np.abs(matrix - matrix.T).max(initial=0) <= least)
