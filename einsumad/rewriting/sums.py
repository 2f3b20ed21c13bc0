"""Rules for sums: dropping zeros, collecting equal terms.

Imports the graph and the working form. Invariant: the terms of a sum in normal form are different products, none of
them zero, each with its collected coefficient.
"""

from __future__ import annotations

from einsumad.graph import Add, Einsum, Node, Number, Zero, add, cast, einsum, zero
from einsumad.rewriting.rules import Context, Rule


def drop_zeros(node: Add, _: Context) -> Node | None:
    """``A + 0 = A``; a sum of one term is that term."""
    terms = [term for term in node.operands if not isinstance(term, Zero)]
    if not terms:
        return zero(node.shape, node.dtype)
    if len(terms) == 1:
        return cast(terms[0], node.dtype)
    return None if len(terms) == len(node.operands) else add(terms, node.dtype)


def collect(node: Add, _: Context) -> Node | None:
    """``a A + b A = (a + b) A``, also where the terms differ by the names of summed indices only."""
    coefficients: dict[Node, Number] = {}
    for term in node.operands:
        coefficient, body = split_coefficient(term)
        coefficients[body] = coefficients.get(body, 0) + coefficient
    if len(coefficients) == len(node.operands):
        return None
    terms = [with_coefficient(number, body) for body, number in coefficients.items() if number != 0]
    if not terms:
        return zero(node.shape, node.dtype)
    return cast(terms[0], node.dtype) if len(terms) == 1 else add(terms, node.dtype)


def split_coefficient(term: Node) -> tuple[Number, Node]:
    """The number in front of a term, and the term without it."""
    if not isinstance(term, Einsum) or term.coefficient == 1:
        return 1, term
    axes = range(len(term.shape))
    if len(term.operands) == 1 and term.inputs[0] == tuple(axes) and term.operands[0].dtype == term.dtype:
        return term.coefficient, term.operands[0]
    return term.coefficient, einsum(term.operands, term.inputs, axes, 1, term.dtype)


def with_coefficient(coefficient: Number, body: Node) -> Node:
    """The term with a number in front."""
    if coefficient == 1:
        return body
    axes = range(len(body.shape))
    if isinstance(body, Einsum):
        return einsum(body.operands, body.inputs, axes, coefficient * body.coefficient, body.dtype)
    return einsum([body], [axes], axes, coefficient)


RULES = (
    Rule("drop-zeros", Add, "A + 0 = A", "terms", drop_zeros),
    Rule("collect", Add, "a A + b A = (a + b) A", "terms", collect),
)
