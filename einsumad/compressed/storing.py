"""How much of a term is multiplied out: as far as that makes it smaller.

Owns that choice. Imports terms, the graph and the catalogue. Invariant: the chosen factors are products of disjoint
groups of the old ones, so the term keeps its value; what selects stays by itself or meets all that may be infinite.

A choice is a set of summed labels that are summed now; factors that share one of them meet. All sets are tried where
there are few labels, otherwise those that leave at most two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.terms import Term
from einsumad.functions import stays_finite
from einsumad.graph import BOOL, Labels, Leaf, Node, Structural, einsum, order_key, topological
from einsumad.planning import Factor

_MOST_LABELS = 5
_MOST_KEPT = 2
Group: TypeAlias = tuple[Factor, ...]
Core: TypeAlias = tuple[Any, ...]
"""What identifies a tensor that is stored: equal cores are stored once."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
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
    found = [stored for labels in _sets_to_sum(term) if (stored := _stored(term, labels)) is not None]
    return min(found, key=lambda stored: (stored.total, len(stored.groups)))


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


def _sets_to_sum(term: Term) -> Iterator[frozenset[int]]:
    """The sets of summed labels to try. A label that maps alone have is no sum over stored entries."""
    inside = {label for _, labels in term.factors for label in labels}
    free = [label for label in term.summed if label in inside]
    most = len(free) if len(free) <= _MOST_LABELS else _MOST_KEPT
    for kept in range(most + 1):
        for labels in combinations(free, kept):
            yield frozenset(free).difference(labels)


def _stored(term: Term, summed: frozenset[int]) -> Stored | None:
    """The groups when these labels are summed; None if a mask would be lost on a factor that may be infinite."""
    groups = _absorbed(_groups(term.items, summed), summed)
    if not all(_keeps_masks(group, _kept(group, summed), term) for group in groups):
        return None
    found: list[tuple[Group, Labels]] = []
    sizes: dict[Core, int] = {}
    for group in groups:
        labels = _kept(group, summed)
        found.append((group, labels))
        if len(group) == 1 and isinstance(group[0].node, Structural):
            index = group[0].node.operands
            sizes.update({(node,): prod(node.shape) * node.dtype.itemsize for node in index})
            continue
        if labels:  # a number is written into the structure
            sizes[_core(group, labels)] = term.volume(labels) * _dtype(term, group, labels).itemsize
    return Stored(tuple(found), sizes)


def _groups(items: Sequence[Factor], summed: frozenset[int]) -> list[Group]:
    """Factors that share a summed label, directly or through others, in canonical order."""
    groups: list[tuple[set[int], list[Factor]]] = []
    for item in items:
        labels = summed.intersection(item.labels)
        meeting = [group for group in groups if not group[0].isdisjoint(labels)]
        groups = [group for group in groups if group not in meeting]
        groups.append((set(labels).union(*[g for g, _ in meeting]), [*[f for _, held in meeting for f in held], item]))
    return [tuple(sorted(held, key=lambda item: order_key(item.node))) for _, held in groups]


def _absorbed(groups: list[Group], summed: frozenset[int]) -> list[Group]:
    """The groups after those joined a product that has all their labels anyway, or one of equal labels."""
    waiting = [group for group in groups if _joins(group)]
    found = [group for group in groups if not _joins(group)]
    hosts = [k for k, group in enumerate(found) if len(group) > 1]
    for group in waiting:
        labels = set(_kept(group, summed))
        wide = next((k for k in hosts if labels and labels <= set(_kept(found[k], summed))), None)
        same = next((k for k, other in enumerate(found) if _joins(other) and set(_kept(other, summed)) == labels), None)
        place = wide if wide is not None else same if labels else None
        if place is None:
            found.append(group)
        else:
            found[place] = tuple(sorted([*found[place], *group], key=lambda item: order_key(item.node)))
    return found


def _joins(group: Group) -> bool:
    """Whether the group is one ordinary factor, neither map nor mask."""
    return len(group) == 1 and not isinstance(group[0].node, Structural) and group[0].node.dtype != BOOL


def _kept(group: Iterable[Factor], summed: frozenset[int]) -> Labels:
    return tuple(dict.fromkeys([label for _, labels in group for label in labels if label not in summed]))


def _keeps_masks(group: Group, labels: Labels, term: Term) -> bool:
    """Whether no mask in the group leaves a factor outside of it that may be infinite, and maps are not stored."""
    masks = [item for item in group if item.node.dtype == BOOL and not isinstance(item.node, Structural)]
    if len(group) > 1 and all(isinstance(node, Structural) for node, _ in group):
        return False
    if not masks or _is_mask(group, labels):
        return True
    inside = set(group)
    return not any(item not in inside and _may_be_infinite(item.node) for item in term.factors)


def _may_be_infinite(node: Node) -> bool:
    """Whether some function below the node may give infinity; what a leaf holds is the user's."""
    if isinstance(node, Leaf):
        return False
    return not all(stays_finite(inner) for inner in topological([node]) if inner.dtype.kind == "f")


def _core(group: Group, labels: Labels) -> Core:
    """The identity of the product, whatever its labels are called."""
    names: dict[int, int] = {}
    for _, held in group:
        for label in held:
            names.setdefault(label, len(names))
    pattern = tuple([tuple([names[label] for label in held]) for _, held in group])
    return (*[node for node, _ in group], pattern, tuple([names[label] for label in labels]))
