"""Two maps that say the same of two indices: the indices are equal.

Owns that rule. Imports the graph and the working form. Invariant: one map fewer, and a delta in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from einsumad.graph import BOOL, Affine, Einsum, Labels, Node, Selection, unit
from einsumad.rewriting.product import open_product
from einsumad.rewriting.rules import Context, Rule


def tie_mapped(node: Einsum, _: Context) -> Node | None:
    """``[i = f(m)] [j = f(m)] = [i = f(m)] δ[i,j]``; also ``[i = a + p m] [i = a + p n]`` ties m and n.

    Only axes of the product are tied: what is summed is read along its map, which is a view.
    """
    if node.dtype == BOOL:
        return None
    rank = len(node.shape)
    seen: dict[tuple[Node, Labels, int], int] = {}
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, (Affine, Selection)):
            continue
        for axis in [axis for axis in _given_axes(operand) if labels[axis] < rank]:
            key = (operand, labels[:axis] + labels[axis + 1 :], axis)
            other = seen.setdefault(key, labels[axis])
            if other != labels[axis] and labels.count(labels[axis]) == 1:
                work = open_product(node)
                work.drop([k])
                work.append(unit(operand.shape[axis], 2, node.dtype), (other, labels[axis]))
                return work.build()
    return None


def _given_axes(operand: Affine | Selection) -> Iterator[int]:
    """The axes whose index follows from those of the others, if any index does."""
    if isinstance(operand, Selection):
        yield len(operand.shape) - 1
        return
    yield 0
    if len(operand.shape) == 2 and operand.strides[0] != 0:
        yield 1


RULE = Rule(
    "tie-mapped",
    Einsum,
    "[i = f(m)] [j = f(m)] = [i = f(m)] δ[i,j]",
    "affine tensors and selections",
    tie_mapped,
    frozenset([Affine, Selection]),
)
