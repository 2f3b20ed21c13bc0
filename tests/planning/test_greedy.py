"""The greedy order of pairs is opt_einsum's; the fewest operations are those of the best of all orders."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opt_einsum.paths import ssa_greedy_optimize

from einsumad.planning.greedy import fewest_operations, greedy_pairs

Sets = list[frozenset[int]]


@st.composite
def hypergraphs(draw: st.DrawFn, most: int) -> tuple[Sets, frozenset[int], dict[int, int]]:
    """Inputs over up to twelve labels, an output, and sizes, with ties as well as without."""
    labels = st.integers(0, draw(st.integers(0, 11)))
    sets = draw(st.lists(st.frozensets(labels, max_size=4), min_size=2, max_size=most))
    used = sorted(frozenset().union(*sets))
    output = frozenset(draw(st.lists(st.sampled_from(used), max_size=4))) if used else frozenset()
    size = st.integers(1, 9) if draw(st.booleans()) else st.just(10)
    return sets, output, {label: draw(size) for label in used}


@settings(max_examples=max(400, settings().max_examples))
@given(hypergraphs(most=14))
def test_the_order_is_that_of_opt_einsum(found: tuple[Sets, frozenset[int], dict[int, int]]) -> None:
    sets, output, sizes = found
    expected = [tuple(sorted(pair)) for pair in ssa_greedy_optimize(sets, output, sizes)]
    assert greedy_pairs(sets, output, sizes) == expected


@pytest.mark.parametrize("seed", range(5))
def test_so_it_is_for_long_chains_with_a_label_in_common(seed: int) -> None:
    """As in networks: matrices from layer to layer, and slopes that all have the index of the samples."""
    rng = np.random.default_rng(seed)
    links = [frozenset([k, k + 1]) for k in range(40)]
    sets = [*links, *[frozenset([k, 99]) for k in range(1, 40)]]
    sets = [sets[k] for k in rng.permutation(len(sets))]
    sizes = {**{k: int(rng.integers(2, 6)) for k in range(41)}, 99: 7}
    output = frozenset([0, 40, 99])
    expected = [tuple(sorted(pair)) for pair in ssa_greedy_optimize(sets, output, sizes)]
    assert greedy_pairs(sets, output, sizes) == expected


def best_of_all(sets: Sets, output: frozenset[int], sizes: dict[int, int]) -> int:
    """Every order of pairs, one after the other."""
    if len(sets) == 1:
        return 0
    found = []
    for first, second in combinations(range(len(sets)), 2):
        rest = [labels for k, labels in enumerate(sets) if k not in (first, second)]
        taken = sets[first] | sets[second]
        result = taken & output.union(*rest)
        own = prod([sizes[label] for label in taken]) * (1 if result == taken else 2)
        found.append(own + best_of_all([*rest, result], output, sizes))
    return min(found)


@settings(max_examples=max(100, settings().max_examples // 2))
@given(hypergraphs(most=5))
def test_the_fewest_operations_are_those_of_the_best_order(found: tuple[Sets, frozenset[int], dict[int, int]]) -> None:
    sets, output, sizes = found
    alone = {label for label in sizes if sum([label in labels for labels in sets]) == 1}
    output |= alone
    expected = best_of_all(sets, output, sizes)
    assert fewest_operations(sets, output, sizes, expected + 1) == expected
    assert fewest_operations(sets, output, sizes, expected) == expected
    assert fewest_operations(sets, output, sizes, expected - 1) == expected - 1
