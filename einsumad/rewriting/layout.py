"""Rules that keep functions and sums from being computed on copies.

Imports the graph and the catalogue. Invariant: functions and sums are applied before their operands are spread over
further axes or permuted, not after.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.functions import apply
from einsumad.graph import Add, Einsum, Elementwise, Node, Ones, Zero, add, einsum, ones, zero
from einsumad.rewriting.rules import Context, Rule


def bare_axes(node: Node) -> frozenset[int]:
    """The axes along which the node is constant because nothing but ones covers them, or it is zero."""
    if isinstance(node, (Ones, Zero)):
        return frozenset(range(len(node.shape)))
    if not isinstance(node, Einsum):
        return frozenset()
    spread = [k for k, operand in enumerate(node.operands) if isinstance(operand, Ones)]
    if not spread:
        return frozenset()
    covered = {label for k, labels in enumerate(node.inputs) if k not in spread for label in labels}
    return frozenset(range(len(node.shape))) - covered


def without_axes(node: Node, axes: frozenset[int]) -> Node:
    """The node without some of its bare axes."""
    kept = [axis for axis in range(len(node.shape)) if axis not in axes]
    if not isinstance(node, Einsum):
        return (zero if isinstance(node, Zero) else ones)([node.shape[axis] for axis in kept], node.dtype)
    operands: list[Node] = [ones((), node.dtype)]
    inputs: list[Sequence[int]] = [()]
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        if isinstance(operand, Ones):
            held = [k for k, label in enumerate(labels) if label not in axes]
            operands.append(ones([operand.shape[k] for k in held], node.dtype))
            inputs.append([labels[k] for k in held])
        else:
            operands.append(operand)
            inputs.append(labels)
    return einsum(operands, inputs, kept, node.coefficient, node.dtype)


def _spread_again(inner: Node, node: Node, axes: frozenset[int]) -> Node:
    kept = [axis for axis in range(len(node.shape)) if axis not in axes]
    bare = sorted(axes)
    spread = ones([node.shape[axis] for axis in bare], node.dtype)
    return einsum([inner, spread], [kept, bare], range(len(node.shape)), 1, node.dtype)


def apply_before_spreading(node: Elementwise, _: Context) -> Node | None:
    """``f(A[i] 1[j], B[i] 1[j]) = f(A[i], B[i]) 1[j]``."""
    axes = frozenset.intersection(*[bare_axes(operand) for operand in node.operands])
    if not axes:
        return None
    inner = apply(node.function, *[without_axes(operand, axes) for operand in node.operands], params=node.params)
    return _spread_again(inner, node, axes) if inner.dtype == node.dtype else None


def add_before_spreading(node: Add, _: Context) -> Node | None:
    """``A[i] 1[j] + B[i] 1[j] = (A[i] + B[i]) 1[j]``."""
    axes = frozenset.intersection(*[bare_axes(operand) for operand in node.operands])
    if not axes:
        return None
    return _spread_again(add([without_axes(operand, axes) for operand in node.operands], node.dtype), node, axes)


def apply_before_permuting(node: Elementwise, _: Context) -> Node | None:
    """``f(A[j,i])[i,j] = f(A)[j,i]`` for functions of one operand."""
    if len(node.operands) != 1 or not isinstance(node.operands[0], Einsum):
        return None
    layout = node.operands[0]
    if layout.coefficient != 1 or len(layout.operands) != 1:
        return None
    (core,), (labels,) = layout.operands, layout.inputs
    if sorted(labels) != list(range(len(node.shape))) or core.dtype != layout.dtype or isinstance(core, Ones):
        return None
    inner = apply(node.function, core, params=node.params)
    return einsum([inner], [labels], range(len(node.shape)), 1, node.dtype) if inner.dtype == node.dtype else None


RULES_FOR_FUNCTIONS = (
    Rule(
        "apply-before-spreading",
        Elementwise,
        "f(A[i] 1[j]) = f(A[i]) 1[j]",
        "entries of operands",
        apply_before_spreading,
    ),
    Rule(
        "apply-before-permuting",
        Elementwise,
        "f(A[j,i]) = f(A)[j,i]",
        "permutations below functions",
        apply_before_permuting,
    ),
)
RULES_FOR_SUMS = (
    Rule(
        "add-before-spreading",
        Add,
        "A[i] 1[j] + B[i] 1[j] = (A[i] + B[i]) 1[j]",
        "entries of operands",
        add_before_spreading,
    ),
)
