"""Masks that are made of 0/1 tensors alone: which entries are true is known when a plan is made.

Owns that evaluation. Imports the graph. Invariant: what cannot be told in bounded work is None.

A product of masks and maps is true where an assignment of all its labels passes every mask and obeys every map. Labels
that no map gives are free; the others follow from them, so all assignments are looked at by arrays of indices, without
a matrix of zeros and ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from einsumad.graph import BOOL, Affine, Einsum, Elementwise, Labels, Node, Ones, Unit, Zero

Array = np.ndarray[Any, Any]
Placed = tuple[Node, Labels]

_MOST_ASSIGNMENTS = 1 << 21
_JUNCTIONS: dict[str, Any] = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_not": np.logical_not}


class Truths:
    """The truth of masks, each found once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        """Know of no mask yet."""
        self._known: dict[Node, Array | None] = {}

    def everywhere(self, mask: Node) -> bool:
        """Whether the mask is known to be true for all indices."""
        truth = self.of(mask)
        return truth is not None and bool(truth.all())

    def of(self, mask: Node) -> Array | None:
        """The entries of a mask; None where they depend on values, or are too many."""
        pending = [mask]
        while pending:
            node = pending[-1]
            missing = [inner for inner in _inner(node) if inner not in self._known]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            if node not in self._known:
                self._known[node] = self._evaluated(node)
        return self._known[mask]

    def _evaluated(self, node: Node) -> Array | None:
        if isinstance(node, Elementwise) and node.function in _JUNCTIONS:
            operands = [self._known[operand] for operand in node.operands]
            return None if any(o is None for o in operands) else np.asarray(_JUNCTIONS[node.function](*operands))
        if isinstance(node, Zero | Ones):
            return np.full(node.shape, isinstance(node, Ones)) if prod(node.shape) <= _MOST_ASSIGNMENTS else None
        product = _product(node)
        if isinstance(product, Zero):
            return np.zeros(node.shape, bool)
        if product is None:
            return None
        masks = [(self._known[o], labels) for o, labels in _masks(product)]
        known = [(truth, labels) for truth, labels in masks if truth is not None]
        return _assigned(product, known) if len(known) == len(masks) else None


def _product(node: Node) -> Einsum | Zero | None:
    """The product, or zero, of which the node says where it is not 0."""
    if isinstance(node, Elementwise) and node.function == "greater" and isinstance(node.operands[1], Zero):
        node = node.operands[0]
    elif node.dtype != BOOL:
        return None
    return node if isinstance(node, Zero) or (isinstance(node, Einsum) and node.coefficient > 0) else None


def _masks(product: Einsum) -> list[Placed]:
    pairs = zip(product.operands, product.inputs, strict=True)
    return [(operand, labels) for operand, labels in pairs if not isinstance(operand, Affine | Unit | Ones)]


def _inner(node: Node) -> Sequence[Node]:
    if isinstance(node, Elementwise) and node.function in _JUNCTIONS:
        return node.operands
    product = _product(node)
    return [operand for operand, _ in _masks(product)] if isinstance(product, Einsum) else ()


def _assigned(product: Einsum, masks: Sequence[tuple[Array, Labels]]) -> Array | None:
    """Where some assignment of the labels passes the masks and obeys the maps."""
    pairs = list(zip(product.operands, product.inputs, strict=True))
    sizes = {label: n for o, labels in pairs for label, n in zip(labels, o.shape, strict=True)}
    given = {labels[0]: (o, labels[1:]) for o, labels in pairs if isinstance(o, Affine)}
    free = [label for label in sizes if label not in given]
    if max(prod(product.shape), prod([sizes[label] for label in free])) > _MOST_ASSIGNMENTS:
        return None
    grids = np.meshgrid(*[np.arange(sizes[label]) for label in free], indexing="ij", sparse=True)
    index: dict[int, Array] = dict(zip(free, grids, strict=True))
    passes: Array = np.ones([sizes[label] for label in free], bool)
    while waiting := [at for at in given if at not in index]:
        ready = [at for at in waiting if all(label in index for label in given[at][1])]
        if not ready:
            return None
        for at in ready:
            index[at] = _image(*given[at], index)
    for operand, labels in pairs:
        if isinstance(operand, Affine):
            places = index[labels[0]]
            passes = passes & (places == _image(operand, labels[1:], index))
            passes = passes & (places >= 0) & (places < sizes[labels[0]])
        elif isinstance(operand, Unit):
            for label in labels[1:]:
                passes = passes & (index[labels[0]] == index[label])
    inside = {label: np.clip(found, 0, max(sizes[label] - 1, 0)) for label, found in index.items()}
    for truth, labels in masks:
        passes = passes & (truth[tuple([inside[label] for label in labels])] if truth.size else False)
    result = np.zeros(product.shape, bool)
    kept = [np.broadcast_to(inside[label], passes.shape)[passes] for label in range(len(product.shape))]
    result[tuple(kept)] = bool(passes.any())
    return result


def _image(node: Node, places: Labels, index: dict[int, Array]) -> Array:
    """The index that an affine map gives."""
    assert isinstance(node, Affine)
    found = np.array(node.offset)
    for stride, label in zip(node.strides, places, strict=True):
        found = found + stride * index[label]
    return found
