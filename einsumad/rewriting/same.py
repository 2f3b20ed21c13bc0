"""Two maps that say the same of two indices: the indices are equal.

Owns that rule. Imports the graph and the working form. Invariant: one map fewer, and deltas in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from einsumad.graph import BOOL, Affine, Einsum, Labels, Node, Selection, Structural, unit
from einsumad.rewriting.product import open_product
from einsumad.rewriting.rules import Context, Rule


def tie_mapped(node: Einsum, _: Context) -> Node | None:
    """``[i = f(m)] [j = f(m)] = [i = f(m)] δ[i,j]``; also ``[i = a + p m] [i = a + p n]`` ties m and n.

    Several indices are tied at once where the map meets each place once: ``[i = 5 k + l] [i = 5 m + n]`` with l, n < 5.
    A summed index that a stored tensor has is not tied: the tensor is read along its map, which is a view.
    """
    if node.dtype == BOOL:
        return None
    read = _read_labels(node)
    seen: dict[tuple[Node, Labels, Labels], Labels] = {}
    for k, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        if not isinstance(operand, (Affine, Selection)):
            continue
        for axes in _given_axes(operand):
            given = tuple([labels[axis] for axis in axes])
            if not read.isdisjoint(given):
                continue
            others = tuple([label for axis, label in enumerate(labels) if axis not in axes])
            known = seen.setdefault((operand, others, axes), given)
            if known != given and all(labels.count(label) == 1 for label in given):
                work = open_product(node)
                work.drop([k])
                for axis, label, other in zip(axes, given, known, strict=True):
                    if label != other:
                        work.append(unit(operand.shape[axis], 2, node.dtype), (other, label))
                return work.build()
    return None


def _read_labels(node: Einsum) -> set[int]:
    """The summed labels of more than one value that a stored tensor has."""
    rank = len(node.shape)
    return {
        label
        for operand, labels in zip(node.operands, node.inputs, strict=True)
        if not isinstance(operand, Structural)
        for label, size in zip(labels, operand.shape, strict=True)
        if label >= rank and size > 1
    }


def _given_axes(operand: Affine | Selection) -> Iterator[tuple[int, ...]]:
    """The axes whose indices follow from those of the others, if any do."""
    if isinstance(operand, Selection):
        yield (len(operand.shape) - 1,)
        return
    yield (0,)
    if _is_injective(operand):
        yield tuple(range(1, len(operand.shape)))


def _is_injective(operand: Affine) -> bool:
    """Whether no two tuples of out indices are mapped to one place, as by the strides of an array in memory."""
    reach = 0
    for stride, size in sorted([(abs(s), n) for s, n in zip(operand.strides, operand.shape[1:], strict=True) if n > 1]):
        if stride <= reach:
            return False
        reach += stride * (size - 1)
    return reach > 0


RULE = Rule(
    "tie-mapped",
    Einsum,
    "[i = f(m)] [j = f(m)] = [i = f(m)] δ[i,j]",
    "affine tensors and selections",
    tie_mapped,
    frozenset([Affine, Selection]),
)
