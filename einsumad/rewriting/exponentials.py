"""Sums of exponentials, with any weights, and the level that is taken out of them before they are formed.

Imports the graph and the catalogue. Invariant: ``S = exp(m) P`` with m and P as :func:`scaled` gives them, where P is
formed of exponentials that do not overflow; a term of weight 0 counts for nothing in m, an exponent that is not a
number makes m one that is not. P never holds the function exp, so that no rule takes it apart again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from math import log, prod

from einsumad.functions import apply, call
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Elementwise,
    Labels,
    Node,
    Number,
    Ones,
    Structural,
    add,
    broadcast,
    cast,
    constant_like,
    einsum,
    multiply,
    negate,
    ones,
    sum_axes,
    total,
    transpose,
    zero,
)
from einsumad.rewriting.flatten import inline
from einsumad.rewriting.product import Product, is_mask, open_product
from einsumad.rewriting.recognise import function_of, number_of
from einsumad.rewriting.spectral import exponent_of_sum

Placed = tuple[Node, Labels]
_DEEPEST = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Term:
    """An exponential in a sum: its exponent, and what it is multiplied by; labels below the rank are axes of the sum."""

    exponent: Node
    labels: Labels
    weights: tuple[Placed, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scaled:
    """``exp(level) * factor`` for a sum, both in its shape; no factor is one. `terms` are those with one exponential."""

    level: Node
    factor: Node | None
    terms: tuple[Term, ...]


def scaled(node: Node) -> Scaled | None:
    """The sum of exponentials that the node is, with its level taken out; None if it is no such sum."""
    if node.dtype.kind != "f" or node.dtype.itemsize < 4:
        return None
    of_eigenvalues = exponent_of_sum(node)
    if of_eigenvalues is not None:
        labels = tuple(range(len(of_eigenvalues.shape)))
        level = log_sum_exp(of_eigenvalues, labels, len(node.shape))
        return Scaled(level, None, (Term(of_eigenvalues, labels, ()),))
    if isinstance(node, Einsum):
        return _scaled_reduction(node)
    return _scaled_sum(node) if isinstance(node, Add) else None


def log_sum_exp(exponent: Node, labels: Sequence[int], rank: int) -> Node:
    """``log sum exp`` over the axes whose labels are not below `rank`: the one-axis function, axis after axis."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    result = transpose(exponent, order) if order != list(range(len(labels))) else exponent
    for _ in range(len(labels) - rank):
        result = call("logsumexp", result)
    return result


def opened(node: Einsum) -> Einsum:
    """The product with the products inside it opened that hold an exponential, shared or not."""
    for _ in range(_DEEPEST):
        positions = [
            k
            for k, operand in enumerate(node.operands)
            if isinstance(operand, Einsum) and operand.dtype == node.dtype and _holds_exponential(operand)
        ]
        if not positions:
            break
        following = inline(node, positions)
        assert isinstance(following, Einsum)
        node = following
    return node


def _holds_exponential(node: Einsum) -> bool:
    return any(function_of(operand, "exp") is not None for operand in node.operands)


def exponents_in(node: Einsum) -> tuple[list[Placed], list[Placed]]:
    """The exponents of the exponentials among the factors, and the other factors."""
    exponents: list[Placed] = []
    others: list[Placed] = []
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        exponent = function_of(operand, "exp") if operand.dtype == node.dtype else None
        if exponent is not None:
            exponents.append((exponent, labels))
        elif isinstance(operand, Elementwise) and operand.function == "weighted_exp" and operand.dtype == node.dtype:
            weight, exponent = operand.operands
            exponents.append((exponent, labels))
            others.append((weight, labels))
        else:
            others.append((operand, labels))
    return exponents, others


def _scaled_reduction(node: Einsum) -> Scaled | None:
    """``c u[i] Σ_j w[i,j] exp(z[i,j])``, with masks among the weights."""
    node = opened(node)
    if not _holds_exponential(node) or any(_is_weighted(operand) for operand in node.operands):
        return None
    rank = len(node.shape)
    exponents, others = exponents_in(node)
    masks = [placed for placed in others if is_mask(placed[0], node.dtype)]
    summed = {label for _, labels in (*exponents, *masks) for label in labels if label >= rank}
    inner, outer = _apart(others, summed, rank)
    own = tuple(sorted(summed | {label for _, labels in (*exponents, *inner) for label in labels if label < rank}))
    sizes = open_product(node).sizes()
    largest = max(prod(operand.shape) for operand, _ in (*exponents, *inner))
    if (
        not summed
        or 0 in node.shape
        or not 0 < prod(sizes[label] for label in own) <= largest
        or any(isinstance(operand, Structural) for operand, _ in inner)
        or any(is_mask(operand, node.dtype) for operand, _ in outer)
    ):
        return None
    spread = [_over(own, sizes, [placed, *masks], node) for placed in exponents]
    exponent = total(*spread)
    batch = tuple([label for label in own if label < rank])
    if inner:
        weight = _over(own, sizes, inner, node)
        level, sums = _weighted(weight, exponent, len(batch))
        outer.append((sums, batch))
    else:
        level = log_sum_exp(exponent, range(len(own)), len(batch))
    factor = None
    if outer or node.coefficient != 1:
        product = Product(node.coefficient, [], [], rank, node.shape, node.dtype)
        for operand, labels in outer:
            product.append(operand, labels)
        factor = product.build()
    terms = (Term(*exponents[0], tuple(inner)),) if len(exponents) == 1 and not masks else ()
    return Scaled(broadcast(level, batch, node.shape), factor, terms)


def _apart(factors: Sequence[Placed], summed: Iterable[int], rank: int) -> tuple[list[Placed], list[Placed]]:
    """The factors that sums over these labels reach, over what other summed labels ever, and those that they do not."""
    reached = set(summed)
    inner: list[Placed] = []
    outer = list(factors)
    while more := [placed for placed in outer if not reached.isdisjoint(placed[1])]:
        inner += more
        outer = [placed for placed in outer if placed not in more]
        reached.update(label for _, labels in more for label in labels if label >= rank)
    return [placed for placed in factors if placed in inner], outer


def _is_weighted(node: Node) -> bool:
    return isinstance(node, Elementwise) and node.function == "weighted_exp"


def _over(own: Labels, sizes: dict[int, int], factors: Iterable[Placed], like: Node) -> Node:
    """The product of the factors over these labels; others are summed."""
    held = list(factors)
    missing = [label for label in own if label not in set(chain(*[labels for _, labels in held]))]
    if missing:
        held.append((ones([sizes[label] for label in missing], like.dtype), tuple(missing)))
    (first, labels), *rest = held
    if not rest and labels == own:
        return cast(first, like.dtype)
    return einsum([operand for operand, _ in held], [labels for _, labels in held], own, 1, like.dtype)


def _weighted(weight: Node, exponent: Node, rank: int) -> tuple[Node, Node]:
    """Level and scaled sum of ``w exp z`` over all axes behind the first."""
    count = len(exponent.shape) - rank
    level = _finite(call("max_reduce", apply("exponent_level", weight, exponent), params=(count,) * (count > 1)))
    shifted = total(exponent, negate(broadcast(level, range(rank), exponent.shape)))
    return level, sum_axes(apply("weighted_exp", weight, shifted), range(rank, rank + count))


def _finite(level: Node) -> Node:
    """The level, and 0 where it is infinite: nothing is taken out there."""
    return multiply(apply("logical_not", apply("isinf", level)), level)


def _scaled_sum(node: Add) -> Scaled | None:
    """``Σ_t w_t exp(z_t)`` over the terms of a sum, numbers among them."""
    positive = logarithm_of_positive(node)
    if positive is not None:
        return Scaled(positive, None, tuple(_terms_of_positive(node)))
    parts = [_split(term) for term in node.operands]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or any(term.dtype != node.dtype for term in node.operands) or 0 in node.shape:
        return None
    if not any(isinstance(term, (Einsum, Elementwise)) and number_of(term) is None for term in node.operands):
        return None
    axes = tuple(range(len(node.shape)))
    pairs = [(_weight_of(weights, number, node), exponent) for number, weights, exponent in found]
    levels = [apply("exponent_level", weight, exponent) for weight, exponent in pairs]
    level = _finite(reduce(lambda a, b: apply("maximum", a, b), levels))
    sums = add([apply("weighted_exp", weight, total(z, negate(level))) for weight, z in pairs], node.dtype)
    return Scaled(level, sums, tuple([Term(z, axes, tuple(weights)) for _, weights, z in found]))


def _weight_of(weights: Sequence[Placed], number: Number, like: Node) -> Node:
    product = Product(number, [], [], len(like.shape), like.shape, like.dtype)
    for operand, labels in weights:
        product.append(operand, labels)
    return product.build()


def _split(term: Node) -> tuple[Number, list[Placed], Node] | None:
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
    if any(operand.dtype == BOOL for operand, _ in weights):
        return None
    if any(isinstance(operand, Structural) and not isinstance(operand, Ones) for operand, _ in weights):
        return None
    sizes = open_product(term).sizes()
    spread = [_over(tuple(range(rank)), sizes, [placed], term) for placed in exponents]
    return term.coefficient, weights, total(*spread)


def logarithm_of_product(node: Node) -> Node | None:
    """``log(w exp z) = z + log w``: undefined for negative w on both sides."""
    if _is_weighted(node):
        weight, exponent = node.operands
        return total(exponent, apply("log", weight))
    split = _split(node) if isinstance(node, Einsum) else None
    if split is None:
        return None
    number, weights, exponent = split
    if weights:
        return total(exponent, apply("log", _weight_of(weights, number, node)))
    return _moved(exponent, number)


def _moved(exponent: Node, number: Number) -> Node | None:
    """``z + log c`` for a positive number c."""
    if number <= 0:
        return None
    return exponent if number == 1 else total(exponent, constant_like(log(number), exponent))


def logarithm_of_positive(node: Node, deepest: int = _DEEPEST) -> Node | None:
    """The logarithm of what cannot be negative: exponentials, positive numbers of them, their sums, sums of these."""
    exponent = function_of(node, "exp")
    if exponent is not None:
        return exponent if exponent.dtype == node.dtype else None
    if isinstance(node, Einsum):
        if any(not isinstance(o, Ones) and not isinstance(o, (Einsum, Elementwise)) for o in node.operands):
            return None
        split = _split(node)
        if split is not None:
            return None if split[1] else _moved(split[2], split[0])
        reduced = _scaled_reduction(node)
        if reduced is None:
            return None
        number = 1 if reduced.factor is None else number_of(reduced.factor)
        return None if number is None else _moved(reduced.level, number)
    if isinstance(node, Add) and deepest:
        return _logarithm_of_sum(node, deepest)
    return None


def _logarithm_of_sum(node: Add, deepest: int) -> Node | None:
    """``log(exp a + exp b) = logaddexp(a, b)``, term after term; a positive number is an exponential too."""
    if any(term.dtype != node.dtype for term in node.operands):
        return None
    logarithms: list[Node] = []
    constants: Number = 0
    for term in node.operands:
        number = number_of(term)
        if number is not None:
            constants += number
            continue
        logarithm = logarithm_of_positive(term, deepest - 1)
        if logarithm is None:
            return None
        logarithms.append(logarithm)
    if not logarithms or constants < 0:
        return None
    joined = reduce(lambda a, b: apply("logaddexp", a, b), logarithms)
    if constants == 0:
        return joined
    if constants == 1:
        return apply("softplus", joined)
    return apply("logaddexp", constant_like(log(constants), joined), joined)


def _terms_of_positive(node: Add) -> list[Term]:
    """The exponentials in a sum of positive terms, and those in sums among them, which are not larger either."""
    terms: list[Term] = []
    rank = len(node.shape)
    for term in node.operands:
        exponent = function_of(term, "exp")
        if exponent is not None:
            terms.append(Term(exponent, tuple(range(rank)), ()))
        elif isinstance(term, Einsum):
            exponents, others = exponents_in(opened(term))
            if len(exponents) == 1 and not others:
                terms.append(Term(*exponents[0], ()))
    return terms
