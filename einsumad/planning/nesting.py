"""Affine maps of many indices, taken apart where two of them meet in nothing else: convolutions one after the other.

Owns this choice. Imports the graph, maps and primitives. Invariant: the product is the same; what is added first has
fewer entries than the pairs it is added from.

    Σ_jkl [i = j + k + l] X[j] K[k] L[l] = Σ_jm [i = j + m] X[j] M[m],   M[m] = Σ_kl [m = k + l] K[k] L[l]

Of all pairs of indices that can be joined, the one with the smallest product is joined first, as long as there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import gcd

from einsumad.errors import InternalError
from einsumad.graph import Affine, Einsum, Labels, Node, affine, einsum
from einsumad.planning.primitives import Factor
from einsumad.planning.resolve import Resolved, size_of

_FEWEST = 4


@dataclass(frozen=True, slots=True)
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
    """The product with pairs of indices joined; `primitive` writes a product inside of it in primitive steps."""
    while True:
        found = min(_pairs(resolved), key=lambda pair: pair.order, default=None)
        if found is None:
            return resolved
        resolved = _joined(resolved, found, primitive)


def _pairs(resolved: Resolved) -> Iterator[_Pair]:
    """The pairs of labels of one map that nothing but the factors has, and whose sums are fewer than they are."""
    for position, (node, labels) in enumerate(resolved.maps):
        if not isinstance(node, Affine) or len(labels) < _FEWEST or len(set(labels)) < len(labels):
            continue
        elsewhere = {label for k, other in enumerate(resolved.maps) if k != position for label in other.labels}
        elsewhere |= {*resolved.output, *[label for mask in resolved.masks for label in mask.labels]}
        terms = dict(zip(labels, (-1, *node.strides), strict=True))
        for first, second in combinations([label for label in labels if label not in elsewhere], 2):
            pair = _pair(resolved, position, (first, second), terms)
            if pair is not None:
                yield pair


def _pair(resolved: Resolved, position: int, labels: tuple[int, int], terms: dict[int, int]) -> _Pair | None:
    strides, sizes = [terms[label] for label in labels], [resolved.sizes[label] for label in labels]
    step = gcd(*strides)
    if not step:
        return None
    ends = [stride * (size - 1) for stride, size in zip(strides, sizes, strict=True)]
    low, high = sum(min(0, end) for end in ends), sum(max(0, end) for end in ends)
    size = (high - low) // step + 1
    held = tuple([k for k, factor in enumerate(resolved.factors) if not set(labels).isdisjoint(factor.labels)])
    present = {label for k in held for label in resolved.factors[k].labels}
    if size >= sizes[0] * sizes[1] or not present.issuperset(labels) or len(present.intersection(terms)) > 2:
        return None
    steps = (strides[0] // step, strides[1] // step)
    return _Pair(position, labels, steps, low // step, size, held, size_of(present, resolved.sizes))


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
    sum_of_two = affine(pair.size, [sizes[label] for label in pair.labels], pair.strides, -pair.low, resolved.work)
    operands = [sum_of_two, *[factor.node for factor in inner]]
    inputs = [(fresh, *pair.labels), *[factor.labels for factor in inner]]
    product = einsum(operands, inputs, output, 1, resolved.work)
    outer = _outer(resolved.maps[pair.position], pair, fresh, sizes)
    maps.insert(pair.position, outer)
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
