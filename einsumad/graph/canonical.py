"""The canonical form of a product: operand order and labels that do not depend on how the caller wrote it.

Owns the choice of operand order and labels. Imports the node kinds. Invariant: products that differ only in
letters and operand order get the same canonical form, up to the search bound below; past the bound the form
is still legal and deterministic, and only sharing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, permutations, product
from math import factorial, prod

from einsumad.graph.nodes import Labels, Node, OrderKey, order_key

_MOST_ORDERS_TRIED = 720


def canonical_form(
    operands: Sequence[Node], inputs: Sequence[Sequence[int]], output: Sequence[int]
) -> tuple[tuple[Node, ...], tuple[Labels, ...]]:
    """Operands and labels in canonical order; output labels become 0, 1, ... in the order of the axes."""
    if len(operands) < 2:
        return tuple(operands), _relabel(inputs, output)
    different = len(set(operands))
    if different == len(operands) or different == len(set(zip(operands, map(tuple, inputs), strict=True))):
        order = sorted(range(len(operands)), key=[order_key(operand) for operand in operands].__getitem__)
    else:
        order = _order_equal_operands([order_key(operand) for operand in operands], inputs, output)
    return tuple([operands[k] for k in order]), _relabel([inputs[k] for k in order], output)


def _relabel(inputs: Iterable[Sequence[int]], output: Sequence[int]) -> tuple[Labels, ...]:
    new = {label: position for position, label in enumerate(output)}
    return tuple([tuple([new.setdefault(label, len(new)) for label in labels]) for labels in inputs])


def _order_equal_operands(
    keys: Sequence[OrderKey], inputs: Sequence[Sequence[int]], output: Sequence[int]
) -> list[int]:
    """Order where a node comes twice: by where the labels lead, the last ties by trying all orders.

    Operands with the same labels are interchangeable and stay together.
    """
    colours = _label_colours(keys, inputs, output)
    classes: dict[tuple[OrderKey, Labels], dict[Labels, list[int]]] = {}
    for k, labels in enumerate(inputs):
        alike = classes.setdefault((keys[k], tuple([colours[label] for label in labels])), {})
        alike.setdefault(tuple(labels), []).append(k)
    groups = [list(classes[key].values()) for key in sorted(classes)]
    choices = prod([factorial(len(group)) for group in groups])
    if not 1 < choices <= _MOST_ORDERS_TRIED:
        return list(chain.from_iterable(chain.from_iterable(groups)))
    candidates = (
        list(chain.from_iterable(chain.from_iterable(choice)))
        for choice in product(*(permutations(group) for group in groups))
    )
    return min(candidates, key=lambda candidate: _relabel([inputs[k] for k in candidate], output))


def _label_colours(keys: Sequence[OrderKey], inputs: Sequence[Sequence[int]], output: Sequence[int]) -> dict[int, int]:
    """A colour for each label, refined by the operands and axes it meets until nothing changes."""
    rank = {key: position for position, key in enumerate(sorted(set(keys)))}
    places: dict[int, list[tuple[int, int]]] = {}
    for k, labels in enumerate(inputs):
        for axis, label in enumerate(labels):
            places.setdefault(label, []).append((k, axis))
    colours = {label: position for position, label in enumerate(output)}
    colours.update({label: len(output) for label in places if label not in colours})
    while True:
        profiles = [(rank[keys[k]], tuple([colours[label] for label in labels])) for k, labels in enumerate(inputs)]
        signatures = {
            label: (colours[label], sorted((profiles[k], axis) for k, axis in where)) for label, where in places.items()
        }
        ranked: list[tuple[int, list[tuple[tuple[int, tuple[int, ...]], int]]]] = []
        for signature in sorted(signatures.values()):
            if not ranked or ranked[-1] != signature:
                ranked.append(signature)
        refined = {label: ranked.index(signature) for label, signature in signatures.items()}
        if len(ranked) == len({colours[label] for label in places}):
            return colours
        colours.update(refined)
