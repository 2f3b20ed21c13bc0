"""Products of two tensors whose result is a symmetric matrix, such as ``Xᵀ diag(w) X``.

Owns how they are recognised, and their form for BLAS. Imports the graph, the catalogue and the primitives. Invariant:
the result equals its transpose whatever the numbers are, by the product's own operands.

A matrix times its own transpose is a rank-k update in BLAS (SYRK): half the work, in one call. With weights that are
never negative the product is one, ``Sᵀ S`` with ``S = diag(√w) X``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeGuard

from einsumad.functions import apply, is_never_negative
from einsumad.graph import Einsum, Labels, Node, count_users, einsum, rebuild, topological
from einsumad.planning.primitives import Factor, group, is_mask, kind_of
from einsumad.rewriting import inline

_SMALLEST = 128
"""Rows from which half of a product costs less than the calls for its parts."""
_LEAST_WORK = 2**22
"""Multiplications from which that is so."""


def is_symmetric_product(node: Node) -> TypeGuard[Einsum]:
    """Whether a contraction gives a large symmetric matrix: with its two axes exchanged it is the same product."""
    if not isinstance(node, Einsum) or len(node.shape) != 2 or node.shape[0] != node.shape[1]:
        return False
    rows = node.shape[0]
    if rows < _SMALLEST or rows * max([prod(operand.shape) for operand in node.operands]) < _LEAST_WORK:
        return False
    products = [
        k
        for k, operand in enumerate(node.operands)
        if isinstance(operand, Einsum) and operand.dtype == node.dtype and kind_of(operand) == "group"
    ]
    flat = inline(node, products)
    if not isinstance(flat, Einsum):
        return False
    return einsum(flat.operands, flat.inputs, (1, 0), flat.coefficient, flat.dtype) is flat


def with_rooted_weights(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The roots, where symmetric products with weights that are never negative are of one matrix with itself."""
    order = topological(roots)
    symmetric = {node for node in order if is_symmetric_product(node) and kind_of(node) == "contract"}
    if not symmetric:
        return tuple(roots)
    users = count_users(roots)
    memo: dict[Node, Node] = {}
    for node in order:
        found = node
        if isinstance(node, Einsum) and node in symmetric:
            for k, operand in enumerate(node.operands):
                if users[operand] == 1 and isinstance(operand, Einsum) and kind_of(operand) == "group":
                    found = _rooted(node, operand, k) or found
        for new in topological([found], memo.keys()):
            if new not in memo:
                memo[new] = rebuild(new, [memo[operand] for operand in new.operands])
        memo[node] = memo[found]
    return tuple([memo[root] for root in roots])


def _rooted(node: Einsum, weighted: Einsum, position: int) -> Node | None:
    """The product with the root of the weights in both factors, if this one is the other one times such weights."""
    turned: Labels = tuple([{0: 1, 1: 0}.get(label, label) for label in node.inputs[1 - position]])
    labels = node.inputs[position]
    places = [tuple([labels[axis] for axis in held]) for held in weighted.inputs]
    other = node.operands[1 - position]
    matrix = next((k for k, o in enumerate(weighted.operands) if o is other and places[k] == turned), None)
    weights = [k for k, o in enumerate(weighted.operands) if k != matrix and not is_mask(o)]
    if matrix is None or not weights or any(label < len(node.shape) for k in weights for label in places[k]):
        return None
    held = tuple(sorted({axis for k in weights for axis in weighted.inputs[k]}))
    factors = [Factor(weighted.operands[k], weighted.inputs[k]) for k in weights]
    product = group(factors, [], held, node.dtype).node
    if not is_never_negative(product):
        return None
    rest = [k for k in range(len(weighted.operands)) if k not in weights]
    operands = [apply("sqrt", product), *[weighted.operands[k] for k in rest]]
    inputs = [held, *[weighted.inputs[k] for k in rest]]
    factor = einsum(operands, inputs, range(len(weighted.shape)), 1, node.dtype)
    swapped = tuple([{0: 1, 1: 0}.get(label, label) for label in labels])
    pair = (labels, swapped) if position == 0 else (swapped, labels)
    return einsum([factor, factor], pair, (0, 1), 1, node.dtype)
