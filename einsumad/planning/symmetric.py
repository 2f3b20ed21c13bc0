"""Products of two tensors whose result is a symmetric matrix, such as ``Xᵀ diag(w) X``.

Owns how they are recognised. Imports the graph and the primitives. Invariant: the result equals its transpose whatever
the numbers are, by the product's own operands.
"""

from __future__ import annotations

from math import prod

from einsumad.graph import Einsum, Node, einsum
from einsumad.planning.primitives import kind_of
from einsumad.rewriting import inline

_SMALLEST = 128
"""Rows from which half of a product costs less than the calls for its parts."""
_LEAST_WORK = 2**22
"""Multiplications from which that is so."""


def is_symmetric_product(node: Node) -> bool:
    """Whether a contraction gives a large symmetric matrix: with its two axes exchanged it is the same product."""
    if not isinstance(node, Einsum) or len(node.shape) != 2 or node.shape[0] != node.shape[1]:
        return False
    rows = node.shape[0]
    if rows < _SMALLEST or rows * prod(node.operands[0].shape) < _LEAST_WORK:
        return False
    groups = [
        k
        for k, operand in enumerate(node.operands)
        if isinstance(operand, Einsum) and operand.dtype == node.dtype and kind_of(operand) == "group"
    ]
    flat = inline(node, groups)
    if not isinstance(flat, Einsum):
        return False
    return einsum(flat.operands, flat.inputs, (1, 0), flat.coefficient, flat.dtype) is flat
