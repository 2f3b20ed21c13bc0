"""Which parameters are layers: read off the structure of the Jacobian of the outputs.

Owns that reading. Imports structured tensors. Invariant: only indices are looked at, never numbers, names or sizes.

The outputs ``z[n,k]`` of samples n have, by the weight of a linear layer wherever it is in a network, the Jacobian

    J[n,k,o,i] = B[n,k,o] a[n,i]

where a is the input of the layer, and B says how the outputs depend on its result. What says so is that the axis i of
the weight shares no index but n with the axes of the outputs, directly or through summed indices. Where no axis does,
as with a single output for each sample, the first axis is that of the result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.compressed import CompressedTensor
from einsumad.compressed.forms import position_of
from einsumad.compressed.terms import Term
from einsumad.graph import Leaf

SAMPLE = 0
"""The index of samples in all products here."""

Labels = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """``coefficient · Π arrays[labels]`` over the axes, summed over all other labels; axes that no array has spread."""

    coefficient: Any
    arrays: tuple[Any, ...]
    labels: tuple[Labels, ...]
    axes: Labels
    sizes: Mapping[int, int]

    @property
    def identity(self) -> Any:
        """What is equal for equal products: the expression, in normal form."""
        if not self.arrays:
            return self.coefficient, self.axes
        product = self.coefficient * np.einsum(*self.operands(), list(dict.fromkeys(self.axes)))
        return ea.simplify(product).node, self.axes

    def apart(self, kept: Collection[int], by: int) -> Product:
        """The same product with other labels, but for those that are kept."""

        def moved(labels: Labels) -> Labels:
            return tuple([label if label in kept else label + by for label in labels])

        sizes = {moved((label,))[0]: size for label, size in self.sizes.items()}
        return replace(self, labels=tuple(map(moved, self.labels)), axes=moved(self.axes), sizes=sizes)

    def operands(self) -> list[Any]:
        """Arrays and labels in turn, as ``einsum`` takes them, without the coefficient."""
        dtype = np.result_type(np.float32, *[array.dtype for array in self.arrays if array.dtype.kind == "f"])
        held = {label for labels in self.labels for label in labels}
        found: list[Any] = []
        for array, labels in zip(self.arrays, self.labels, strict=True):
            found += [array.astype(dtype) if array.dtype.kind == "b" else array, list(labels)]
        for label in sorted(set(self.axes) - held):
            found += [np.ones(self.sizes[label], dtype), [label]]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """The Jacobian of a parameter as the sum of `outer` products, each times the product `inner` of the input.

    `outer` have the axes (samples, other axes of the outputs, axes of the result), `inner` (samples, axes of the
    input). `result` and `input` are the axes of the parameter by position, `rows` the number of axes of the outputs.
    """

    outer: tuple[Product, ...]
    inner: Product
    result: Labels
    input: Labels
    rows: int

    @property
    def identity(self) -> tuple[Any, ...]:
        """What is equal for parameters whose results go the same ways to the outputs, as a weight and its bias."""
        return tuple([part.identity for part in self.outer])


def layer_of(jacobian: CompressedTensor) -> Layer | None:
    """The Jacobian of a parameter, with traced arrays, as that of a layer; None where it is another one."""
    form = jacobian.held.form
    if not form.rows or not form.terms:
        return None
    found: list[Layer] = []
    for term in form.terms:
        layer = _layer_of_term(term, form.rows, jacobian.held.arrays)
        if layer is None:
            return None
        found.append(layer)
    first = found[0]
    shared = (first.inner.identity, first.result)
    if any((layer.inner.identity, layer.result) != shared for layer in found):
        return None
    return replace(first, outer=tuple([layer.outer[0] for layer in found]))


def _layer_of_term(term: Term, rows: int, arrays: Sequence[Any]) -> Layer | None:
    """The layer of a single term, with one outer product."""
    sample, others, columns = term.axes[0], term.axes[1:rows], term.axes[rows:]
    distinct = all(len(set(labels)) == len(labels) for labels in (others, columns))
    if term.maps or not distinct or sample in (*others, *columns):
        return None
    factors = [labels for _, labels in term.factors]
    reached = _connected(others, factors, sample)
    if columns and not reached.intersection(columns):  # as with one output: either part may be that of the result
        reached |= _connected(columns[:1], factors, sample)
    held = {label for labels in factors for label in labels}
    reached |= {label for label in columns if label not in held and term.sizes[label] == 1}
    result = tuple([axis for axis, label in enumerate(columns) if label in reached])
    beside = tuple([axis for axis, label in enumerate(columns) if label not in reached])
    inside = _connected([columns[axis] for axis in beside], factors, sample)
    parts: dict[bool, list[tuple[Any, Labels]]] = {True: [], False: []}
    for slot, labels in term.factors:
        if isinstance(slot, Leaf):
            parts[bool(inside.intersection(labels))].append((arrays[position_of(slot)], labels))
    outer = (sample, *others, *[columns[axis] for axis in result])
    inner = (sample, *[columns[axis] for axis in beside])
    return Layer(
        (_product(term.coefficient, parts[False], outer, term.sizes),),
        _product(1, parts[True], inner, term.sizes),
        result,
        beside,
        rows,
    )


def _connected(labels: Collection[int], factors: Sequence[Labels], apart: int) -> set[int]:
    """The labels that factors lead to from these, other than by the one that is left apart."""
    found = set(labels)
    grown = True
    while grown:
        meeting = [set(held) - {apart} for held in factors if found.intersection(held)]
        grown = not all(held <= found for held in meeting)
        found.update(*meeting)
    return found


def _product(
    coefficient: Any, factors: Sequence[tuple[Any, Labels]], axes: Labels, sizes: Mapping[int, int]
) -> Product:
    """The product with its labels numbered by the axes, and then as they come."""
    order = dict.fromkeys([*axes, *[label for _, labels in factors for label in labels]])
    number = {label: place for place, label in enumerate(order)}
    return Product(
        coefficient,
        tuple([array for array, _ in factors]),
        tuple([tuple([number[label] for label in labels]) for _, labels in factors]),
        tuple([number[label] for label in axes]),
        {number[label]: sizes[label] for label in order},
    )
