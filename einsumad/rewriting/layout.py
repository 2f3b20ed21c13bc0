"""Rules that keep functions from being computed on copies.

Imports the graph and the catalogue. Invariant: a function of one operand is applied before the operand is permuted or
spread over further axes, not after.
"""

from __future__ import annotations

from einsumad.functions import apply
from einsumad.graph import Einsum, Elementwise, Node, Ones, einsum, ones
from einsumad.rewriting.rules import Context, Rule


def apply_before_layout(node: Elementwise, _: Context) -> Node | None:
    """``f(A[i] 1[j]) = f(A[i]) 1[j]``, and the same for permuted axes."""
    if len(node.operands) != 1 or not isinstance(node.operands[0], Einsum):
        return None
    layout = node.operands[0]
    rank = len(layout.shape)
    cores = [k for k, operand in enumerate(layout.operands) if not isinstance(operand, Ones)]
    if layout.coefficient != 1 or len(cores) != 1:
        return None
    core, labels = layout.operands[cores[0]], layout.inputs[cores[0]]
    plain = len(set(labels)) == len(labels) and all(label < rank for label in labels)
    if not plain or core.dtype != layout.dtype or not (len(layout.operands) > 1 or labels != tuple(range(rank))):
        return None
    inner = apply(node.function, core, params=node.params)
    if inner.dtype != node.dtype:
        return None
    bare = [axis for axis in range(rank) if axis not in labels]
    spread = ([ones([node.shape[axis] for axis in bare], node.dtype)], [bare]) if bare else ([], [])
    return einsum([inner, *spread[0]], [labels, *spread[1]], range(rank), 1, node.dtype)


RULES = (
    Rule("apply-before-layout", Elementwise, "f(A[i] 1[j]) = f(A[i]) 1[j]", "entries", apply_before_layout),
)
