"""The canonical form of a product: operand order and labels that do not depend on how the caller wrote it.

Owns the choice of operand order and labels. Imports the node kinds. Invariant: products that differ only in letters and
operand order get the same canonical form, up to the search bound below; past the bound the form is still legal and
deterministic, and only sharing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, permutations, product

from einsumad.graph.nodes import Labels, Node, OrderKey, order_key

_MOST_ORDERS_TRIED = 720


def canonical_form(
    operands: Sequence[Node], inputs: Sequence[Sequence[int]], output: Sequence[int]
) -> tuple[tuple[Node, ...], tuple[Labels, ...]]:
    """Operands and labels in canonical order; output labels become 0, 1, ... in the order of the output axes."""
    keys = [order_key(operand) for operand in operands]
    order = sorted(range(len(operands)), key=keys.__getitem__)
    if any(keys[a] == keys[b] for a, b in zip(order, order[1:], strict=False)):
        order = _order_equal_operands(order, keys, inputs, output)
    return tuple([operands[k] for k in order]), _relabel([inputs[k] for k in order], output)


def _relabel(inputs: Iterable[Sequence[int]], output: Sequence[int]) -> tuple[Labels, ...]:
    new = {label: position for position, label in enumerate(output)}
    return tuple([tuple([new.setdefault(label, len(new)) for label in labels]) for labels in inputs])


def _order_equal_operands(
    order: list[int], keys: Sequence[OrderKey], inputs: Sequence[Sequence[int]], output: Sequence[int]
) -> list[int]:
    """Order among operands that are the same node, by where their labels lead; the last ties by trying all orders."""
    colours = _label_colours(keys, inputs, output)

    def key(k: int) -> tuple[OrderKey, tuple[int, ...]]:
        return keys[k], tuple([colours[label] for label in inputs[k]])

    order = sorted(order, key=key)
    groups: list[list[int]] = []
    for k in order:
        if groups and key(groups[-1][0]) == key(k):
            groups[-1].append(k)
        else:
            groups.append([k])
    count = 1
    for group in groups:
        for size in range(2, len(group) + 1):
            count *= size
        if count > _MOST_ORDERS_TRIED:
            return order
    if count == 1:
        return order
    candidates = (list(chain.from_iterable(choice)) for choice in product(*(permutations(g) for g in groups)))
    return min(candidates, key=lambda candidate: _relabel([inputs[k] for k in candidate], output))


def _label_colours(
    keys: Sequence[OrderKey], inputs: Sequence[Sequence[int]], output: Sequence[int]
) -> dict[int, int]:
    """A colour for each label, refined by the operands and axes it meets until nothing changes."""
    rank = {key: position for position, key in enumerate(sorted(set(keys)))}
    places: dict[int, list[tuple[int, int]]] = {}
    for k, labels in enumerate(inputs):
        for axis, label in enumerate(labels):
            places.setdefault(label, []).append((k, axis))
    colours = {label: position for position, label in enumerate(output)}
    colours.update({label: len(output) for label in places if label not in colours})
    while True:
        profiles = [
            (rank[keys[k]], tuple([colours[label] for label in labels])) for k, labels in enumerate(inputs)
        ]
        signatures = {
            label: (colours[label], sorted((profiles[k], axis) for k, axis in where))
            for label, where in places.items()
        }
        ranked: list[tuple[int, list[tuple[tuple[int, tuple[int, ...]], int]]]] = []
        for signature in sorted(signatures.values()):
            if not ranked or ranked[-1] != signature:
                ranked.append(signature)
        refined = {label: ranked.index(signature) for label, signature in signatures.items()}
        if len(ranked) == len(set(colours[label] for label in places)):
            return colours
        colours.update(refined)
