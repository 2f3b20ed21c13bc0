"""Shares of a sum of exponentials: softmax, and responsibilities, which are softmax with weights.

Imports the graph and the catalogue. Invariant: numerator and denominator are divided by the exponential of one level,
so that the quotient is the same whatever signs the weights have.
"""

from __future__ import annotations

from itertools import chain

from einsumad.functions import apply
from einsumad.graph import Einsum, Labels, Node, negate, total
from einsumad.rewriting.exponentials import Scaled, scaled
from einsumad.rewriting.exponents import Term, opened, over
from einsumad.rewriting.product import open_product
from einsumad.rewriting.recognise import function_of
from einsumad.rewriting.rules import Context, Rule


def normalised_exponential(node: Einsum, _: Context) -> Node | None:
    """``w exp z / Σ w exp z = w exp(z - m) / Σ w exp(z - m)``, and ``exp(z - logsumexp z)`` without weights."""
    dividing = [k for k, operand in enumerate(node.operands) if function_of(operand, "reciprocal") is not None]
    if not dividing:
        return None
    node = opened(node)
    if not any(function_of(operand, "exp") is not None for operand in node.operands):
        return None
    for k, operand in enumerate(node.operands):
        denominator = function_of(operand, "reciprocal")
        found = scaled(denominator) if denominator is not None and operand.dtype == node.dtype else None
        if found is None or denominator is None:
            continue
        for term in found.terms:
            new = _divided(node, k, len(denominator.shape), found, term)
            if new is not None:
                return new
    return None


def _divided(node: Einsum, k: int, rank: int, found: Scaled, term: Term) -> Node | None:
    """The product with a term of the sum that it is divided by, both with the level of the sum taken out."""
    below = node.inputs[k]
    for j, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
        names = dict(enumerate(below))
        if function_of(operand, "exp") is not term.exponent or not _is_placed(term.labels, labels, names, rank):
            continue
        work = open_product(node)
        taken = _weights_in(node, term, names)
        weights = [(node.operands[i], node.inputs[i]) for i in taken]
        axes = tuple(sorted({*labels, *below, *chain(*[own for _, own in weights])}))
        sizes = work.sizes()
        level = over(axes, sizes, [(found.level, below)], node)
        exponent = total(over(axes, sizes, [(term.exponent, labels)], node), negate(level))
        new = apply("weighted_exp", over(axes, sizes, weights, node), exponent) if weights else apply("exp", exponent)
        work.append(new, axes)
        if found.factor is not None:
            work.append(apply("reciprocal", found.factor), below)
        work.drop([k, j, *taken])
        return work.build()
    return None


def _is_placed(own: Labels, labels: Labels, names: dict[int, int], rank: int) -> bool:
    """Whether the labels of a term in the sum may be called so in the product; what is summed there has any name."""
    for mine, here in zip(own, labels, strict=True):
        if names.setdefault(mine, here) != here:
            return False
    free = [names[mine] for mine in set(own) if mine >= rank]
    return len(set(free)) == len(free)


def _weights_in(node: Einsum, term: Term, names: dict[int, int]) -> list[int]:
    """Where the weights of a term stand in the product: all of them, or none."""
    taken: list[int] = []
    for weight, own in term.weights:
        if any(label not in names for label in own):
            return []
        placed = tuple([names[label] for label in own])
        for i, (operand, labels) in enumerate(zip(node.operands, node.inputs, strict=True)):
            if operand is weight and labels == placed and i not in taken:
                taken.append(i)
                break
        else:
            return []
    return taken


RULES = (
    Rule(
        "normalised-exponential",
        Einsum,
        "w exp z / Σ w exp z = w exp(z - m) / Σ w exp(z - m)",
        "sums of exponentials",
        normalised_exponential,
        frozenset(["exp", Einsum]),
    ),
)
