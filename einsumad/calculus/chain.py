"""The chain rule: the product of two Jacobians over the axes between them.

Owns that product. Imports the graph. Invariant: the result has the leading axes of the left factor and the trailing
axes of the right one, in order.
"""

from __future__ import annotations

from einsumad.calculus.local import identity
from einsumad.graph import Einsum, Labels, Node, add, cast, einsum, product_dtype


def chain(left: Node, right: Node, middle: int, inline: Node | None = None) -> Node:
    """``sum over m of left[a, m] * right[m, b]`` over `middle` axes m; the factors of `inline` join the product.

    (Laue, Mitterreiter, Giesen, AAAI 2020, section 3.) Joining the factors of a local Jacobian keeps its deltas
    resolvable by renaming; the other factor stays one operand, so the work for each step does not grow with the chain.
    """
    if inline is not None and inline is identity(inline.shape[:middle], inline.dtype):
        return cast(right if inline is left else left, product_dtype([left, right]))
    lead, trail = len(left.shape) - middle, len(right.shape) - middle
    outer = list(range(lead + trail))
    shared = list(range(lead + trail, lead + trail + middle))
    next_label = lead + trail + middle
    operands: list[Node] = []
    inputs: list[Labels] = []
    coefficient: int | float = 1
    for factor, axes in ((left, outer[:lead] + shared), (right, shared + outer[lead:])):
        if factor is inline and isinstance(factor, Einsum):
            coefficient = coefficient * factor.coefficient
            names = dict(enumerate(axes))
            for operand, labels in zip(factor.operands, factor.inputs, strict=True):
                for label in labels:
                    if label not in names:
                        names[label] = next_label
                        next_label += 1
                operands.append(operand)
                inputs.append(tuple([names[label] for label in labels]))
        else:
            operands.append(factor)
            inputs.append(tuple(axes))
    return einsum(operands, inputs, outer, coefficient)


def accumulate(terms: list[Node]) -> Node:
    """The sum of one or more contributions to the same derivative."""
    return terms[0] if len(terms) == 1 else add(terms)
