"""The canonical form of a product: operand order and labels that do not depend on how the caller wrote it.

Owns the choice of operand order and labels. Imports the node kinds. Invariant: products that differ only in
letters and operand order get the same canonical form, up to the search bound below; past the bound the form
is still legal and deterministic, and only sharing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise, permutations, product
from math import factorial, prod
from typing import Any

from einsumad.graph.nodes import Labels, Node, order_key

_MOST_ORDERS_TRIED = 720
_FEW = 16
"""Operands up to which an order is kept: layers of one network are alike."""


def canonical_form(
    operands: Sequence[Node], inputs: Sequence[Sequence[int]], output: Collection[int]
) -> tuple[tuple[Node, ...], tuple[Labels, ...]]:
    """Operands and labels in canonical order; output labels become 0, 1, ... in the order of the axes."""
    if len(operands) < 2:
        return tuple(operands), _relabel(inputs, output)
    if len(operands) == 2:
        first, second = operands
        if first.form != second.form:
            if first.form < second.form:
                return (first, second), _relabel(inputs, output)
            return (second, first), _relabel([inputs[1], inputs[0]], output)
    forms = [operand.form for operand in operands]
    if len(set(forms)) == len(forms):  # the first part of the key tells them all apart
        order = sorted(range(len(forms)), key=forms.__getitem__)
    elif len(set(operands)) == len(forms):
        keys = [order_key(operand) for operand in operands]
        order = sorted(range(len(keys)), key=keys.__getitem__)
    else:
        ranks = {node: place for place, node in enumerate(sorted(set(operands), key=order_key))}
        own = [ranks[operand] for operand in operands]
        find = _known_order if len(operands) <= _FEW else _order_equal_operands
        order = list(find(tuple(own), tuple(map(tuple, inputs)), tuple(output)))
    return tuple([operands[k] for k in order]), _relabel([inputs[k] for k in order], output)


def keeps_order(operands: Sequence[Node], others: Sequence[Node]) -> bool:
    """Whether others in the place of operands in canonical order are in canonical order with the same labels.

    They are if each has the form of the one whose place it takes, and those of one form stand to each other as these:
    nothing else of a node has a part in the order.
    """
    for mine, other in zip(operands, others, strict=True):
        if mine.form != other.form:
            return False
    for (first, second), (mine, other) in zip(pairwise(others), pairwise(operands), strict=True):
        if first.form == second.form:
            if (first is second) != (mine is other):
                return False
            if first is not second and order_key(first) > order_key(second):
                return False
    return True


def _relabel(inputs: Iterable[Sequence[int]], output: Iterable[int]) -> tuple[Labels, ...]:
    new = {label: position for position, label in enumerate(output)}
    return tuple([tuple([new.setdefault(label, len(new)) for label in labels]) for labels in inputs])


def _order_equal_operands(ranks: Labels, inputs: Sequence[Labels], output: Labels) -> tuple[int, ...]:
    """Order by rank; of equal ones by where the labels lead, the last ties by trying all orders.

    Operands with the same labels are interchangeable and stay together.
    """
    places = {label: position for position, label in enumerate(output)}
    last = len(places)
    keys = [(rank, [places.get(label, last) for label in labels]) for rank, labels in zip(ranks, inputs, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    if all(ranks[a] != ranks[b] or _told_apart(inputs[a], inputs[b], places) for a, b in pairwise(order)):
        return tuple(order)
    colours = _label_colours(ranks, inputs, output)
    classes: dict[tuple[int, Labels], dict[Labels, list[int]]] = {}
    for k, labels in enumerate(inputs):
        alike = classes.setdefault((ranks[k], tuple([colours[label] for label in labels])), {})
        alike.setdefault(tuple(labels), []).append(k)
    groups = [list(classes[key].values()) for key in sorted(classes)]
    choices = prod([factorial(len(group)) for group in groups])
    if not 1 < choices <= _MOST_ORDERS_TRIED:
        return tuple(chain.from_iterable(chain.from_iterable(groups)))
    candidates = (
        list(chain.from_iterable(chain.from_iterable(choice)))
        for choice in product(*(permutations(group) for group in groups))
    )
    return tuple(min(candidates, key=lambda candidate: _relabel([inputs[k] for k in candidate], output)))


_known_order = lru_cache(maxsize=1024)(_order_equal_operands)


def _told_apart(first: Sequence[int], second: Sequence[int], places: Container[int]) -> bool:
    """Whether labels differ first where one of them is one of the output, which comes before all that are summed."""
    for mine, other in zip(first, second, strict=True):
        if mine != other:
            return mine in places or other in places
    return True


def _label_colours(ranks: Sequence[int], inputs: Sequence[Sequence[int]], output: Collection[int]) -> dict[int, int]:
    """A colour for each label, refined by the operands and axes it meets until nothing changes.

    In each round only labels that meet one whose colour has changed are looked at: the time is linear for chains. (J.
    Hopcroft, An n log n algorithm for minimizing states in a finite automaton, 1971: what is left keeps its colour.)
    """
    places: dict[int, list[tuple[int, int, Sequence[int]]]] = {}
    for rank, labels in zip(ranks, inputs, strict=True):
        for axis, label in enumerate(labels):
            places.setdefault(label, []).append((rank, axis, labels))
    colours = {label: position for position, label in enumerate(output)}
    summed = {label for label in places if label not in colours}
    members = {len(output): summed}
    colours.update(dict.fromkeys(summed, len(output)))

    def signature(label: int) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        met = [(rank, axis, tuple([colours[other] for other in labels])) for rank, axis, labels in places[label]]
        return tuple(sorted(met))

    touched: set[int] = summed
    while touched:
        classes: dict[int, list[int]] = {}
        for label in touched:
            if len(members[colours[label]]) > 1:
                classes.setdefault(colours[label], []).append(label)
        splits = [part for colour in sorted(classes) for part in _split(members[colour], classes[colour], signature)]
        touched = set()
        for part in splits:
            new = len(output) + len(members)
            for label in part:
                members[colours[label]].remove(label)
                colours[label] = new
                touched.update([other for _, _, labels in places[label] for other in labels])
            members[new] = set(part)
        touched &= summed
    return colours


def _split(members: set[int], touched: list[int], signature: Callable[[int], Any]) -> list[list[int]]:
    """The parts of a class of labels that get new colours: all but one, that of the labels that were not touched."""
    groups: dict[Any, list[int]] = {}
    for label in touched:
        groups.setdefault(signature(label), []).append(label)
    if len(touched) == len(members):
        groups.pop(min(groups))
    else:
        seen = set(touched)
        groups.pop(signature(next(label for label in members if label not in seen)), None)
    return [groups[found] for found in sorted(groups)]
