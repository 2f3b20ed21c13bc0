"""Two selections by one index array each, along the same places: both axes of the result are written at once.

Owns this choice. Imports the graph and resolved products. Invariant: the product is the same.

    C[i, j] = Σ_o W[o] [i = s[o]] [j = t[o]] = D[n i + j],   D[k] = Σ_o W[o] [k = n s[o] + t[o]]

for n values of j. Written one after the other, ``Σ_o (W[o] [i = s[o]]) [j = t[o]]``, the first would have an entry for
every o and i.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from einsumad.graph import Einsum, Node, Selection, add, affine, einsum, scale, selection
from einsumad.planning.primitives import Factor
from einsumad.planning.resolve import Resolved
from einsumad.records import replace

_MOST_PLACES = 2**62


def written_at_once(resolved: Resolved, primitive: Callable[[Einsum], Node]) -> Resolved:
    """The product with such a pair written at once, as long as there is one; `primitive` plans the product inside."""
    pair = next((pair for pair in combinations(resolved.maps, 2) if _is_pair(resolved, *pair)), None)
    if pair is None:
        return resolved
    (first, places), (second, _) = pair
    fresh = max(resolved.sizes) + 1
    count = second.shape[-1]
    index = add([scale(count, first.operands[0]), second.operands[0]], first.operands[0].dtype)
    joined = Factor(selection(index, first.shape[-1] * count, first.dtype), (*places[:-1], fresh))
    sizes = {**resolved.sizes, fresh: first.shape[-1] * count}
    ends = (pair[0].labels[-1], pair[1].labels[-1])
    output = (fresh, *[label for label in resolved.output if label not in ends])
    maps = [joined, *[item for item in resolved.maps if item not in pair]]
    found = [*resolved.factors, *resolved.masks, *maps]
    inner = einsum([f.node for f in found], [f.labels for f in found], output, 1, resolved.work)
    split = affine(sizes[fresh], [sizes[label] for label in ends], [count, 1], 0, resolved.work)
    return replace(
        resolved,
        factors=[Factor(primitive(inner), output)],
        masks=[],
        maps=[Factor(split, (fresh, *ends))],
        sizes=sizes,
    )


def _is_pair(resolved: Resolved, one: Factor, other: Factor) -> bool:
    """Whether two maps are selections along the same summed places, of axes of the result that nothing else has."""
    ends = (one.labels[-1], other.labels[-1])
    if not (isinstance(one.node, Selection) and isinstance(other.node, Selection)) or ends[0] == ends[1]:
        return False
    if one.labels[:-1] != other.labels[:-1] or not set(one.labels[:-1]).isdisjoint(resolved.output):
        return False
    if one.node.operands[0].dtype != other.node.operands[0].dtype or not set(ends).issubset(resolved.output):
        return False
    if one.node.shape[-1] * other.node.shape[-1] > _MOST_PLACES:
        return False
    others = [*resolved.factors, *resolved.masks, *[item for item in resolved.maps if item not in (one, other)]]
    return all(end not in labels for _, labels in others for end in ends)
