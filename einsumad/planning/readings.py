"""A map of indices, and what is read along it.

Owns :class:`Map`. Imports the graph and the primitives. Invariant: what is read is the factor times the structural
node, in products that have one such node each; zeros stand where a map leaves the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor

import numpy as np

from einsumad.errors import InternalError
from einsumad.graph import BOOL, Affine, Labels, Selection, affine, einsum, selection, zero
from einsumad.planning.finiteness import may_be_infinite
from einsumad.planning.primitives import Factor, always_inside, is_padding, reach
from einsumad.records import record


@record
class Map:
    """``[at = f(places)]`` with the structural node that says it."""

    node: Affine | Selection
    at: int
    places: Labels

    @property
    def labels(self) -> Labels:
        """The labels of the node's axes."""
        return (self.at, *self.places) if isinstance(self.node, Affine) else (*self.places, self.at)

    def typed(self, dtype: np.dtype) -> Factor:
        """The structural factor in a dtype."""
        node = self.node
        if isinstance(node, Affine):
            return Factor(affine(node.shape[0], node.shape[1:], node.strides, node.offset, dtype), self.labels)
        return Factor(selection(node.operands[0], node.shape[-1], dtype), self.labels)


def orientations(factor: Factor) -> Iterator[Map]:
    """The ways to read a structural factor as a map: as it is, and solved for each place of stride 1 or -1."""
    node, labels = factor
    if isinstance(node, Selection):
        yield Map(node, labels[-1], labels[:-1])
        return
    if not isinstance(node, Affine):
        raise InternalError(f"a {type(node).__name__} is no map")
    yield Map(node, labels[0], labels[1:])
    for place, stride in enumerate(node.strides):
        if abs(stride) == 1:
            yield _solved(node, labels, place)


def _solved(node: Affine, labels: Labels, place: int) -> Map:
    """``at = offset + s p + ...``, with s = ±1, as ``p = s (at - offset - ...)``."""
    sign = node.strides[place]
    others = [k for k in range(len(node.strides)) if k != place]
    sizes = [node.shape[0], *[node.shape[k + 1] for k in others]]
    strides = [sign, *[-sign * node.strides[k] for k in others]]
    solved = affine(node.shape[place + 1], sizes, strides, -sign * node.offset, node.dtype)
    if not isinstance(solved, Affine):
        raise InternalError("an affine tensor solved for a place is an affine tensor")
    return Map(solved, labels[place + 1], (labels[0], *[labels[k + 1] for k in others]))


def read(factor: Factor, chosen: Map) -> Factor:
    """``G[places, ..] = F[f(places), ..]``, zero outside of the bounds."""
    node = chosen.node
    if isinstance(node, Affine) and not always_inside(node) and not is_padding(node):
        return _read_padded(factor, chosen)
    structural, places = chosen.typed(factor.node.dtype)
    output = tuple(
        dict.fromkeys([label for held in factor.labels for label in (chosen.places if held == chosen.at else (held,))])
    )
    product = einsum([factor.node, structural], [factor.labels, places], output, 1, factor.node.dtype)
    return Factor(product, output)


def _read_padded(factor: Factor, chosen: Map) -> Factor:
    """First the factor with zeros before and behind, then the map, which stays within that."""
    node = chosen.node
    if not isinstance(node, Affine):
        raise InternalError("a selection stays within its bounds")
    if len(node.strides) == 1 and abs(node.strides[0]) > 1:
        return _read_cut(factor, chosen, node)
    low, high = reach(node)
    low, high = min(low, 0), max(high, node.shape[0] - 1)
    fresh = max([*factor.labels, *chosen.labels]) + 1
    padded = affine(node.shape[0], [high - low + 1], [1], low, factor.node.dtype)
    within = affine(high - low + 1, node.shape[1:], node.strides, node.offset - low, factor.node.dtype)
    if not isinstance(padded, Affine) or not isinstance(within, Affine):
        raise InternalError("a padded axis is longer than the axis")
    once = read(factor, Map(padded, chosen.at, (fresh,)))
    return read(once, Map(within, fresh, chosen.places))


def _read_cut(factor: Factor, chosen: Map, node: Affine) -> Factor:
    """First the map at the places where it stays within the bounds, then zeros before and behind them.

    Of many places with a long stride few are within, and an axis that has room for all of them would be long.
    """
    (size, places), (stride,) = node.shape, node.strides
    ends = (-node.offset / stride, (size - 1 - node.offset) / stride)
    first, last = max(ceil(min(ends)), 0), min(floor(max(ends)), places - 1)
    if first > last:  # no place is within, which sizes and strides do not show
        sizes = {**dict(zip(factor.labels, factor.node.shape, strict=True)), chosen.places[0]: places}
        output = tuple(dict.fromkeys([chosen.places[0] if k == chosen.at else k for k in factor.labels]))
        return Factor(zero([sizes[label] for label in output], factor.node.dtype), output)
    fresh = max([*factor.labels, *chosen.labels]) + 1
    within = affine(size, [last - first + 1], [stride], node.offset + stride * first, factor.node.dtype)
    padded = affine(last - first + 1, [places], [1], -first, factor.node.dtype)
    if not isinstance(padded, Affine):
        raise InternalError("a map that leaves the bounds has places outside of them")
    if isinstance(within, Affine):
        once = read(factor, Map(within, chosen.at, (fresh,)))
    else:  # an axis of one entry, read at one place
        once = Factor(factor.node, tuple([fresh if label == chosen.at else label for label in factor.labels]))
    return read(once, Map(padded, fresh, chosen.places))


def needs_mask(chosen: Map, factors: Sequence[Factor]) -> bool:
    """Whether something would have to be kept from meeting the zeros outside of the bounds, if all factors are read."""
    if always_inside(chosen.node):
        return False
    holding = [chosen.at in factor.labels for factor in factors]
    return not holding or not all(holding)


def spoils(chosen: Map, factors: Sequence[Factor]) -> bool:
    """Whether zeros outside of the bounds would be multiplied with what may be infinite, and no mask keep it from them.

    Where nothing has the index that is read, the mask itself would be a matrix of zeros and ones.
    """
    if always_inside(chosen.node):
        return False
    places = {*chosen.places}
    apart = [f for f in factors if chosen.at not in f.labels and not (places.isdisjoint(f.labels) or _meets(f, places))]
    holding = any(chosen.at in f.labels for f in factors)
    return bool(apart) and (not holding or any(may_be_infinite(f.node) for f in apart))


def _meets(factor: Factor, places: set[int]) -> bool:
    """Whether a mask over these places can select from the factor."""
    return places.issubset(factor.labels) or places.issuperset(factor.labels)


def inside(chosen: Map) -> Factor:
    """The mask that is true where the map stays within the bounds."""
    structural, places = chosen.typed(BOOL)
    return Factor(einsum([structural], [places], chosen.places, 1, BOOL), chosen.places)
