"""Affine maps of many indices, taken apart where two of them meet in nothing else: convolutions one after the other.

Owns this choice. Imports the graph, maps and primitives. Invariant: the product is the same; what is added first has
fewer entries than the pairs it is added from.

    Σ_jkl [i = j + k + l] X[j] K[k] L[l] = Σ_jm [i = j + m] X[j] M[m],   M[m] = Σ_kl [m = k + l] K[k] L[l]

and in the same way where two axes of the result come in through their sum or difference alone:

    C[a, b] = Σ_i X[i] X[i + a - b] = T[a - b],   T[m] = Σ_i X[i] X[i + m]

Of all pairs of indices that can be joined, the one with the smallest product is joined first, as long as there are any
that cost less than the whole product with one of its indices read off the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import gcd

from einsumad.errors import InternalError
from einsumad.graph import Affine, Einsum, Labels, Node, affine, einsum
from einsumad.planning.primitives import Factor
from einsumad.planning.resolve import Resolved, size_of
from einsumad.records import record, replace

_FEWEST = 4


@record
class _Pair:
    """Two labels of a map, the terms that they add to its equation, and the factors that have them."""

    position: int
    labels: tuple[int, int]
    strides: tuple[int, int]
    low: int
    size: int
    held: tuple[int, ...]
    volume: int

    @property
    def order(self) -> tuple[int, int, tuple[int, int]]:
        return self.volume, self.position, self.labels


def nested(resolved: Resolved, primitive: Callable[[Einsum], Node]) -> Resolved:
    """The product with pairs of indices joined. `primitive` writes a product inside of it in primitive steps."""
    while True:
        outer = next(_outer_pairs(resolved), None)
        if outer is not None:
            return _read_afterwards(resolved, outer, primitive)
        found = min(_pairs(resolved), key=lambda pair: pair.order, default=None)
        if found is None:
            return resolved
        resolved = _joined(resolved, found, primitive)


def _pairs(resolved: Resolved) -> Iterator[_Pair]:
    """The pairs of labels of one map that nothing but the factors has, and whose sums are fewer than they are."""
    for position, terms in _equations(resolved):
        free = [label for label in terms if label not in {*resolved.output, *_elsewhere(resolved, position)}]
        meeting = {*terms, *[k for f in resolved.factors if not terms.keys().isdisjoint(f.labels) for k in f.labels]}
        whole = min([size_of(meeting - {label}, resolved.sizes) for label in terms])
        for labels in combinations(free, 2):
            pair = _pair(resolved, position, labels, terms)
            held = {label for k in pair.held for label in resolved.factors[k].labels} if pair else set()
            if pair and held.issuperset(labels) and len(held & terms.keys()) == len(labels) and pair.volume < whole:
                yield pair


def _outer_pairs(resolved: Resolved) -> Iterator[_Pair]:
    """The pairs of axes of the result that only one map has: it depends on their sum or difference alone."""
    for position, terms in _equations(resolved):
        elsewhere = _elsewhere(resolved, position)
        for labels in combinations([label for label in terms if label in resolved.output], 2):
            pair = _pair(resolved, position, labels, terms)
            if pair and not pair.held and elsewhere.isdisjoint(labels):
                yield pair


def _equations(resolved: Resolved) -> Iterator[tuple[int, dict[int, int]]]:
    """For each affine map of enough labels its position and the factor of each label in its equation."""
    for position, (node, labels) in enumerate(resolved.maps):
        if isinstance(node, Affine) and len(set(labels)) == len(labels) >= _FEWEST:
            yield position, dict(zip(labels, (-1, *node.strides), strict=True))


def _elsewhere(resolved: Resolved, position: int) -> set[int]:
    """The labels of the masks and of the other maps."""
    others = [factor for k, factor in enumerate(resolved.maps) if k != position]
    return {label for factor in (*resolved.masks, *others) for label in factor.labels}


def _pair(resolved: Resolved, position: int, labels: tuple[int, int], terms: dict[int, int]) -> _Pair | None:
    """The pair, if what its indices add up to has fewer values than there are pairs."""
    strides, sizes = [terms[label] for label in labels], [resolved.sizes[label] for label in labels]
    step = gcd(*strides)
    ends = [stride * (size - 1) for stride, size in zip(strides, sizes, strict=True)]
    low, high = sum(min(0, end) for end in ends), sum(max(0, end) for end in ends)
    if not step or (high - low) // step + 1 >= sizes[0] * sizes[1]:
        return None
    held = tuple([k for k, factor in enumerate(resolved.factors) if not set(labels).isdisjoint(factor.labels)])
    volume = size_of({label for k in held for label in resolved.factors[k].labels}, resolved.sizes)
    steps = (strides[0] // step, strides[1] // step)
    return _Pair(position, labels, steps, low // step, (high - low) // step + 1, held, volume)


def _sum_of_two(resolved: Resolved, pair: _Pair, fresh: int) -> Factor:
    """``[m = s a + t b - low]``."""
    sizes = [resolved.sizes[label] for label in pair.labels]
    return Factor(affine(pair.size, sizes, pair.strides, -pair.low, resolved.work), (fresh, *pair.labels))


def _read_afterwards(resolved: Resolved, pair: _Pair, primitive: Callable[[Einsum], Node]) -> Resolved:
    """The product with m for two of its axes, read at what these add up to."""
    fresh = max(resolved.sizes) + 1
    sizes = {**resolved.sizes, fresh: pair.size}
    maps = [*resolved.maps]
    maps[pair.position] = _outer(maps[pair.position], pair, fresh, sizes)
    output = (fresh, *[label for label in resolved.output if label not in pair.labels])
    found = [*resolved.factors, *resolved.masks, *maps]
    inner = einsum([f.node for f in found], [f.labels for f in found], output, 1, resolved.work)
    read = _sum_of_two(resolved, pair, fresh)
    return replace(resolved, factors=[Factor(primitive(inner), output)], masks=[], maps=[read], sizes=sizes)


def _joined(resolved: Resolved, pair: _Pair, primitive: Callable[[Einsum], Node]) -> Resolved:
    """``[m = s a + t b - low]`` applied to what has a and b, and the map with m in their place."""
    fresh = max(resolved.sizes) + 1
    sizes = {**resolved.sizes, fresh: pair.size}
    inner = [resolved.factors[k] for k in pair.held]
    rest = [factor for k, factor in enumerate(resolved.factors) if k not in pair.held]
    maps = [factor for k, factor in enumerate(resolved.maps) if k != pair.position]
    needed = {*resolved.output, *[label for factor in (*rest, *resolved.masks, *maps) for label in factor.labels]}
    kept = dict.fromkeys([label for factor in inner for label in factor.labels if label in needed])
    output = (fresh, *kept)
    found = [_sum_of_two(resolved, pair, fresh), *inner]
    product = einsum([f.node for f in found], [f.labels for f in found], output, 1, resolved.work)
    maps.insert(pair.position, _outer(resolved.maps[pair.position], pair, fresh, sizes))
    return replace(resolved, factors=[*rest, Factor(primitive(product), output)], maps=maps, sizes=sizes)


def _outer(factor: Factor, pair: _Pair, fresh: int, sizes: dict[int, int]) -> Factor:
    """The map with the joined index for the two, solved for it if one of them was the index it gave."""
    node, (at, *places) = factor
    if not isinstance(node, Affine):
        raise InternalError(f"a {type(node).__name__} is not taken apart")
    others = {label: stride for label, stride in zip(places, node.strides, strict=True) if label not in pair.labels}
    if at in pair.labels:
        labels: Labels = (fresh, *others)
        strides, offset = [-stride for stride in others.values()], -node.offset - pair.low
    else:
        stride = gcd(*[s for label, s in zip(places, node.strides, strict=True) if label in pair.labels])
        labels = (at, *others, fresh)
        strides, offset = [*others.values(), stride], node.offset + stride * pair.low
    return Factor(affine(sizes[labels[0]], [sizes[k] for k in labels[1:]], strides, offset, node.dtype), labels)
