"""A factor that may be infinite is looked at only where the rest of its product is not zero by selection.

Owns the masks that are added for this before a plan is made. Imports the supports, the graph and the catalogue.
Invariant: the roots keep value, shape and dtype wherever no factor is infinite or undefined. A sum over selected terms
is 0 where none was selected; without its mask the product with an infinite factor would be NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

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
        if isinstance(node, Einsum) and isinstance(new, Einsum) and new.dtype.kind == "f":
            places = [k for k, operand in enumerate(new.operands) if operand in unsafe]
            new = _with_masks(new, places, supports) if places else new
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
        added.update(dict.fromkeys(_for_factor(node, node.inputs[place], list(masks))))
    new = supports.saying([pair for pair in added if pair not in own])
    if not new:
        return node
    operands, inputs = zip(*pairs, *new, strict=True)
    return einsum(operands, inputs, range(len(node.shape)), node.coefficient, node.dtype)


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
