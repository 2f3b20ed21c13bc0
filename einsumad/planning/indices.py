"""Indices along which expressions can be cut, such as that of the samples.

Owns which they are. Imports the graph and the catalogue. Invariant: an index can be cut if it is an axis of every
tensor that depends on it until it is an axis of a root, or until a product sums over it; parts of such tensors are what
they are for parts of the leaves, and a sum over the index is the sum of what it is for the parts.

The axes of all nodes are put into classes, one an index, by what a product, a sum or a function identifies. A class is
refused where an affine tensor or a delta between operands of a sum takes part, where a selection gives it, where a
function works across it, where a node has it twice, where two labels of a product are in it that are not equal by a
delta, and where a product that has it sums over another axis of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from einsumad.functions import general_function
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Ones,
    Selection,
    Structural,
    Unit,
    Zero,
    topological,
)
from einsumad.records import record


@record(repr=True)
class Index:
    """An index along which expressions can be cut: its axis in each node that has it, and the products that sum it."""

    axes: dict[Node, int]
    summed: frozenset[Node]
    size: int

    @property
    def weight(self) -> int:
        """The bytes of all that is computed with this index."""
        return sum([prod(n.shape) * n.dtype.itemsize for n in self.axes if not isinstance(n, Leaf)])


def cuttable_indices(roots: Sequence[Node]) -> list[Index]:
    """The indices along which the roots can be cut, those with the largest tensors first."""
    return sorted(Classes(roots).indices(), key=lambda index: (index.weight, index.size), reverse=True)


class Classes:
    """The axes of all nodes and the labels of products in classes; those that cannot be cut, and the sums over them."""

    def __init__(self, roots: Sequence[Node]) -> None:
        self.parent: dict[object, object] = {}
        self.refused: set[object] = set()
        self.sums: list[tuple[object, Node]] = []
        self.order = [node for node in topological(roots) if not isinstance(node, Structural)]
        for root in roots:
            self._refuse_inside(root)
        for node in self.order:
            match node:
                case Einsum():
                    self._enter_product(node)
                case Add() | Elementwise():
                    self._enter_entries(node)
                case General():
                    self._enter_function(node)

    def indices(self) -> list[Index]:
        """The classes that can be cut."""
        axes: dict[object, dict[Node, int]] = {}
        refused = {self._class(key) for key in self.refused}
        for node in self.order:
            for axis in range(len(node.shape)):
                owner = self._class((node, axis))
                if node in axes.setdefault(owner, {}):
                    refused.add(owner)
                axes[owner][node] = axis
        refused |= {owner for node in self.order if isinstance(node, Einsum) for owner in self._met(node)}
        summed: dict[object, set[Node]] = {}
        for key, node in self.sums:
            owner = self._class(key)
            summed.setdefault(owner, set()).add(node)
            if node in axes.get(owner, {}) or node.dtype == BOOL:
                refused.add(owner)
        found: list[Index] = []
        for owner, held in axes.items():
            leaves = [node for node in held if isinstance(node, Leaf)]
            if owner not in refused and leaves:
                found.append(Index(held, frozenset(summed.get(owner, ())), leaves[0].shape[held[leaves[0]]]))
        return found

    def sums_that_meet(self, node: Einsum) -> list[frozenset[int]]:
        """The summed labels of a product that are in a class with other labels of it, those of one delta together."""
        groups = _groups_of_labels(node)
        owners = [self._class((node, "label", min(group))) for group in groups]
        summed = [min(group) >= len(node.shape) for group in groups]
        return [g for g, owner, s in zip(groups, owners, summed, strict=True) if s and owners.count(owner) > 1]

    def _met(self, node: Einsum) -> set[object]:
        """The classes that a product has twice: of labels that a delta does not make equal."""
        owners = [self._class((node, "label", min(group))) for group in _groups_of_labels(node)]
        return {owner for owner in owners if owners.count(owner) > 1}

    def _class(self, key: object) -> object:
        while (above := self.parent.setdefault(key, key)) != key:
            self.parent[key] = key = self.parent[above]
        return key

    def _join(self, one: object, other: object) -> None:
        self.parent[self._class(one)] = self._class(other)

    def _refuse(self, node: Node) -> None:
        self.refused.update([(node, axis) for axis in range(len(node.shape))])

    def _refuse_inside(self, node: Node) -> None:
        """What a 0/1 tensor outside of a product is made from: it stays whole."""
        if isinstance(node, Structural):
            for operand in node.operands:
                self._refuse(operand)

    def _enter_entries(self, node: Node) -> None:
        for operand in node.operands:
            if not isinstance(operand, Structural):
                for axis in range(len(node.shape)):
                    self._join((operand, axis), (node, axis))
            elif not isinstance(operand, Ones | Zero):
                self._refuse(node)
                self._refuse_inside(operand)

    def _enter_function(self, node: General) -> None:
        item_rank = general_function(node.function).item_rank
        whole = item_rank is None or any(isinstance(operand, Structural) for operand in node.operands)
        batch = 0 if whole else len(node.shape) - (item_rank or 0)
        self.refused.update([(node, axis) for axis in range(batch, len(node.shape))])
        for operand in node.operands:
            self._refuse_inside(operand)
            for axis in range(len(operand.shape)):
                if axis < batch:
                    self._join((operand, axis), (node, axis))
                else:
                    self.refused.add((operand, axis))

    def _enter_product(self, node: Einsum) -> None:
        rank = len(node.shape)
        for axis in range(rank):
            self._join((node, axis), (node, "label", axis))
        for operand, labels in zip(node.operands, node.inputs, strict=True):
            self._tie(operand, [(node, "label", label) for label in labels])
        for label in {label for labels in node.inputs for label in labels if label >= rank}:
            self.sums.append(((node, "label", label), node))

    def _tie(self, operand: Node, keys: Sequence[object]) -> None:
        """What an operand of a product says of the classes of its labels."""
        match operand:
            case Ones() | Zero():
                return
            case Unit():
                for key in keys[1:]:
                    self._join(keys[0], key)
            case Selection():
                self.refused.add(keys[-1])
                for axis, key in enumerate(keys[:-1]):
                    self._join((operand.operands[0], axis), key)
            case Structural():
                self.refused.update(keys)
            case _:
                for axis, key in enumerate(keys):
                    self._join((operand, axis), key)


def _groups_of_labels(node: Einsum) -> list[frozenset[int]]:
    """The labels of a product, those together that are equal by deltas."""
    groups: dict[int, set[int]] = {label: {label} for labels in node.inputs for label in labels}
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if isinstance(operand, Unit):
            joined = {other for label in labels for other in groups[label]}
            groups.update(dict.fromkeys(joined, joined))
    return sorted({frozenset(group) for group in groups.values()}, key=min)
