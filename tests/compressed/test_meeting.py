"""Factors that share a summed label stand together, and what their products take at least is not overstated."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from einsumad.compressed.meeting import Meeting
from einsumad.compressed.terms import Term, read_term
from einsumad.graph import einsum, fresh_leaf


def random_term(rng: np.random.Generator) -> Term:
    """A product of distinct arrays over up to eight labels, the first ones those of the result."""
    count, rank = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    sizes = [int(size) for size in rng.integers(2, 6, rank + 5)]
    inputs = [tuple(rng.permutation(len(sizes))[: rng.integers(1, 4)].tolist()) for _ in range(count)]
    inputs.append(tuple(range(rank)))
    leaves = [fresh_leaf([sizes[label] for label in labels], np.float64) for labels in inputs]
    term = read_term(einsum(leaves, inputs, range(rank), 1, np.float64))
    assert term is not None
    return term


def hang_together(spans: list[set[int]], summed: set[int]) -> set[frozenset[int]]:
    """The places of the spans that are joined by labels, by joining two classes as often as there are some to join."""
    classes = [({k}, set(span & summed)) for k, span in enumerate(spans)]
    while True:
        pair = next(((a, b) for a in classes for b in classes if a is not b and a[1] & b[1]), None)
        if pair is None:
            return {frozenset(places) for places, _ in classes}
        classes = [c for c in classes if c is not pair[0] and c is not pair[1]]
        classes.append((pair[0][0] | pair[1][0], pair[0][1] | pair[1][1]))


@pytest.mark.parametrize("seed", range(60))
def test_groups_are_what_hangs_together_and_take_as_much_as_is_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    term = random_term(rng)
    summed = {label for label in term.summed if rng.random() < 0.7}
    meeting = Meeting(term)
    bits = meeting.set_of(summed)
    groups = meeting.groups(bits, 10**9)
    assert groups is not None
    spans = [set(labels) for _, labels in term.items]
    places = {item.node: k for k, item in enumerate(term.items)}
    found = [[places[item.node] for item in group] for group in groups]
    assert {frozenset(group) for group in found} == hang_together(spans, summed)
    assert all(group == sorted(group) for group in found)
    assert [group[-1] for group in found] == sorted(group[-1] for group in found)

    taken = [prod([term.sizes[k] for k in set().union(*[spans[k] for k in g]) - summed]) for g in found if len(g) > 1]
    kept = [bool(set().union(*[spans[k] for k in g]) - summed) for g in found if len(g) > 1]
    least = sum([entries for entries, some in zip(taken, kept, strict=True) if some])
    alone = max([prod([term.sizes[k] for k in spans[g[0]] - summed]) for g in found if len(g) == 1], default=0)
    assert meeting.groups(bits, max(least, alone)) is not None
    if least:
        assert meeting.groups(bits, least - 1) is None
