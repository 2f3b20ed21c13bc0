"""Terms: products whose deltas and ones are read off the labels of their axes.

Owns the record, and the way from a product node to it and back. Imports the graph and planning. Invariant: a term has
the value of the product it was read from; its factors have distinct labels each.

``2 M[j,l] δ[i,k]`` over the axes (i, j, k, l) has the one factor ``M[1,3]`` and the axes ``(0, 1, 0, 3)``: a label that
comes again is a delta, one that no factor has is spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from einsumad.graph import Affine, Einsum, Labels, Node, Number, Selection, add, affine, cast, einsum, ones, unit, zero
from einsumad.planning import Factor, layout, resolve
from einsumad.records import record, replace


@record
class Term:
    """``coefficient · Π factors[labels] · Π maps[labels]``, summed over all labels that `axes` does not name.

    `maps` are affine tensors and selections; `sizes` has every label; boolean factors are masks.
    """

    coefficient: Number
    factors: tuple[Factor, ...]
    maps: tuple[Factor, ...]
    axes: Labels
    sizes: Mapping[int, int]
    dtype: np.dtype

    @property
    def items(self) -> tuple[Factor, ...]:
        """Factors and maps."""
        return (*self.factors, *self.maps)

    @property
    def held(self) -> frozenset[int]:
        """The labels that a factor or a map has."""
        return frozenset([label for _, labels in self.items for label in labels])

    @property
    def summed(self) -> tuple[int, ...]:
        """The labels that are summed, in order."""
        return tuple(sorted(self.held.difference(self.axes)))

    def volume(self, labels: Iterable[int]) -> int:
        """The number of entries of a tensor with these labels."""
        result = 1
        for label in labels:
            result *= self.sizes[label]
        return result

    def renamed(self, names: Mapping[int, int]) -> Term:
        """The term with other labels."""

        def moved(found: Sequence[Factor]) -> tuple[Factor, ...]:
            return tuple([Factor(node, tuple([names.get(k, k) for k in labels])) for node, labels in found])

        sizes = {names.get(label, label): size for label, size in self.sizes.items()}
        axes = tuple([names.get(label, label) for label in self.axes])
        return replace(self, factors=moved(self.factors), maps=moved(self.maps), axes=axes, sizes=sizes)


def read_term(node: Node) -> Term | None:
    """The term of a product, or of any node as a product of itself alone; None where it is a structural zero."""
    if not isinstance(node, Einsum):
        axes = range(len(node.shape))
        node = einsum([node], [axes], axes, 1, node.dtype)
    found = resolve(node)
    if found is None:
        return None
    factors = (*found.factors, *found.masks)
    return _read(_tied(Term(found.coefficient, factors, tuple(found.maps), found.axes, found.sizes, node.dtype)))


def _read(term: Term) -> Term:
    """The term whose factors are read along affine maps that give their indices, where that leaves no more entries.

    A map to an index that nothing else has is done with: what was read along it is zero where it leaves the bounds.
    """
    factors = list(term.factors)
    maps = list(term.maps)
    for item in term.maps:
        node, (target, *sources) = item
        before = list(factors)
        for k, (held, labels) in enumerate(factors):
            if not isinstance(node, Affine) or labels.count(target) != 1 or target in sources:
                continue
            output = tuple(dict.fromkeys([*[label for label in labels if label != target], *sources]))
            if term.volume(output) <= term.volume(labels):
                structural = affine(node.shape[0], node.shape[1:], node.strides, node.offset, held.dtype)
                read = einsum([held, structural], [labels, item.labels], output, 1, held.dtype)
                factors[k] = Factor(read, output)
        others = [*factors, *[other for other in maps if other is not item]]
        if factors != before and target not in term.axes and all(target not in labels for _, labels in others):
            maps.remove(item)
    return replace(term, factors=tuple(factors), maps=tuple(maps))


def _tied(term: Term) -> Term:
    """The term without maps that say the same as another: what both give is one label, an axis where there is one."""
    seen: dict[tuple[Node, Labels, int], int] = {}
    for k, (node, labels) in enumerate(term.maps):
        for axis in _given_axes(node):
            key = (node, labels[:axis] + labels[axis + 1 :], axis)
            other = seen.setdefault(key, labels[axis])
            if other != labels[axis] and labels.count(labels[axis]) == 1 and other not in labels:
                kept, gone = (other, labels[axis]) if other in term.axes else (labels[axis], other)
                maps = (*term.maps[:k], *term.maps[k + 1 :])
                return _tied(_distinct(replace(term, maps=maps).renamed({gone: kept})))
    return term


def _distinct(term: Term) -> Term:
    """The term whose factors are read on the diagonal where a label comes twice."""
    factors = [layout(factor, tuple(dict.fromkeys(factor.labels))) for factor in term.factors]
    return replace(term, factors=tuple(factors))


def _given_axes(node: Node) -> tuple[int, ...]:
    """The axes of a map whose index follows from the others."""
    if isinstance(node, Selection):
        return (len(node.shape) - 1,)
    turned = isinstance(node, Affine) and len(node.shape) == 2 and node.strides[0] != 0
    return (0, 1) if turned else (0,)


def write_term(term: Term) -> Node:
    """The product node of a term."""
    return write_over(term, tuple([(label,) for label in term.axes]))


def write_over(term: Term, places: Sequence[Labels], others: Sequence[Factor] = ()) -> Node:
    """The term, times other factors in its labels, as a product over one axis for each group of `places`.

    The labels of a group are tied to one another. Labels in no group are summed.
    """
    items = [*term.items, *others]
    operands, inputs = [node for node, _ in items], [labels for _, labels in items]
    held = {label for labels in inputs for label in labels}
    fresh = max([*term.sizes, *held], default=-1) + 1
    output = range(fresh, fresh + len(places))
    bare: dict[int, int] = {}
    for axis, group in zip(output, places, strict=True):
        operands.append(unit(term.sizes[group[0]], len(group) + 1, term.dtype))
        inputs.append((axis, *group))
        bare.update({label: term.sizes[label] for label in group if label not in held})
    coefficient = term.coefficient
    for label in {label for label in term.axes if label not in held and label not in bare}:
        coefficient *= term.sizes[label]
    if bare or not operands:
        operands.append(ones(list(bare.values()), term.dtype))
        inputs.append(tuple(bare))
    return einsum(operands, inputs, output, coefficient, term.dtype)


def write_sum(terms: Sequence[Term], shape: Sequence[int], dtype: np.dtype) -> Node:
    """The sum of the terms as a node."""
    return total_of([write_term(term) for term in terms], shape, dtype)


def total_of(nodes: Sequence[Node], shape: Sequence[int], dtype: np.dtype) -> Node:
    """The sum of any number of nodes of one shape."""
    if not nodes:
        return zero(shape, dtype)
    return cast(nodes[0], dtype) if len(nodes) == 1 else add(nodes, dtype)
