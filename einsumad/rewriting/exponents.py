"""Products with exponentials, read as exponents and what they are multiplied by.

Imports the graph and the catalogue. Invariant: what is read multiplies to the product; products inside of it that hold
an exponential are opened for reading, shared or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from einsumad.graph import (
    Einsum,
    Elementwise,
    Labels,
    Node,
    Number,
    Ones,
    Structural,
    cast,
    einsum,
    ones,
    total,
    zero,
)
from einsumad.records import record
from einsumad.rewriting.flatten import inline
from einsumad.rewriting.product import Product, is_mask, open_product
from einsumad.rewriting.recognise import function_of, number_of

Placed: TypeAlias = tuple[Node, Labels]
_DEEPEST = 3


@record
class Term:
    """An exponential in a sum: its exponent and its weights; labels below the rank of the sum are axes of it."""

    exponent: Node
    labels: Labels
    weights: tuple[Placed, ...]


def opened(node: Einsum) -> Einsum:
    """The product with the products inside it opened that hold an exponential, shared or not."""
    for _ in range(_DEEPEST):
        positions = [
            k
            for k, operand in enumerate(node.operands)
            if isinstance(operand, Einsum) and operand.dtype == node.dtype and holds_exponential(operand)
        ]
        if not positions:
            break
        following = inline(node, positions)
        assert isinstance(following, Einsum)
        node = following
    return node


def holds_exponential(node: Einsum) -> bool:
    """Whether a factor is an exponential."""
    return any(function_of(operand, "exp") is not None for operand in node.operands)


def exponents_in(node: Einsum) -> tuple[list[Placed], list[Placed]]:
    """The exponents of the exponentials among the factors, and the other factors."""
    exponents: list[Placed] = []
    others: list[Placed] = []
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        exponent = function_of(operand, "exp") if operand.dtype == node.dtype else None
        if exponent is not None:
            exponents.append((exponent, labels))
        elif is_weighted(operand) and operand.dtype == node.dtype:
            weight, exponent = operand.operands
            exponents.append((exponent, labels))
            others.append((weight, labels))
        else:
            others.append((operand, labels))
    return exponents, others


def is_weighted(node: Node) -> bool:
    """Whether the node is an exponential with its weight, as it stands in a sum whose level was taken out."""
    return isinstance(node, Elementwise) and node.function == "weighted_exp"


def over(own: Labels, sizes: dict[int, int], factors: Iterable[Placed], like: Node) -> Node:
    """The product of the factors over these labels; others are summed."""
    held = list(factors)
    missing = [label for label in own if label not in set(chain(*[labels for _, labels in held]))]
    if missing:
        held.append((ones([sizes[label] for label in missing], like.dtype), tuple(missing)))
    (first, labels), *rest = held
    if not rest and labels == own:
        return cast(first, like.dtype)
    return einsum([operand for operand, _ in held], [labels for _, labels in held], own, 1, like.dtype)


def weight_of(weights: Sequence[Placed], number: Number, like: Node) -> Node:
    """The product of a number and the weights over the axes of another node."""
    product = Product(number, [], [], len(like.shape), like.shape, like.dtype)
    for operand, labels in weights:
        product.append(operand, labels)
    return product.build()


def split(term: Node) -> tuple[Number, list[Placed], Node] | None:
    """Number, weights and exponent of a term without sums over its exponentials; a number has exponent 0."""
    number = number_of(term)
    if number is not None:
        return number, [], zero(term.shape, term.dtype)
    exponent = function_of(term, "exp")
    if exponent is not None:
        return 1, [], exponent
    if not isinstance(term, Einsum):
        return None
    term = opened(term)
    rank = len(term.shape)
    exponents, weights = exponents_in(term)
    if not exponents or any(label >= rank for _, labels in exponents for label in labels):
        return None
    if any(len(set(labels)) < len(labels) for _, labels in exponents):
        return None
    if any(is_mask(operand, term.dtype) for operand, _ in weights):
        return None
    if any(isinstance(operand, Structural) and not isinstance(operand, Ones) for operand, _ in weights):
        return None
    sizes = open_product(term).sizes()
    spread = [over(tuple(range(rank)), sizes, [placed], term) for placed in exponents]
    return term.coefficient, weights, total(*spread)
