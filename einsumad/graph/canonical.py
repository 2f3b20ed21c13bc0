"""The canonical form of a product: operand order and labels that do not depend on how the caller wrote it.

Owns the choice of operand order and labels. Imports the node kinds. Invariant: products that differ only in
letters and operand order get the same canonical form, up to the search bound below; past the bound the form
is still legal and deterministic, and only sharing is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise, permutations, product
from math import factorial, prod
from typing import Any

from einsumad.graph.nodes import Labels, Node, order_key

_MOST_ORDERS_TRIED = 720
_MOST_LOOKED_AT = 4096
"""Operands that are looked at to tell alike ones apart, each time anew, before the least order so far is kept."""
_FEW = 16
"""Operands up to which an order is kept, for layers of one network are alike."""


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
    """Order by rank; of equal ones by where the labels lead, the last ties as :func:`_least_order` breaks them.

    Operands with the same labels are interchangeable and stay together. Few of them are mostly told apart by the labels
    of the output.
    """
    if len(ranks) <= _FEW:
        numbers = {label: position for position, label in enumerate(output)}
        order = _by_rank_and_labels(ranks, inputs, numbers)
        if all(ranks[a] != ranks[b] or _told_apart(inputs[a], inputs[b], numbers) for a, b in pairwise(order)):
            return order
    return _least_order(ranks, inputs, output)


_known_order = lru_cache(maxsize=1024)(_order_equal_operands)


def _by_rank_and_labels(ranks: Labels, inputs: Sequence[Labels], numbers: Mapping[int, int]) -> tuple[int, ...]:
    """The order of the operands by rank and the numbers of their labels, those without one last."""
    last = len(numbers)
    keys = [(rank, [numbers.get(label, last) for label in labels]) for rank, labels in zip(ranks, inputs, strict=True)]
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def _least_order(ranks: Labels, inputs: Sequence[Labels], output: Labels) -> tuple[int, ...]:
    """The least order, by what it makes of the labels: of operands that are alike each is the first one in turn.

    The search is that of B. McKay, Practical graph isomorphism (1981): one of several is told from the others, then
    what follows from that. Where very much is alike, only a part of the orders is tried.
    """
    found: list[tuple[int, ...]] = []
    waiting: list[Labels] = [output]
    looked_at = 0
    while waiting and (looked_at < _MOST_LOOKED_AT or not found):
        told = waiting.pop()
        looked_at += len(ranks)
        numbers = {label: position for position, label in enumerate(told)}
        if _number_from(ranks, inputs, numbers):
            found.append(_by_rank_and_labels(ranks, inputs, numbers))
            continue
        groups = _alike(ranks, inputs, _label_colours(ranks, inputs, told))
        several = [group for group in groups if len(group) > 1]
        if len(several) > 1:
            first = [dict.fromkeys(inputs[members[0]]) for members in min(several, key=len)]
            waiting += [(*told, *[label for label in labels if label not in told]) for labels in first]
        else:
            found += _orders_of(groups)
    return found[0] if len(found) == 1 else min(found, key=lambda order: _relabel([inputs[k] for k in order], output))


def _alike(ranks: Labels, inputs: Sequence[Labels], colours: Mapping[int, int]) -> list[list[list[int]]]:
    """The operands by rank and colours; of those that are alike, the ones with the same labels together."""
    classes: dict[tuple[int, Labels], dict[Labels, list[int]]] = {}
    for k, labels in enumerate(inputs):
        alike = classes.setdefault((ranks[k], tuple([colours[label] for label in labels])), {})
        alike.setdefault(tuple(labels), []).append(k)
    return [list(classes[key].values()) for key in sorted(classes)]


def _orders_of(groups: Sequence[Sequence[Sequence[int]]]) -> Iterator[tuple[int, ...]]:
    """All orders of what is alike, or one where these are too many."""
    choices = prod([factorial(len(group)) for group in groups])
    of_each = [permutations(group) if choices <= _MOST_ORDERS_TRIED else [group] for group in groups]
    for choice in product(*of_each):
        yield tuple(chain.from_iterable(chain.from_iterable(choice)))


def _number_from(ranks: Labels, inputs: Sequence[Labels], numbers: dict[int, int]) -> bool:
    """Number labels, beginning with those that have a number; whether all have one in the end.

    Operands of one rank are in order as soon as the numbers of their labels tell all of them apart: those of their
    labels that have none get the next ones.
    """
    alike: dict[int, list[Labels]] = {}
    for rank, labels in dict.fromkeys(zip(ranks, inputs, strict=True)):
        alike.setdefault(rank, []).append(labels)
    waiting = [alike[rank] for rank in sorted(alike)]
    while waiting:
        left: list[list[Labels]] = []
        for operands in waiting:
            found = {tuple([numbers.get(label, -1) for label in labels]): labels for labels in operands}
            if len(found) < len(operands):
                left.append(operands)
                continue
            for key in sorted(found):
                for label in found[key]:
                    if label not in numbers:
                        numbers[label] = len(numbers)
        if len(left) == len(waiting):
            return False
        waiting = left
    return True


def _told_apart(first: Sequence[int], second: Sequence[int], places: Container[int]) -> bool:
    """Whether labels differ first where one of them is one of the output, which comes before all that are summed."""
    for mine, other in zip(first, second, strict=True):
        if mine != other:
            return mine in places or other in places
    return True


def _label_colours(ranks: Sequence[int], inputs: Sequence[Sequence[int]], output: Collection[int]) -> dict[int, int]:
    """A colour for each label, refined by the operands and axes it meets until nothing changes.

    In each round only labels that meet one whose colour has changed are looked at, so the time is linear for chains:
    others of their colour have the signature still that told them from the rest. (J. Hopcroft, An n log n algorithm for
    minimizing states in a finite automaton, 1971: what is left keeps its colour.)
    """
    places: dict[int, list[tuple[int, int, Sequence[int]]]] = {}
    for rank, labels in zip(ranks, inputs, strict=True):
        for axis, label in enumerate(labels):
            places.setdefault(label, []).append((rank, axis, labels))
    colours = {label: position for position, label in enumerate(output)}
    summed = {label for label in places if label not in colours}
    colours.update(dict.fromkeys(summed, len(output)))
    sizes, signatures = {len(output): len(summed)}, dict[int, Any]()

    def signature(label: int) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        met = [(rank, axis, tuple([colours[other] for other in labels])) for rank, axis, labels in places[label]]
        return tuple(sorted(met))

    touched: set[int] = summed
    while touched:
        classes: dict[int, dict[Any, list[int]]] = {}
        for label in touched:
            if sizes[colours[label]] > 1:
                classes.setdefault(colours[label], {}).setdefault(signature(label), []).append(label)
        touched = set()
        for colour, parts in sorted(classes.items()):
            if sum(map(len, parts.values())) == sizes[colour]:
                signatures[colour] = max(sorted(parts), key=lambda found: len(parts[found]))
            for found in sorted(parts.keys() - {signatures[colour]}):
                new = len(output) + len(sizes)
                signatures[new], sizes[new] = found, len(parts[found])
                sizes[colour] -= sizes[new]
                colours.update(dict.fromkeys(parts[found], new))
                met = [labels for label in parts[found] for _, _, labels in places[label]]
                touched.update(*met)
        touched &= summed
    return colours
