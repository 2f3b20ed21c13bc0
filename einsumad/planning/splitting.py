"""Expressions for a part of an index.

Owns how expressions are cut. Imports indices and the graph. Invariant: evaluated for the parts of the leaves, what a
cut gives are parts of what was cut, or add up to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einsumad.graph import (
    Add,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Ones,
    Selection,
    Shape,
    Structural,
    Unit,
    Zero,
    add,
    einsum,
    elementwise,
    general,
    leaf,
    ones,
    selection,
    topological,
    unit,
    zero,
)
from einsumad.planning.indices import Index
from einsumad.records import record


@record(repr=True)
class Cut:
    """Expressions for a part of an index, and for each leaf that was cut the one that stands for a part, and its axis.

    `axes` has for each of the expressions the axis of the parts; None where it is a sum over them.
    """

    roots: tuple[Node, ...]
    leaves: dict[Node, tuple[Leaf, int]]
    axes: tuple[int | None, ...]


def cut(nodes: Sequence[Node], index: Index, size: int, known: Mapping[Node, Node] | None = None) -> Cut:
    """Expressions for a part of so many values of an index; `known` has what stands for nodes that are known by now."""
    part = _Part(index, size)
    made = part.made_of(nodes, {} if known is None else known)
    return Cut(tuple([made[node] for node in nodes]), part.leaves, tuple([index.axes.get(node) for node in nodes]))


class _Part:
    """Nodes for a part of an index, and the leaves among them that stand for parts of leaves."""

    def __init__(self, index: Index, size: int) -> None:
        self.axes = index.axes
        self.size = size
        self.leaves: dict[Node, tuple[Leaf, int]] = {}

    def made_of(self, roots: Sequence[Node], known: Mapping[Node, Node]) -> dict[Node, Node]:
        """What becomes of each node."""
        made = dict(known)
        for node in topological(roots, known.keys()):
            if node not in made:
                made[node] = self._made(node, made)
        return made

    def _shape(self, node: Node) -> Shape:
        at = self.axes.get(node)
        return tuple([self.size if axis == at else n for axis, n in enumerate(node.shape)])

    def _made(self, node: Node, made: dict[Node, Node]) -> Node:
        shape = self._shape(node)
        match node:
            case Leaf():
                return self._leaf(node, shape)
            case Einsum():
                return self._product(node, made)
            case Add():
                return add([_resized(made[o], shape) for o in node.operands], node.dtype)
            case Elementwise():
                operands = [_resized(made[o], shape) for o in node.operands]
                return elementwise(node.function, operands, node.params, node.dtype)
            case General():
                return general(node.function, [made[o] for o in node.operands], node.params, shape, node.dtype)
        return node

    def _leaf(self, node: Leaf, shape: Shape) -> Leaf:
        if node not in self.axes:
            return node
        # what was declared of the whole, such as a symmetry, need not hold for a part
        part = leaf(shape, node.dtype, node.key, node.name)
        self.leaves[node] = part, self.axes[node]
        return part

    def _product(self, node: Einsum, made: dict[Node, Node]) -> Node:
        cut_labels = self._cut_labels(node)
        operands: list[Node] = []
        for operand, labels in zip(node.operands, node.inputs, strict=True):
            shape = [self.size if label in cut_labels else n for label, n in zip(labels, operand.shape, strict=True)]
            if isinstance(operand, Selection):
                operands.append(selection(made[operand.operands[0]], operand.shape[-1], operand.dtype))
            else:
                operands.append(_resized(made[operand], shape) if isinstance(operand, Structural) else made[operand])
        return einsum(operands, node.inputs, range(len(node.shape)), node.coefficient, node.dtype)

    def _cut_labels(self, node: Einsum) -> set[int]:
        """The labels of a product that stand for the index."""
        labels: set[int] = set()
        if node in self.axes:
            labels.add(self.axes[node])
        for operand, own in zip(node.operands, node.inputs, strict=True):
            source = operand.operands[0] if isinstance(operand, Selection) else operand
            if source in self.axes:
                labels.add(own[self.axes[source]])
        deltas = [own for operand, own in zip(node.operands, node.inputs, strict=True) if isinstance(operand, Unit)]
        while tied := {label for own in deltas if not labels.isdisjoint(own) for label in own} - labels:
            labels |= tied
        return labels


def _resized(node: Node, shape: Sequence[int]) -> Node:
    """A 0/1 tensor that is the same along all of its axes, in another shape; any other node as it is."""
    if node.shape == tuple(shape):
        return node
    match node:
        case Ones():
            return ones(shape, node.dtype)
        case Zero():
            return zero(shape, node.dtype)
        case Unit():
            return unit(shape[0], len(shape), node.dtype)
    return node
