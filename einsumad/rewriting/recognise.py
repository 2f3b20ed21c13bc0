"""Questions that rules ask of one node: which function it is, whether it is one, which number stands in front.

Imports the graph. Invariant: an answer depends on the node and its operands alone.
"""

from __future__ import annotations

from einsumad.graph import Add, Einsum, Elementwise, Node, Number, Ones, einsum


def function_of(node: Node, name: str) -> Node | None:
    """The operand of a one-operand catalogue function of this name, or None."""
    if isinstance(node, Elementwise) and node.function == name:
        return node.operands[0]
    return None


def number_of(node: Node) -> Number | None:
    """The number that the node is everywhere."""
    if isinstance(node, Ones):
        return 1
    if isinstance(node, Einsum) and all(isinstance(operand, Ones) for operand in node.operands):
        rank = len(node.shape)
        return node.coefficient if all(label < rank for labels in node.inputs for label in labels) else None
    return None


def is_one(node: Node) -> bool:
    """Whether the node is the tensor of ones."""
    return number_of(node) == 1


def plus(node: Node, number: Number) -> Node | None:
    """The other term of a sum of this number and one term."""
    if isinstance(node, Add) and len(node.operands) == 2:
        first, second = node.operands
        if number_of(first) == number:
            return second
        if number_of(second) == number:
            return first
    return None


def without_number(node: Node) -> tuple[Number, Node]:
    """The number in front of a product, and what is left of the product."""
    if not isinstance(node, Einsum) or node.coefficient in (0, 1):
        return 1, node
    axes = tuple(range(len(node.shape)))
    if node.inputs == (axes,) and node.dtype == node.operands[0].dtype:
        return node.coefficient, node.operands[0]
    return node.coefficient, einsum(node.operands, node.inputs, axes, 1, node.dtype)
