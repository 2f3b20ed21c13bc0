"""How much of a term is multiplied out: as far as that makes it smaller.

Owns that choice. Imports terms, the graph and the catalogue. Invariant: the chosen factors are products of disjoint
groups of the old ones, so the term keeps its value; what selects stays by itself or meets all that may be infinite.

A choice is a set of summed labels that are summed now; factors that share one of them meet. All sets are tried where
there are few labels, otherwise those that leave at most two; where masks forbid all of these, nothing is summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, combinations
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.meeting import Meeting
from einsumad.compressed.terms import Term
from einsumad.functions import stays_finite
from einsumad.graph import BOOL, Labels, Node, Structural, einsum, order_key, topological
from einsumad.planning import Factor
from einsumad.records import record, replace

_MOST_LABELS = 5
_MOST_KEPT = 2
_NO_LIMIT = 2**62
Group: TypeAlias = tuple[Factor, ...]
Core: TypeAlias = tuple[Any, ...]
"""What identifies a tensor that is stored: equal cores are stored once."""


@record
class Stored:
    """One way to store a term: its groups with the labels that each keeps, and the bytes of each core."""

    groups: tuple[tuple[Group, Labels], ...]
    bytes: dict[Core, int]

    @property
    def total(self) -> int:
        """The bytes of all cores."""
        return sum(self.bytes.values())


def best_stored(term: Term) -> Stored:
    """The way with the fewest bytes; of several the one with the fewest factors."""
    best: Stored | None = None
    rank = (_NO_LIMIT, 0)
    doubtful, meeting = _may_be_infinite(term), Meeting(term)
    free = _labels_to_sum(term)
    every = meeting.set_of(free)
    for kept in _sets_to_keep(free):
        groups = meeting.groups(every - meeting.set_of(kept), rank[0] // term.dtype.itemsize)
        found = None if groups is None else _stored(term, groups, frozenset(free).difference(kept), doubtful)
        if found is not None and (found.total, len(found.groups)) < rank:
            best, rank = found, (found.total, len(found.groups))
    best = best or _stored(term, [[item] for item in term.items], frozenset(), doubtful)
    assert best is not None  # where nothing is summed each mask stays by itself
    return best


def bytes_of(stored: Iterable[Stored]) -> int:
    """The bytes of several terms together: what they have in common is stored once."""
    cores: dict[Core, int] = {}
    for one in stored:
        cores.update(one.bytes)
    return sum(cores.values())


def multiplied_out(term: Term, stored: Stored, rows: int) -> Term:
    """The term whose factors are the products of the groups, those of rows and their columns over these axes last."""
    factors: list[Factor] = []
    maps: list[Factor] = []
    for group, labels in stored.groups:
        if len(group) == 1 and isinstance(group[0].node, Structural):
            maps.append(group[0])
        elif len(group) == 1 and group[0].labels == labels:
            factors.append(group[0])
        else:
            ordered = _pairs_last(term, labels, rows)
            factors.append(Factor(_product(term, group, ordered), ordered))
    return replace(term, factors=tuple(factors), maps=tuple(maps))


def _pairs_last(term: Term, labels: Labels, rows: int) -> Labels:
    """The labels with those last that are a row and its column, so that a matrix is one in the last two axes."""
    pairs = zip(term.axes[:rows], term.axes[rows:], strict=False)
    paired = [(row, column) for row, column in pairs if row != column and {row, column} <= set(labels)]
    last = (*[row for row, _ in paired], *[column for _, column in paired])
    if len(set(last)) < len(last):
        return labels
    return (*[label for label in labels if label not in last], *last)


def _product(term: Term, group: Group, labels: Labels) -> Node:
    return einsum([f.node for f in group], [f.labels for f in group], labels, 1, _dtype(term, group, labels))


def _dtype(term: Term, group: Group, labels: Labels) -> np.dtype:
    """The dtype in which the product of a group is stored."""
    if len(group) == 1 and group[0].labels == labels:
        return group[0].node.dtype
    return BOOL if _is_mask(group, labels) else term.dtype


def _is_mask(group: Group, labels: Labels) -> bool:
    """Whether the group is a product of masks over these labels: a sum of masks is a number."""
    return all(
        node.dtype == BOOL and not isinstance(node, Structural) and set(held) <= set(labels) for node, held in group
    )


def _labels_to_sum(term: Term) -> list[int]:
    """The labels that may be summed now. A label that maps alone have is no sum over stored entries."""
    inside = {label for _, labels in term.factors for label in labels}
    return [label for label in term.summed if label in inside]


def _sets_to_keep(free: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The sets of these labels that are tried not to be summed now, small ones first."""
    most = len(free) if len(free) <= _MOST_LABELS else _MOST_KEPT
    return chain.from_iterable([combinations(free, kept) for kept in range(most + 1)])


def _stored(
    term: Term, meeting: Sequence[Sequence[Factor]], summed: frozenset[int], doubtful: AbstractSet[Factor]
) -> Stored | None:
    """The groups when these labels are summed; None if a mask would be lost on a factor that may be infinite."""
    groups = [(group, _kept(group, summed)) for group in _absorbed([_in_order(held) for held in meeting], summed)]
    if not all(_keeps_masks(group, labels, doubtful) for group, labels in groups):
        return None
    sizes: dict[Core, int] = {}
    for group, labels in groups:
        if len(group) == 1 and isinstance(group[0].node, Structural):
            index = group[0].node.operands
            sizes.update({(node,): prod(node.shape) * node.dtype.itemsize for node in index})
        elif labels:  # a number is written into the structure
            sizes[_core(group, labels)] = term.volume(labels) * _dtype(term, group, labels).itemsize
    return Stored(tuple(groups), sizes)


def _in_order(items: Sequence[Factor]) -> Group:
    return tuple(sorted(items, key=lambda item: order_key(item.node)) if len(items) > 1 else items)


def _absorbed(groups: list[Group], summed: frozenset[int]) -> list[Group]:
    """The groups after those joined a product that has all their labels anyway, or one of equal labels."""
    found = [group for group in groups if not _joins(group)]
    kept = [set(_kept(group, summed)) for group in found]
    hosts = [k for k, group in enumerate(found) if len(group) > 1]
    for group in groups:
        if not _joins(group):
            continue
        labels = set(_kept(group, summed))
        wide = next((k for k in hosts if labels and labels <= kept[k]), None)
        same = next((k for k, own in enumerate(kept) if own == labels and all(map(_is_ordinary, found[k]))), None)
        place = wide if wide is not None else same if labels else None
        if place is None:
            found.append(group)
            kept.append(labels)
        else:
            found[place] = _in_order([*found[place], *group])
    return found


def _joins(group: Group) -> bool:
    return len(group) == 1 and _is_ordinary(group[0])


def _is_ordinary(factor: Factor) -> bool:
    """Whether the factor is neither map nor mask."""
    return not isinstance(factor.node, Structural) and factor.node.dtype != BOOL


def _kept(group: Iterable[Factor], summed: frozenset[int]) -> Labels:
    return tuple(dict.fromkeys([label for _, labels in group for label in labels if label not in summed]))


def _keeps_masks(group: Group, labels: Labels, doubtful: AbstractSet[Factor]) -> bool:
    """Whether no mask in the group leaves a factor outside of it that may be infinite, and maps are not stored."""
    if len(group) > 1 and all(isinstance(node, Structural) for node, _ in group):
        return False
    masked = any(node.dtype == BOOL and not isinstance(node, Structural) for node, _ in group)
    return not masked or _is_mask(group, labels) or doubtful <= set(group)


def _may_be_infinite(term: Term) -> frozenset[Factor]:
    """The factors below which some function may give infinity; what a leaf holds is the user's."""
    found: set[Node] = set()
    for node in topological([node for node, _ in term.factors]):
        gives = node.dtype.kind == "f" and not stays_finite(node)
        if gives or any(operand in found for operand in node.operands):
            found.add(node)
    return frozenset([factor for factor in term.factors if factor.node in found])


def _core(group: Group, labels: Labels) -> Core:
    """The identity of the product, whatever its labels are called."""
    names: dict[int, int] = {}
    for _, held in group:
        for label in held:
            names.setdefault(label, len(names))
    pattern = tuple([tuple([names[label] for label in held]) for _, held in group])
    return (*[node for node, _ in group], pattern, tuple([names[label] for label in labels]))
