"""How a term is stored: with the fewest bytes of all sets of labels that are tried."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from einsumad.compressed.storing import best_stored
from einsumad.compressed.terms import read_term
from einsumad.functions import apply
from einsumad.graph import einsum, fresh_leaf


@pytest.mark.parametrize("seed", range(20))
def test_a_chain_of_matrices_is_cut_where_its_pieces_are_smallest(seed: int) -> None:
    """A cut leaves the products of the matrices on both sides; of six summed indices or more at most two are cuts."""
    rng = np.random.default_rng(seed)
    summed = int(rng.integers(1, 10))
    sizes = [int(size) for size in rng.integers(2, 12, summed + 2)]
    matrices = [fresh_leaf(pair, np.float64) for pair in pairwise(sizes)]
    chain = einsum(matrices, [(k, k + 1) for k in range(len(matrices))], (0, summed + 1), 1, np.float64)
    term = read_term(chain)
    assert term is not None

    most = summed if summed <= 5 else 2
    expected = min(
        sum([8 * sizes[a] * sizes[b] for a, b in zip((0, *cuts), (*cuts, summed + 1), strict=True)])
        for count in range(most + 1)
        for cuts in combinations(range(1, summed + 1), count)
    )
    assert best_stored(term).total == expected


def test_a_mask_is_not_multiplied_out_beside_a_factor_that_may_be_infinite() -> None:
    """``Σ_k A[i,k] m[k] B[k,j] e[p,q]``: a zero that m selects would meet an infinite e as a computed one."""
    left, right = fresh_leaf((2, 9), np.float64), fresh_leaf((9, 2), np.float64)
    mask, other = fresh_leaf((9,), np.bool_), fresh_leaf((3, 3), np.float64)
    for factor, expected in (
        (other, [{left, mask, right}, {other}]),
        (apply("reciprocal", other), [{left}, {mask}, {right}, {apply("reciprocal", other)}]),
    ):
        inputs = [(0, 4), (4,), (4, 1), (2, 3)]
        term = read_term(einsum([left, mask, right, factor], inputs, (0, 1, 2, 3), 1, np.float64))
        assert term is not None
        found = [{item.node for item in group} for group, _ in best_stored(term).groups]
        assert all(group in found for group in expected)
        assert len(found) == len(expected)


@pytest.mark.parametrize("length", [3, 6, 7])
def test_masks_at_all_indices_beside_an_infinite_factor_leave_all_factors_as_they_are(length: int) -> None:
    """``Σ A[i,k0] m0[k0] A[k0,k1] m1[k1] … e[p,q]``: whatever is summed leaves out a mask, or a factor beside it."""
    matrices = [fresh_leaf((2, 2), np.float64) for _ in range(length + 1)]
    masks = [fresh_leaf((2,), np.bool_) for _ in range(length)]
    other = apply("reciprocal", fresh_leaf((3, 3), np.float64))
    first = 4  # the labels before it are the four of the result
    chain = [0, *range(first, first + length), 1]
    inputs = [*pairwise(chain), *[(label,) for label in chain[1:-1]], (2, 3)]
    term = read_term(einsum([*matrices, *masks, other], inputs, (0, 1, 2, 3), 1, np.float64))
    assert term is not None
    assert all(len(group) == 1 for group, _ in best_stored(term).groups)
