"""Rules for sums: dropping zeros, collecting equal terms.

Imports the graph and the working form. Invariant: the terms of a sum in normal form are different products, none of
them zero, each with its collected coefficient, as far as that is of moderate size.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from einsumad.graph import Add, Einsum, Labels, Node, Number, Zero, add, cast, einsum, zero
from einsumad.rewriting.product import is_moderate
from einsumad.rewriting.rules import Context, Rule

Body: TypeAlias = tuple[tuple[Node, ...], tuple[Labels, ...], Any]
"""Operands, labels and dtype of a product without its number."""


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
    coefficients: dict[Body, Number] = {}
    for term in node.operands:
        coefficient, body = split_coefficient(term)
        coefficients[body] = coefficients.get(body, 0) + coefficient
    if len(coefficients) == len(node.operands):
        return None
    if not all(number == 0 or is_moderate(number, node.dtype) for number in coefficients.values()):
        return _count(node)
    terms = [with_coefficient(number, body, node) for body, number in coefficients.items() if number != 0]
    if not terms:
        return zero(node.shape, node.dtype)
    return cast(terms[0], node.dtype) if len(terms) == 1 else add(terms, node.dtype)


def _count(node: Add) -> Node | None:
    """``a A + a A = 2 (a A)`` where the number a is too large to be collected."""
    counts = Counter(node.operands)
    if len(counts) == len(node.operands):
        return None
    axes = range(len(node.shape))
    terms = [term if n == 1 else einsum([term], [axes], axes, n, term.dtype) for term, n in counts.items()]
    return cast(terms[0], node.dtype) if len(terms) == 1 else add(terms, node.dtype)


def split_coefficient(term: Node) -> tuple[Number, Body]:
    """The number in front of a term, and the product behind it; a term that is none is a product of itself."""
    if isinstance(term, Einsum):
        return term.coefficient, (term.operands, term.inputs, term.dtype)
    return 1, ((term,), (tuple(range(len(term.shape))),), term.dtype)


def with_coefficient(coefficient: Number, body: Body, like: Node) -> Node:
    """The product with a number in front, over the axes of `like`."""
    (first, *others), inputs, dtype = body
    axes = tuple(range(len(like.shape)))
    if coefficient == 1 and not others and inputs == (axes,) and first.dtype == dtype:
        return first
    return einsum(body[0], inputs, axes, coefficient, dtype)


RULES = (
    Rule("drop-zeros", Add, "A + 0 = A", "terms", drop_zeros),
    Rule("collect", Add, "a A + b A = (a + b) A", "terms", collect),
)
