"""The local Jacobian of every node kind: all the derivative knowledge there is.

Owns the rules. Imports the graph and the catalogue. Invariant: a local Jacobian is a tuple of terms of shape
``node.shape + operand.shape`` whose sum is the derivative of the node with respect to one operand slot; modes carry no
rules of their own. What has no rule raises; it never contributes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from einsumad.errors import DifferentiationError
from einsumad.functions import general_function, partial_of
from einsumad.graph import Add, Einsum, Elementwise, General, Node, Number, Zero, einsum, ones, unit


class Factors(NamedTuple):
    """A product that is no node yet, with the labels of its axes: what is multiplied with it takes in its factors."""

    operands: Sequence[Node]
    inputs: Sequence[Sequence[int]]
    output: Sequence[int]
    coefficient: Number
    dtype: np.dtype

    def node(self) -> Node:
        """The product."""
        return einsum(self.operands, self.inputs, self.output, self.coefficient, self.dtype)


Term: TypeAlias = Node | Factors


def as_node(term: Term) -> Node:
    """The term as a node, whether it is one already or not."""
    return term.node() if isinstance(term, Factors) else term


def is_active(node: Node) -> bool:
    """Whether derivatives flow through the node: integers and booleans are locally constant."""
    return node.dtype.kind == "f"


def flows(node: Node, position: int) -> bool:
    """Whether the derivative in that operand is more than a structural zero; so it counts where there is no rule."""
    try:
        if isinstance(node, Einsum | Add):
            return True
        if isinstance(node, Elementwise):
            return partial_of(node, position) is not None
        return any(not isinstance(term, Zero) for term in local_jacobian(node, position))
    except DifferentiationError:
        return True


def local_jacobian(node: Node, position: int) -> tuple[Node, ...]:
    """Terms of the derivative of `node` with respect to its operand at `position`; no terms where it is zero."""
    return tuple([as_node(term) for term in local_terms(node, position)])


def local_terms(node: Node, position: int) -> tuple[Term, ...]:
    """The same terms, products as their factors."""
    match node:
        case Einsum():
            return (_product_rule(node, position),)
        case Add():
            return (identity(node.shape, node.dtype),)
        case Elementwise():
            return _elementwise_rule(node, position)
        case General():
            return general_function(node.function).jacobian(node, position)
    raise DifferentiationError(f"no derivative rule for a node of kind {type(node).__name__}")


@lru_cache(maxsize=512)
def identity(shape: tuple[int, ...], dtype: np.dtype) -> Node:
    """The derivative of a tensor with respect to itself: one delta for each axis."""
    rank = len(shape)
    if not rank:
        return einsum([ones((), dtype)], [()], ())
    deltas = _deltas(shape, dtype)
    return einsum(deltas, [(axis, rank + axis) for axis in range(rank)], range(2 * rank))


@lru_cache(maxsize=512)
def _deltas(shape: tuple[int, ...], dtype: np.dtype) -> tuple[Node, ...]:
    """A delta for each axis."""
    return tuple([unit(size, 2, dtype) for size in shape])


def _product_rule(node: Einsum, position: int) -> Factors:
    """``d C[s3] / d A[s1'] = prod of the other operands * prod over l in s1 of delta(l, l')``.

    Laue, Mitterreiter, Giesen (AAAI 2020), theorems 2 and 5, with the chain rule left out. A summed label is renamed
    instead of tied by a delta; where no other operand holds it, it comes back as ones; a label repeated inside the
    operand comes back as a delta over its places.
    """
    rank = len(node.shape)
    operands = [operand for k, operand in enumerate(node.operands) if k != position]
    inputs = [list(labels) for k, labels in enumerate(node.inputs) if k != position]
    own = node.inputs[position]
    fresh_start = 1 + max([rank, *(label for labels in node.inputs for label in labels)])
    primed = list(range(fresh_start, fresh_start + len(own)))
    for label in dict.fromkeys(own):
        places = [primed[axis] for axis, held in enumerate(own) if held == label]
        size = node.operands[position].shape[own.index(label)]
        if label >= rank:
            inputs = [[places[0] if held == label else held for held in labels] for labels in inputs]
            if not any(places[0] in labels for labels in inputs):
                operands.append(ones((size,), node.dtype))
                inputs.append([places[0]])
        else:
            places = [label, *places]
        if len(places) > 1:
            operands.append(unit(size, len(places), node.dtype))
            inputs.append(places)
    if all(operand.dtype != node.dtype for operand in operands):
        operands.append(ones((), node.dtype))
        inputs.append([])
    return Factors(operands, inputs, [*range(rank), *primed], node.coefficient, node.dtype)


def _elementwise_rule(node: Elementwise, position: int) -> tuple[Factors, ...]:
    """``d f(A)[s1] / d A[s1'] = f'(A)[s1] * delta(s1, s1')`` (ibid., theorems 3 and 6 for functions of one operand)."""
    partial = partial_of(node, position)
    if partial is None:
        return ()
    rank = len(node.shape)
    deltas = _deltas(node.shape, node.dtype)
    labels = [(axis, rank + axis) for axis in range(rank)]
    return (Factors([partial, *deltas], [range(rank), *labels], range(2 * rank), 1, node.dtype),)
