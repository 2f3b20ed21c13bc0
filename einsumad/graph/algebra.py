"""Short names for expressions over one index set, in which partial derivatives and rewrites are written.

Owns nothing but spelling. Imports the constructors. Invariant: every function returns a legal node of the
operands' shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.graph.constructors import add, einsum, ones, product_dtype
from einsumad.graph.nodes import Node, Number


def multiply(*factors: Node, coefficient: Number = 1, dtype: Any = None) -> Node:
    """The entrywise product; boolean factors are masks."""
    axes = range(len(factors[0].shape))
    return einsum(factors, [axes] * len(factors), axes, coefficient, dtype)


def scale(coefficient: Number, operand: Node) -> Node:
    """`coefficient` times the operand."""
    return operand if coefficient == 1 else multiply(operand, coefficient=coefficient)


def negate(operand: Node) -> Node:
    """Minus the operand."""
    return multiply(operand, coefficient=-1)


def total(*terms: Node) -> Node:
    """The sum of the terms."""
    return terms[0] if len(terms) == 1 else add(terms)


def constant(value: Number, shape: Sequence[int], dtype: Any) -> Node:
    """The tensor of one number: a coefficient times ones."""
    axes = range(len(shape))
    return einsum([ones(shape, dtype)], [axes], axes, value)


def constant_like(value: Number, operand: Node) -> Node:
    """The tensor of one number in the operand's shape and dtype."""
    return constant(value, operand.shape, operand.dtype)


def cast(operand: Node, dtype: Any) -> Node:
    """The operand in another dtype: a product of one factor."""
    target = np.dtype(dtype)
    if operand.dtype == target:
        return operand
    axes = range(len(operand.shape))
    return einsum([operand], [axes], axes, 1, target)


def transpose(operand: Node, axes: Sequence[int]) -> Node:
    """The operand with its axes permuted: axis k of the result is axis ``axes[k]`` of the operand."""
    return einsum([operand], [range(len(operand.shape))], axes, 1, operand.dtype)


def broadcast(operand: Node, axes: Sequence[int], shape: Sequence[int]) -> Node:
    """The operand spread over `shape`: its axis k becomes axis ``axes[k]`` of the result."""
    missing = [axis for axis in range(len(shape)) if axis not in set(axes)]
    if not missing and list(axes) == sorted(axes):
        return operand
    dtype = operand.dtype
    spread = [ones((shape[axis],), dtype) for axis in missing]
    return einsum([operand, *spread], [axes, *[(axis,) for axis in missing]], range(len(shape)), 1, dtype)


def sum_axes(operand: Node, axes: Sequence[int]) -> Node:
    """The operand summed over the given axes."""
    summed = set(axes)
    kept = [axis for axis in range(len(operand.shape)) if axis not in summed]
    return einsum([operand], [range(len(operand.shape))], kept, 1, operand.dtype)


def common_dtype(*operands: Node) -> np.dtype:
    """The dtype that the operands promote to."""
    return product_dtype(operands)
