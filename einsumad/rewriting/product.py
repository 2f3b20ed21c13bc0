"""The working form of a product while rules rearrange it.

Owns that record. Imports the graph. Invariant: `build` gives the product node of the same value as the lists describe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from einsumad.graph import BOOL, Einsum, Labels, Node, Number, Structural, einsum, ones
from einsumad.records import record

_LARGEST_WHOLE = 1 << 31


@record(frozen=False, eq=True, repr=True)
class Product:
    """`coefficient * operands[k][inputs[k]] ...` with output labels ``0 .. rank - 1``; the lists may be changed."""

    coefficient: Number
    operands: list[Node]
    inputs: list[Labels]
    rank: int
    shape: tuple[int, ...]
    dtype: Any

    def sizes(self) -> dict[int, int]:
        """The size of every label."""
        known = dict(enumerate(self.shape))
        for operand, labels in zip(self.operands, self.inputs, strict=True):
            known.update(zip(labels, operand.shape, strict=True))
        return known

    def fresh_label(self) -> int:
        """A label not in use; labels above it are free too."""
        return 1 + max(chain([self.rank - 1], *self.inputs))

    def rename(self, names: Mapping[int, int]) -> None:
        """Rename labels in every operand."""
        self.inputs = [tuple([names.get(label, label) for label in labels]) for labels in self.inputs]

    def drop(self, positions: Iterable[int]) -> None:
        """Remove the operands at these positions."""
        gone = set(positions)
        self.operands = [operand for k, operand in enumerate(self.operands) if k not in gone]
        self.inputs = [labels for k, labels in enumerate(self.inputs) if k not in gone]

    def append(self, operand: Node, labels: Iterable[int]) -> None:
        """Add an operand."""
        self.operands.append(operand)
        self.inputs.append(tuple(labels))

    def open(self, positions: AbstractSet[int]) -> None:
        """Put the factors of the products at these positions in their places."""
        operands, inputs = self.operands, self.inputs
        next_label = self.fresh_label()
        self.operands, self.inputs = [], []
        for k, (operand, labels) in enumerate(zip(operands, inputs, strict=True)):
            if k not in positions or not isinstance(operand, Einsum):
                self.operands.append(operand)
                self.inputs.append(labels)
                continue
            self.coefficient *= operand.coefficient
            names = dict(enumerate(labels))
            for inner in operand.inputs:
                for label in inner:
                    if label not in names:
                        names[label] = next_label
                        next_label += 1
                self.inputs.append(tuple([names[label] for label in inner]))
            self.operands.extend(operand.operands)

    def cover(self) -> None:
        """Cover output labels that lost their operand by ones."""
        covered = set(chain(*self.inputs))
        bare = [axis for axis in range(self.rank) if axis not in covered]
        if bare or not self.operands:
            self.append(ones([self.shape[axis] for axis in bare], self.dtype), bare)

    def build(self) -> Node:
        """The product node; output labels that lost their operand are covered by ones."""
        self.cover()
        return einsum(self.operands, self.inputs, range(self.rank), self.coefficient, self.dtype)


def product_of(
    operands: Iterable[Node], inputs: Sequence[Sequence[int]], output: Sequence[int], coefficient: Number, dtype: Any
) -> Product:
    """The working form of a product that is no node; labels may be any integers."""
    names = {label: axis for axis, label in enumerate(output)}
    work = Product(coefficient, list(operands), [], len(names), (), dtype)
    for labels in inputs:
        work.inputs.append(tuple([names.setdefault(label, len(names)) for label in labels]))
    sizes = work.sizes()
    work.shape = tuple([sizes[axis] for axis in range(work.rank)])
    return work


def open_product(node: Einsum) -> Product:
    """The working form of a product node."""
    return Product(node.coefficient, list(node.operands), list(node.inputs), len(node.shape), node.shape, node.dtype)


def as_product(node: Node) -> Product:
    """The working form of any node: a product of one factor if it is none."""
    return open_product(node) if isinstance(node, Einsum) else of_one_factor(node)


def of_one_factor(node: Node) -> Product:
    """The product that has the node as its only factor, whatever the node is."""
    return Product(1, [node], [tuple(range(len(node.shape)))], len(node.shape), node.shape, node.dtype)


def is_moderate(coefficient: Number, dtype: Any) -> bool:
    """Whether rules may collect a number to this size: half of the exponents of the dtype leave room for the rest.

    ``2**600 (2**600 (x))`` overflows in arrays only where x is not small; as one number it would always.
    """
    if dtype.kind != "f":
        return abs(coefficient) < _LARGEST_WHOLE
    largest = _largest(dtype)
    return 1 / largest <= abs(coefficient) <= largest


@cache
def _largest(dtype: Any) -> float:
    return float(2.0 ** min(np.finfo(dtype).maxexp // 2, 511))  # coefficients are doubles


def is_mask(operand: Node, product_dtype: Any) -> bool:
    """Whether the operand selects instead of multiplying."""
    return operand.dtype == BOOL and product_dtype != BOOL and not isinstance(operand, Structural)


def is_negation(node: Node) -> bool:
    """Whether the node is minus one other node."""
    return (
        isinstance(node, Einsum)
        and node.coefficient == -1
        and len(node.operands) == 1
        and node.dtype == node.operands[0].dtype
        and node.inputs[0] == tuple(range(len(node.shape)))
    )


def negated(node: Node) -> Node:
    """Minus the node, in normal form where the node is."""
    axes = range(len(node.shape))
    if not isinstance(node, Einsum):
        return einsum([node], [axes], axes, -1)
    if is_negation(node):
        return node.operands[0]
    return einsum(node.operands, node.inputs, axes, -node.coefficient, node.dtype)
