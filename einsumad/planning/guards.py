"""A factor that may be infinite is looked at only where the rest of its product is not zero by selection.

Owns the masks that are added for this before a plan is made. Imports the supports, the graph and the catalogue.
Invariant: the roots keep value, shape and dtype wherever no factor is infinite or undefined. A sum over selected terms
is 0 where none was selected; without its mask the product with an infinite factor would be NaN. Where what selects can
be met by a product of some factors, in place of the one that may be infinite, they are multiplied first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from einsumad.functions import stays_finite
from einsumad.graph import Einsum, Labels, Node, einsum, rebuild, topological
from einsumad.planning.primitives import is_mask
from einsumad.planning.support import Placed, Supports, maps_of, projected


def guarded(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots with masks on factors that may be infinite; unchanged where there are none."""
    order = topological(roots)
    unsafe = may_be_infinite(order)
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


def may_be_infinite(order: Sequence[Node]) -> set[Node]:
    """Those of the nodes, operands first, that may be infinite or undefined though the leaves are finite."""
    found: set[Node] = set()
    for node in order:
        if node.dtype.kind == "f" and (not stays_finite(node) or not found.isdisjoint(node.operands)):
            found.add(node)
    return found


def _guarded_product(node: Node, unsafe: set[Node], supports: Supports) -> Node:
    """A product with masks on its unsafe factors, and with a product inside where that takes no new mask."""
    if not isinstance(node, Einsum) or node.dtype.kind != "f":
        return node
    node = _without_held_masks(node, unsafe, supports)
    places = [k for k, operand in enumerate(node.operands) if operand in unsafe]
    for place in places:
        inside = _met_first(node, place, supports)
        if inside:
            product, outer = _parted(node, inside)
            inner = _guarded_product(product, unsafe, supports)
            unsafe.add(inner)
            supports.enter(inner)
            return _guarded_product(outer(inner), unsafe, supports)
    return _with_masks(node, places, supports) if places else node


def _without_held_masks(node: Einsum, unsafe: set[Node], supports: Supports) -> Einsum:
    """The product without the masks outside of which one of its factors is zero and no other may be infinite."""
    pairs = list(zip(node.operands, node.inputs, strict=True))
    factors = [(operand, supports.placed(operand, labels)) for operand, labels in pairs if not is_mask(operand)]

    def is_held(mask: Placed) -> bool:
        open_to = [operand for operand, held in factors if mask not in held]
        return len(open_to) < len(factors) and unsafe.isdisjoint(open_to)

    kept = [pair for pair in pairs if not (is_mask(pair[0]) and is_held(pair))]
    if len(kept) == len(pairs):
        return node
    operands, inputs = zip(*kept, strict=True)
    return einsum(operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)


def _met_first(node: Einsum, place: int, supports: Supports) -> set[int]:
    """The factors whose product with the one at this place lies within a mask that is to be applied to it.

    They are tied to it by labels that neither the mask nor the result has. None where every mask reaches the factor as
    it is, or none would reach the product.
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
            return group
    return set()


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
    if not new:
        return node
    operands, inputs = zip(*pairs, *new, strict=True)
    return einsum(operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)


def _parted(node: Einsum, group: set[int]) -> tuple[Node, Callable[[Node], Node]]:
    """The product of some factors, and the whole product as a function of it."""
    pairs = list(zip(node.operands, node.inputs, strict=True))
    rest = [pair for k, pair in enumerate(pairs) if k not in group]
    inner = [pairs[k] for k in sorted(group)]
    wanted = {label for _, labels in rest for label in labels} | set(range(len(node.shape)))
    output = tuple(dict.fromkeys([label for _, labels in inner for label in labels if label in wanted]))

    def outer(product: Node) -> Node:
        operands, inputs = zip((product, output), *rest, strict=True)
        return einsum(operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)

    operands, inputs = zip(*inner, strict=True)
    return einsum(operands, inputs, output, 1, node.dtype), outer


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
    if len(near) == len(masks):
        return near
    return near + projected(masks, [pair for pair in maps_of(node) if not own.issuperset(pair[1])], labels)
