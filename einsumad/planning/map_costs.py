"""What it costs to apply a map of indices to a product.

Owns this estimate. Imports readings. Invariant: it is a whole number that follows from labels and sizes alone, on the
scale of entries that are read once.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.planning.primitives import Factor, always_inside
from einsumad.planning.readings import Map, needs_mask
from einsumad.planning.resolve import size_of
from einsumad.planning.splits import Split, splits

_MASKED = 3
"""How many times as much an entry costs that a mask selects as one that is read."""
_WRITTEN = 2
"""How many times as much an entry costs that is added at its place, or read along a diagonal, as one that is read."""
_MULTIPLIED = 16
"""How many products of entries, in a product of matrices, cost as much as an entry that is read or written."""


def reading_cost(chosen: Map, factors: Sequence[Factor], masks: Sequence[Factor], sizes: dict[int, int]) -> int:
    """The entries of what is read along the map, of its mask and what has to be kept from zeros, and the product."""
    places, volume = {*chosen.places}, 0
    for f, weight in [*[(f, 1) for f in factors], *[(mask, _MASKED) for mask in masks]]:
        if chosen.at in f.labels:  # a place that it has is read along a diagonal
            often = weight if places.isdisjoint(f.labels) else _WRITTEN
            volume += often * _size({*f.labels} | places, chosen, sizes)
    if not always_inside(chosen.node):
        met = [{*f.labels} for f in factors if chosen.at not in f.labels]
        volume += needs_mask(chosen, (*factors, *masks)) * _size(places, chosen, sizes)
        volume += _MASKED * sum([_size(held, chosen, sizes) for held in met if held <= places or places <= held])
    return volume + _product(chosen, factors, sizes)


def writing_cost(chosen: Map, factors: Sequence[Factor], output: Sequence[int], sizes: dict[int, int]) -> int:
    """The entries of what is written along the map, and the product."""
    return _WRITTEN * _size({*output, *chosen.places}, chosen, sizes) + _product(chosen, factors, sizes)


def written_together(factors: Sequence[Factor], places: set[int], needed: set[int], sizes: dict[int, int]) -> list[int]:
    """The positions of the factors that are multiplied before their product is written along a map.

    They are those that have its places, and those with which less is written: one at a time, or all that hang together
    by what is summed. `needed` has the labels of everything but the factors.
    """

    def written(inner: set[int]) -> int:
        rest = [label for k, f in enumerate(factors) if k not in inner for label in f.labels]
        held = {label for k in inner for label in factors[k].labels} - places
        return size_of(held & needed.union(rest), sizes)

    inner = {k for k, f in enumerate(factors) if not places.isdisjoint(f.labels)}
    while inner and len(inner) < len(factors):
        least, k = min([(written({*inner, k}), k) for k in range(len(factors)) if k not in inner])
        if least >= written(inner):
            break
        inner.add(k)
    whole, reached = set(inner), set[int]()
    while inner and len(whole) > len(reached):
        reached, summed = set(whole), {label for k in whole for label in factors[k].labels} - needed
        whole |= {k for k, f in enumerate(factors) if not summed.isdisjoint(f.labels)}
    return sorted(whole if inner and written(whole) < written(inner) else inner)


def cheapest_split(
    factor: Factor, factors: Sequence[Factor], needed: set[int], sizes: dict[int, int]
) -> tuple[int, Split] | None:
    """The split of a map that costs least, and its cost. `needed` has the labels of result and other maps."""
    ways = splits(factor, {*factor.labels} - needed, [f.labels for f in factors], max(sizes) + 1)
    costs = [(_splitting_cost(way, factors, needed, sizes), way) for way in ways]
    return min(costs, key=lambda candidate: candidate[0], default=None)


def _splitting_cost(split: Split, factors: Sequence[Factor], needed: set[int], sizes: dict[int, int]) -> int:
    """The entries of what is written and read, and both products."""
    inner, outer = {*split.written.places}, {*split.read.places}
    met = [{*f.labels} for f in factors if not inner.isdisjoint(f.labels)]
    rest = {label for f in factors if inner.isdisjoint(f.labels) for label in f.labels}
    kept = set[int]().union(*met).difference(inner) & (needed | rest | outer)
    written = split.written.node.shape[0] * size_of(kept, sizes)
    often = 1 if outer.isdisjoint(kept) else _WRITTEN
    products = size_of(inner.union(*met), sizes) + size_of(rest | kept | outer, sizes)
    return _WRITTEN * written + often * size_of(kept | outer, sizes) + products // _MULTIPLIED


def _product(chosen: Map, factors: Sequence[Factor], sizes: dict[int, int]) -> int:
    """What the product costs when the map is applied."""
    met = {label for f in factors for label in f.labels}
    return _size(met | {*chosen.places}, chosen, sizes) // _MULTIPLIED


def _size(labels: set[int], chosen: Map, sizes: dict[int, int]) -> int:
    return size_of(labels - {chosen.at}, sizes)
