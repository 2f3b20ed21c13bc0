"""Pairs of kinks that make a smooth function: the textbook forms of softplus, logaddexp, log(2 cosh) and sigmoid.

Imports the graph and the catalogue. Invariant: each of the two has derivative 0 at its kink by convention, which their
sum has not; so the two are recognised before anything is differentiated, under any common factors and sums.
"""

from __future__ import annotations

from collections.abc import Iterator

from einsumad.functions import apply
from einsumad.graph import Add, Einsum, Elementwise, Labels, Node, Number, Zero, add, cast, multiply, negate, scale
from einsumad.records import record, replace
from einsumad.rewriting.product import Product, as_product, negated
from einsumad.rewriting.recognise import function_of, without_number
from einsumad.rewriting.rules import Context, Rule
from einsumad.rewriting.sums import split_coefficient

_ORDERED = {"greater": 1, "greater_equal": 1, "less": -1, "less_equal": -1}
_BOUNDED = {
    "maximum_constant": 1,
    "fmax_constant": 1,
    "minimum_constant": -1,
    "fmin_constant": -1,
}
_LARGER = {"maximum": 1, "fmax": 1, "maximum_constant": 1, "minimum": -1, "fmin": -1, "minimum_constant": -1}


@record
class Kink:
    """``amount * max(sign * x, 0)``, or ``amount |x|`` for sign 0, times the other factors of a term."""

    amount: Number
    sign: int
    x: Node
    positions: tuple[int, ...]
    labels: Labels


def smooth_pair(node: Add, _: Context) -> Node | None:
    """``max(z, 0) + softplus(-|z|) = softplus z``; ``|z|/2 + softplus(-|z|) = log(2 cosh(z/2))``, times anything."""
    if not any(_has_softplus(term) for term in node.operands):
        return None
    terms = _opened(node)
    for k, term in enumerate(terms):
        for position, operand in enumerate(_factors(term)):
            decay = _decay(operand)
            if decay is None:
                continue
            product = as_product(term)
            for j, other in enumerate(terms):
                new = None if j == k else _joined(product, position, decay, other, terms)
                if new is not None:
                    gone = {k, j, *new[1]}
                    rest = [held for i, held in enumerate(terms) if i not in gone]
                    return add([new[0], *rest], node.dtype) if rest else cast(new[0], node.dtype)
    return None


def _factors(term: Node) -> tuple[Node, ...]:
    return term.operands if isinstance(term, Einsum) else (term,)


def _has_softplus(term: Node) -> bool:
    return any(_softplus_of(factor) is not None for factor in _factors(term))


def _softplus_of(node: Node) -> Node | None:
    """The operand of a softplus, also of one that is written ``logaddexp(0, x)``."""
    if isinstance(node, Elementwise) and node.function == "logaddexp":
        first, second = node.operands
        return second if isinstance(first, Zero) else first if isinstance(second, Zero) else None
    return function_of(node, "softplus")


def _decay(node: Node) -> tuple[Number, Node] | None:
    """Numbers k > 0 and x where the node is ``softplus(-k |x|)``."""
    argument = _softplus_of(node)
    if argument is None:
        return None
    number, size = without_number(argument)
    inner = function_of(size, "abs")
    if inner is None or number >= 0:
        return None
    own, x = without_number(inner)
    return -number * abs(own), x


def _opened(node: Add) -> list[Node]:
    """The terms, those that are a number times a sum with an absolute value opened: ``(z + |z|)/2``."""
    terms: list[Node] = []
    for term in node.operands:
        number, inner = without_number(term)
        if isinstance(inner, Add) and inner.dtype == node.dtype and any(_is_size(held) for held in inner.operands):
            terms += [_scaled(number, held) for held in inner.operands]
        else:
            terms.append(term)
    return terms


def _is_size(term: Node) -> bool:
    return any(function_of(factor, "abs") is not None for factor in _factors(term))


def _scaled(number: Number, term: Node) -> Node:
    if not isinstance(term, Einsum):
        return scale(number, term)
    work = as_product(term)
    work.coefficient *= number
    return work.build()


def _joined(
    product: Product, position: int, decay: tuple[Number, Node], other: Node, terms: list[Node]
) -> tuple[Node, list[int]] | None:
    """The smooth function in the place of a term with ``softplus(-k |x|)`` and another, and what else it takes up."""
    k, x = decay
    partner = as_product(other)
    if product.dtype != partner.dtype or x.dtype != product.dtype:
        return None
    larger = _joined_at_ties(product, position, decay, partner)
    if larger is not None:
        return larger, []
    for kink in kinks_in(partner):
        if kink.x is not x or kink.amount * partner.coefficient * (1 if kink.sign else 2) != product.coefficient * k:
            continue
        number = product.coefficient
        if _placed(product, [position], product.inputs[position], x) != _placed(
            partner, kink.positions, kink.labels, x
        ):
            continue
        if kink.sign:
            return _softplus(product, position, scale(kink.sign * k, x)), []
        linear = split_coefficient(_with(product, [position], product.inputs[position], x))[1]
        for i, term in enumerate(terms):
            found, body = split_coefficient(term)
            if body == linear and abs(found) == abs(number * k / 2):
                sign = 1 if found == number * k / 2 else -1
                return _softplus(product, position, scale(sign * k, x)), [i]
        smooth = apply("log2cosh", scale(k / 2, x))
        return _with(product, [position], product.inputs[position], smooth), []
    return None


def _joined_at_ties(product: Product, position: int, decay: tuple[Number, Node], partner: Product) -> Node | None:
    """``max(a, b) + softplus(-|a - b|) = logaddexp(a, b)``, and ``-min(a, b)`` instead likewise."""
    k, x = decay
    for place, operand in enumerate(partner.operands):
        if k != 1 or not isinstance(operand, Elementwise) or operand.function not in _LARGER:
            continue
        way = _LARGER[operand.function]
        a, b = operand.operands
        labels = partner.inputs[place]
        if product.coefficient != way * partner.coefficient or not _is_gap(x, a, b):
            continue
        if _placed(product, [position], product.inputs[position], x) == _placed(partner, [place], labels, x):
            both = (a, b) if way > 0 else (negated(a), negated(b))
            return _with(product, [position], product.inputs[position], apply("logaddexp", *both))
    return None


def _is_gap(x: Node, a: Node, b: Node) -> bool:
    """Whether x is the difference of a and b, one way or the other."""
    return any(
        x is add([first, minus]) for first, second in ((a, b), (b, a)) for minus in (negate(second), negated(second))
    )


def kink_of(node: Node) -> Kink | None:
    """The kink that the node is, up to a number."""
    product = as_product(node)
    for kink in kinks_in(product):
        if len(kink.positions) == len(product.operands) and kink.labels == tuple(range(product.rank)):
            return replace(kink, amount=kink.amount * product.coefficient)
    return None


def smooth_product(function: str, argument: Node, other: Node) -> Node | None:
    """``exp(min(z, 0)) sigmoid |z| = sigmoid z``; ``sigmoid |z| sigmoid(-|z|) = sigmoid z sigmoid(-z)``."""
    size, kink = kink_of(other), kink_of(argument)
    if size is None or kink is None or size.sign != 0 or size.amount <= 0 or kink.x is not size.x:
        return None
    if kink.amount != -size.amount or (kink.sign == 0) != (function == "sigmoid"):
        return None
    if function == "sigmoid":
        both = (scale(size.amount, size.x), scale(-size.amount, size.x))
        return multiply(*[apply("sigmoid", each) for each in both])
    return apply("sigmoid", scale(-kink.sign * size.amount, size.x))


def _softplus(product: Product, position: int, argument: Node) -> Node:
    smooth = cast(apply("softplus", argument), product.dtype)
    return _with(product, [position], product.inputs[position], smooth)


def _with(product: Product, positions: list[int] | tuple[int, ...], labels: Labels, new: Node) -> Node:
    """The product with another factor in the place of those at the positions."""
    work = Product(
        product.coefficient,
        list(product.operands),
        list(product.inputs),
        product.rank,
        product.shape,
        product.dtype,
    )
    work.drop(positions)
    work.append(new, labels)
    return work.build()


def _placed(product: Product, positions: list[int] | tuple[int, ...], labels: Labels, x: Node) -> object:
    """What a term is besides its number and its kink, for comparing."""
    return split_coefficient(_with(product, positions, labels, apply("softplus", x)))[1]


def kinks_in(product: Product) -> Iterator[Kink]:
    """The kinks at zero among the factors: max and min against 0, absolute values, and x where it is positive."""
    for position, (operand, labels) in enumerate(zip(product.operands, product.inputs, strict=True)):
        if not isinstance(operand, Elementwise):
            continue
        first, *others = operand.operands
        if operand.function in ("abs", "relu"):
            number, x = without_number(first)
            sign = 0 if operand.function == "abs" else 1 if number > 0 else -1
            yield Kink(abs(number), sign, x, (position,), labels)
        elif operand.function in _BOUNDED and isinstance(others[0], Zero):
            number, x = without_number(first)
            way = _BOUNDED[operand.function]
            yield Kink(way * abs(number), way if number > 0 else -way, x, (position,), labels)
        else:
            selected = _selected(operand)
            if selected is not None:
                sign, x = selected
                for k, factor in enumerate(product.operands):
                    number, own = without_number(factor)
                    if own is x and product.inputs[k] == labels:
                        yield Kink(sign * number, sign, x, (k, position), labels)


def _selected(node: Node) -> tuple[int, Node] | None:
    """Sign and x where the node is true, or one, for positive ``sign * x`` and false, or zero, for negative."""
    inner = function_of(node, "sign")
    if inner is not None and isinstance(inner, Einsum) and len(inner.operands) == 1 and inner.coefficient == 1:
        node = inner.operands[0]
    sign = 1
    negated = function_of(node, "logical_not")
    if negated is not None:
        node, sign = negated, -1
    if not isinstance(node, Elementwise) or node.function not in _ORDERED:
        return None
    first, second = node.operands
    sign *= _ORDERED[node.function]
    if isinstance(first, Zero):
        first, second, sign = second, first, -sign
    if not isinstance(second, Zero):
        return None
    number, x = without_number(first)
    return (sign if number > 0 else -sign), x


RULES = (
    Rule(
        "smooth-pair",
        Add,
        "max(z, 0) + softplus(-abs z) = softplus z; max(a, b) + softplus(-abs(a - b)) = logaddexp(a, b)",
        "kinks",
        smooth_pair,
        frozenset([Elementwise, Einsum]),
    ),
)
