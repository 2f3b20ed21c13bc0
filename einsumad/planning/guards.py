"""A factor that may be infinite is looked at only where the rest of its product is not zero by selection.

Owns the masks that are added for this before a plan is made. Imports the supports, the graph and the catalogue.
Invariant: the roots keep value, shape and dtype wherever no factor is infinite or undefined. A sum over selected terms
is 0 where none was selected; without its mask the product with an infinite factor would be NaN. Where what selects can
be met by a product of some factors, in place of the one that may be infinite, they are multiplied first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import TypeAlias

from einsumad.graph import Einsum, Labels, Node, Selection, einsum, rebuild, topological
from einsumad.planning.finiteness import infinite_among
from einsumad.planning.primitives import is_mask
from einsumad.planning.support import Placed, Supports, maps_of, projected

Parted: TypeAlias = tuple[Node, Callable[[Node], Einsum]]
"""A product of some factors, and the whole product as a function of it."""


def guarded(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with masks on factors that may be infinite; unchanged where there are none."""
    order = topological(roots)
    unsafe = infinite_among(order)
    if not any(isinstance(node, Einsum) and not unsafe.isdisjoint(node.operands) for node in order):
        return tuple(roots)
    supports = Supports()
    memo: dict[Node, Node] = {}
    for node in order:
        new = rebuild(node, [memo[operand] for operand in node.operands])
        new = _guarded_product(new, unsafe, supports)
        if node in unsafe:
            unsafe.add(new)
        supports.enter(new)
        memo[node] = new
    return tuple([memo[root] for root in roots])


def _guarded_product(node: Node, unsafe: set[Node], supports: Supports) -> Node:
    """A product with masks on its unsafe factors, and with a product inside where that takes no new mask."""
    if not isinstance(node, Einsum) or node.dtype.kind != "f":
        return node
    node = _without_held_masks(node, supports)
    places = [k for k, operand in enumerate(node.operands) if operand in unsafe]
    for place in places:
        product, outer = _read_first(node, place) or _met_first(node, place, supports) or (None, None)
        if product and outer:
            inner = _guarded_product(product, unsafe, supports)
            unsafe.add(inner)
            supports.enter(inner)
            return _guarded_product(outer(inner), unsafe, supports)
    return _with_masks(node, places, supports) if places else node


def _without_held_masks(node: Einsum, supports: Supports) -> Einsum:
    """The product without the masks outside of which all of its factors are zero, or all but a few numbers.

    These are multiplied first, and selected: whatever an input holds, it contributes only where a mask is true.
    """
    pairs = list(zip(node.operands, node.inputs, strict=True))
    for k, mask in enumerate(pairs):
        if not is_mask(mask[0]):
            continue
        held = {j for j, pair in enumerate(pairs) if mask in supports.placed(*pair)}
        free = {j for j, (operand, _) in enumerate(pairs) if j not in held and not is_mask(operand)}
        if held and not free:
            return _without_held_masks(_product_of(pairs[:k] + pairs[k + 1 :], node), supports)
        if held and not mask[1] and all(not pairs[j][1] for j in free):
            numbers, outer = _parted(node, {k, *free})
            return _without_held_masks(outer(numbers), supports)
    return node


def _product_of(pairs: Sequence[Placed], node: Einsum) -> Einsum:
    operands, inputs = zip(*pairs, strict=True)
    return einsum(operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)


def _met_first(node: Einsum, place: int, supports: Supports) -> Parted | None:
    """The product of the factor at this place that lies within a mask that is to be applied to it, and what is left.

    Its factors are tied to it by labels that neither the mask nor the result has. None where every mask reaches the
    factor as it is, or none would reach the product.
    """
    pairs = list(zip(node.operands, node.inputs, strict=True))
    output, own, there = set(range(len(node.shape))), set(node.inputs[place]), supports.placed(*pairs[place])
    for k, pair in enumerate(pairs):
        held = set(pair[1])
        reaches = held <= output or held <= own or own <= held
        if k == place or reaches or not is_mask(pair[0]) or pair in there:
            continue
        group = _tied(node.inputs, place, held | output)
        outside = output.union(*[labels for j, labels in enumerate(node.inputs) if j not in group])
        if k not in group and outside.intersection(chain(*[node.inputs[j] for j in group])) <= held:
            return _parted(node, group)
    return None


def _read_first(node: Einsum, place: int) -> Parted | None:
    """The product of the factor at this place that is picked by summed indices, read there, and what is left.

    ``sum_m [q = k_m] w_m F_q``, here with ``F[k_m]`` in place of ``F_q``, is as well a count times F, which would be
    looked at where nothing is picked. None where the factor has q itself, and masks select from it.
    """
    output = set(range(len(node.shape)))
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, Selection) or labels[-1] in node.inputs[place]:
            continue
        *counted, picked = labels
        group = _tied(node.inputs, place, {*output, picked})
        rest = [j for j in range(len(node.inputs)) if j not in {*group, k}]
        outside = output.union(*[node.inputs[j] for j in rest])
        shared = outside.union(labels).intersection(chain(*[node.inputs[j] for j in group]))
        if k not in group and (rest or counted) and output.isdisjoint(counted) and shared == {picked}:
            places = tuple(dict.fromkeys(counted))  # one label twice where a diagonal of the indices is read
            return _multiplied(node, [*group, k], [*rest, k] if picked in outside else rest, places)
    return None


def _tied(inputs: Sequence[Labels], place: int, apart: set[int]) -> set[int]:
    """The places of all inputs that hang together with the one at `place` by labels that are not among those apart."""
    group, reach = {place}, set(inputs[place]) - apart
    while True:
        near = {k for k, labels in enumerate(inputs) if k not in group and not reach.isdisjoint(labels)}
        if not near:
            return group
        group |= near
        reach.update(*[set(inputs[k]) - apart for k in near])


def _with_masks(node: Einsum, places: Sequence[int], supports: Supports) -> Einsum:
    """The product with the masks that keep the factors at these places from being met where nothing is selected."""
    pairs = list(zip(node.operands, node.inputs, strict=True))
    own = {pair: None for pair in pairs if is_mask(pair[0])}
    added: dict[Placed, None] = {}
    for place in places:
        masks = dict(own)
        for k, (operand, labels) in enumerate(pairs):
            if k != place:
                masks.update(dict.fromkeys(supports.placed(operand, labels)))
        there = supports.placed(*pairs[place])  # where the others are zero it is zero itself, not infinite
        needed = [pair for pair in _for_factor(node, node.inputs[place], list(masks)) if pair not in there]
        added.update(dict.fromkeys(needed))
    new = supports.saying([pair for pair in added if pair not in own])
    return _product_of([*pairs, *new], node) if new else node


def _parted(node: Einsum, group: set[int]) -> Parted:
    """The product of some factors, and the whole product as a function of it."""
    rest = [k for k in range(len(node.inputs)) if k not in group]
    wanted = set(range(len(node.shape))).union(*[node.inputs[k] for k in rest])
    held = chain(*[node.inputs[k] for k in sorted(group)])
    return _multiplied(node, group, rest, tuple(dict.fromkeys([label for label in held if label in wanted])))


def _multiplied(node: Einsum, group: Collection[int], rest: Sequence[int], labels: Labels) -> Parted:
    """The product of the factors of a group, with these labels, and what it makes with the rest."""
    pairs = list(zip(node.operands, node.inputs, strict=True))
    operands, inputs = zip(*[pairs[k] for k in sorted(group)], strict=True)

    def outer(product: Node) -> Einsum:
        return _product_of([(product, labels), *[pairs[k] for k in rest]], node)

    return einsum(operands, inputs, labels, 1, node.dtype), outer


def _for_factor(node: Einsum, labels: Labels, masks: list[Placed]) -> list[Placed]:
    """The masks as far as a product applies them to a factor of these labels; of the rest, what it says about these."""
    sizes = {
        label: n
        for o, held in zip(node.operands, node.inputs, strict=True)
        for label, n in zip(held, o.shape, strict=True)
    }
    wide = {label for label, size in sizes.items() if size > 1}
    own, output = wide.intersection(labels), wide.intersection(range(len(node.shape)))

    def applies(mask: Placed) -> bool:
        held = wide.intersection(mask[1])
        return held <= own or own <= held or held <= output

    near = [mask for mask in masks if applies(mask)]
    maps = [pair for pair in maps_of(node) if not own.issuperset(pair[1])]
    if len(near) < len(masks):
        return near + projected(masks, maps, labels)
    if own.isdisjoint(output):  # it is read along the maps, and not spread over what they leave out
        return near
    return near + projected([], _multiplied_out(node, maps, own), labels)


def _multiplied_out(node: Einsum, maps: Sequence[Placed], own: set[int]) -> list[Placed]:
    """The maps that are not read along by a factor with these labels, but multiplied out before they meet it.

    They share an index with another map that the factor has not, or are counted: nothing else has their other indices.
    """
    users = Counter(chain(range(len(node.shape)), *[set(labels) for labels in node.inputs]))
    of_maps = Counter(chain(*[set(labels) for _, labels in maps]))
    found = []
    for pair in maps:
        others = set(pair[1]) - own
        if any(of_maps[label] > 1 for label in others) or all(users[label] == 1 for label in others):
            found.append(pair)
    return found
