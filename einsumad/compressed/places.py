"""Which labels of a term are run through, and which follow from them.

Owns this reasoning. Imports terms and the graph. Invariant: the free labels and the maps give all labels of the axes
and of the maps; no entry outside of them is different from zero.
"""

from __future__ import annotations

from typing import NamedTuple

from einsumad.compressed.terms import Term
from einsumad.graph import Affine, Labels, Selection
from einsumad.planning import Factor
from einsumad.records import record


class Linear(NamedTuple):
    """``constant + Σ steps[label] · label``."""

    constant: int
    steps: dict[int, int]


@record
class Places:
    """How the labels of a term are run through.

    `free` are counted up; `given` has for each other label the map that gives it, in an order in which that works; the
    maps in `tests` must hold besides.
    """

    free: Labels
    given: tuple[tuple[int, Factor], ...]
    tests: tuple[Factor, ...]


def places(term: Term) -> Places:
    """The labels to count up, those that follow, and what is left to test."""
    needs: dict[int, set[int]] = {}
    given: dict[int, Factor] = {}
    tests: list[Factor] = []
    for item in term.maps:
        target = next((label for label in targets(item) if _may_follow(label, item, needs)), None)
        if target is None:
            tests.append(item)
        else:
            given[target] = item
            needs[target] = set(item.labels) - {target}
    labels = {*term.axes, *[label for _, held in term.maps for label in held]}
    free = tuple(sorted(labels - given.keys()))
    order: list[int] = []
    while len(order) < len(given):
        order += [k for k in given if k not in order and needs[k] <= {*free, *order}]
    return Places(free, tuple([(label, given[label]) for label in order]), tuple(tests))


def targets(item: Factor) -> tuple[int, ...]:
    """The labels that a map gives when the others are known."""
    node, labels = item
    if isinstance(node, Selection):
        return (labels[-1],)
    turned = isinstance(node, Affine) and len(labels) == 2 and abs(node.strides[0]) == 1
    return labels if turned else labels[:1]


def _may_follow(label: int, item: Factor, needs: dict[int, set[int]]) -> bool:
    """Whether the label is not given yet, and none of the others waits for it."""
    if label in needs or item.labels.count(label) > 1:
        return False
    waiting = set(item.labels) - {label}
    while more := set().union(*[needs.get(k, set()) for k in waiting]) - waiting:
        waiting |= more
    return label not in waiting


def entry_count(term: Term) -> int:
    """How many entries are run through."""
    return term.volume(places(term).free)


def linear_indices(term: Term) -> dict[int, Linear] | None:
    """Every label of the axes as a linear function of the free ones; None where a selection gives one."""
    found = places(term)
    known = {label: Linear(0, {label: 1}) for label in found.free}
    for label, (node, labels) in found.given:
        if not isinstance(node, Affine):
            return None
        if label == labels[0]:
            total, steps = node.offset, list(zip(labels[1:], node.strides, strict=True))
        else:
            total, steps = -node.strides[0] * node.offset, [(labels[0], node.strides[0])]
        sums: dict[int, int] = {}
        for other, step in steps:
            total += step * known[other].constant
            for inner, factor in known[other].steps.items():
                sums[inner] = sums.get(inner, 0) + step * factor
        known[label] = Linear(total, sums)
    return known
