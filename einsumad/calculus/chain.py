"""The chain rule: the product of two Jacobians over the axes between them.

Owns that product. Imports the graph. Invariant: the result has the leading axes of the left factor and the trailing
axes of the right one, in order.
"""

from __future__ import annotations

from einsumad.calculus.local import Factors, Term, identity
from einsumad.graph import Einsum, Labels, Node, add, cast, einsum, product_dtype


def chain(left: Node, right: Node, middle: int) -> Node:
    """``sum over m of left[a, m] * right[m, b]`` over `middle` axes m."""
    return chained(left, right, middle).node()


def chained(left: Node, right: Node, middle: int) -> Factors:
    """The same as a product that is no node yet."""
    lead, trail = len(left.shape) - middle, len(right.shape) - middle
    outer, shared = range(lead + trail), range(lead + trail, lead + trail + middle)
    inputs = [(*outer[:lead], *shared), (*shared, *outer[lead:])]
    return Factors([left, right], inputs, outer, 1, product_dtype([left, right]))


def through(term: Term, other: Node, middle: int, *, first: bool) -> Node:
    """The chain of a term of a local Jacobian and another one, of which the term is the `first` or the second.

    (Laue, Mitterreiter, Giesen, AAAI 2020, section 3.) The factors of the term join the product, which keeps their
    deltas resolvable by renaming; the other one stays one operand, so the work for each step does not grow with the
    chain.
    """
    if isinstance(term, Node):
        if term is identity(term.shape[:middle], term.dtype):
            return cast(other, product_dtype([term, other]))
        if not isinstance(term, Einsum):
            return chain(term, other, middle) if first else chain(other, term, middle)
        term = Factors(term.operands, term.inputs, range(len(term.shape)), term.coefficient, term.dtype)
    rank = len(term.output) + len(other.shape) - 2 * middle
    outer, shared = range(rank), range(rank, rank + middle)
    lead = (len(term.output) if first else len(other.shape)) - middle
    before, after = [*outer[:lead], *shared], [*shared, *outer[lead:]]
    names = dict(zip(term.output, before if first else after, strict=True))
    next_label = rank + middle
    inputs: list[Labels] = []
    for labels in term.inputs:
        for label in labels:
            if label not in names:
                names[label] = next_label
                next_label += 1
        inputs.append(tuple([names[label] for label in labels]))
    return einsum([*term.operands, other], [*inputs, after if first else before], outer, term.coefficient)


def accumulate(terms: list[Node]) -> Node:
    """The sum of one or more contributions to the same derivative."""
    return terms[0] if len(terms) == 1 else add(terms)
