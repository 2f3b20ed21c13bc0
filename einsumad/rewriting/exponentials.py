"""Sums of exponentials, with any weights, and the level that is taken out of them before they are formed.

Imports the graph and the catalogue. Invariant: ``S = exp(m) P`` with m and P as :func:`scaled` gives them, where P is
formed of exponentials that do not overflow; a term of weight 0 counts for nothing in m, an exponent that is not a
number makes m one that is not. P never holds the function exp, so that no rule takes it apart again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import log, prod

from einsumad.functions import apply, call
from einsumad.graph import (
    Add,
    Einsum,
    Elementwise,
    Node,
    Number,
    Ones,
    Structural,
    add,
    broadcast,
    constant_like,
    negate,
    sum_axes,
    total,
    transpose,
)
from einsumad.records import record
from einsumad.rewriting.exponents import (
    Placed,
    Term,
    exponents_in,
    is_weighted,
    opened,
    over,
    split,
    weight_of,
)
from einsumad.rewriting.product import Product, is_mask, open_product
from einsumad.rewriting.recognise import function_of, number_of
from einsumad.rewriting.spectral import exponent_of_sum

_DEEPEST = 3


@record
class Scaled:
    """``exp(level) * factor`` for a sum, both in its shape; no factor is one. `terms` are those of one exponential."""

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


def _scaled_reduction(node: Einsum) -> Scaled | None:
    """``c u[i] Σ_j w[i,j] exp(z[i,j])``, with masks among the weights."""
    node = opened(node)
    exponents, others = exponents_in(node)
    if not exponents or any(is_weighted(operand) for operand in node.operands):
        return None
    rank = len(node.shape)
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
    spread = [over(own, sizes, [placed, *masks], node) for placed in exponents]
    exponent = total(*spread)
    batch = tuple([label for label in own if label < rank])
    if inner:
        weight = over(own, sizes, inner, node)
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


def _weighted(weight: Node, exponent: Node, rank: int) -> tuple[Node, Node]:
    """Level and scaled sum of ``w exp z`` over all axes behind the first."""
    count = len(exponent.shape) - rank
    level = apply(
        "finite_level", call("max_reduce", apply("exponent_level", weight, exponent), params=(count,) * (count > 1))
    )
    shifted = total(exponent, negate(broadcast(level, range(rank), exponent.shape)))
    return level, sum_axes(apply("weighted_exp", weight, shifted), range(rank, rank + count))


def _scaled_sum(node: Add) -> Scaled | None:
    """``Σ_t w_t exp(z_t)`` over the terms of a sum, numbers among them."""
    positive = logarithm_of_positive(node)
    if positive is not None:
        return Scaled(positive, None, tuple(_terms_of_positive(node)))
    parts = [split(term) for term in node.operands]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts) or any(term.dtype != node.dtype for term in node.operands) or 0 in node.shape:
        return None
    if not any(isinstance(term, (Einsum, Elementwise)) and number_of(term) is None for term in node.operands):
        return None
    axes = tuple(range(len(node.shape)))
    pairs = [(weight_of(weights, number, node), exponent) for number, weights, exponent in found]
    levels = [apply("exponent_level", weight, exponent) for weight, exponent in pairs]
    level = apply("finite_level", reduce(lambda a, b: apply("maximum", a, b), levels))
    sums = add([apply("weighted_exp", weight, total(z, negate(level))) for weight, z in pairs], node.dtype)
    return Scaled(level, sums, tuple([Term(z, axes, tuple(weights)) for _, weights, z in found]))


def logarithm_of_product(node: Node) -> Node | None:
    """``log(w exp z) = z + log w``: undefined for negative w on both sides."""
    if is_weighted(node):
        weight, exponent = node.operands
        return total(exponent, apply("log", weight))
    parts = split(node) if isinstance(node, Einsum) else None
    if parts is None:
        return None
    number, weights, exponent = parts
    if weights:
        return total(exponent, apply("log", weight_of(weights, number, node)))
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
        parts = split(node)
        if parts is not None:
            return None if parts[1] else _moved(parts[2], parts[0])
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
