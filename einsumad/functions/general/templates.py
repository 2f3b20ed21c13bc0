"""Functions of one number and some parameters as plain text: what a row that is given a function holds in its params.

Owns the text and what is done with it: derivatives, values on arrays, expressions of nodes. Imports the catalogue and
the graph. Invariant: a template is a graph without axes over slots, slot 0 the variable and slots 1, 2, ... the
parameters; its derivatives come from the partials of the catalogue.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from einsumad.errors import InternalError
from einsumad.functions.catalogue import partial_of
from einsumad.functions.values import value_function
from einsumad.graph import (
    BOOL,
    Add,
    Einsum,
    Elementwise,
    Leaf,
    Node,
    Number,
    Ones,
    Zero,
    add,
    elementwise,
    leaf,
    leaves,
    multiply,
    negate,
    ones,
    pack_graph,
    substitute,
    topological,
    unpack_graph,
    zero,
)

Array = np.ndarray[Any, Any]
FLOAT = np.dtype(float)
"""The dtype of the numbers of all templates; an expression of nodes has theirs."""
KINKED = frozenset({"abs", "sign", "relu", "maximum_constant", "minimum_constant"})
COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
_EVEN = frozenset({"abs", "cos", "cosh", "square"})
_ODD = frozenset({"sin", "tan", "sinh", "tanh", "arcsin", "arctan", "arcsinh", "arctanh", "erf", "erfinv"})


def slot(position: int) -> Leaf:
    """The variable (0) or a parameter (1, 2, ...) of a template."""
    return leaf((), FLOAT, ("slot", position))


def text_of(root: Node) -> str:
    """The text of a graph over slots."""
    return repr(pack_graph([root]))


@lru_cache(maxsize=1024)
def root_of(text: str) -> Node:
    """The graph that a text describes."""
    return unpack_graph(literal_eval(text))[0]


def depends(text: str, position: int) -> bool:
    """Whether the function depends on a slot."""
    return any(found.key == ("slot", position) for found in leaves([root_of(text)]))


@lru_cache(maxsize=1024)
def sides(text: str) -> tuple[str, ...]:
    """For each kink or jump of the function one of the variable that is 0 there and has another sign on either side."""
    found: dict[str, None] = {}
    for node in topological([root_of(text)]):
        if isinstance(node, Elementwise) and (node.function in KINKED or node.function in COMPARISONS):
            first = node.operands[0]
            others = [operand for operand in node.operands[1:] if not isinstance(operand, Zero)]
            side = add([first, negate(others[0])]) if others else first
            found[text_of(side)] = None
    return tuple(found)


@lru_cache(maxsize=1024)
def extended(text: str) -> str:
    """The odd function that is equal to this one for positive numbers; 0 at 0 where it is not odd by itself."""
    root = root_of(text)
    if _parity(root) == 1:
        return text
    variable = slot(0)
    absolute = elementwise("abs", [variable], (), FLOAT)
    (found,) = substitute([root], {variable: absolute})
    elsewhere = elementwise("not_equal", [variable, zero((), FLOAT)], (), BOOL)
    return text_of(_product([elsewhere, found, elementwise("sign", [variable], (), FLOAT)]))


@lru_cache(maxsize=1024)
def reflected(text: str, spanned: bool) -> str:
    """The even function that is equal to this one for positive numbers.

    It is 0 at 0 where the singular vectors have not `spanned` the space; if they have, its value there does not matter,
    and is 0 unless the function is even by itself and finite there.
    """
    root = root_of(text)
    variable = slot(0)
    even = _parity(root) == 0
    if even and spanned and _is_finite_at_zero(root):
        return text
    if not even:
        (root,) = substitute([root], {variable: elementwise("abs", [variable], (), FLOAT)})
    return text_of(_product([elementwise("not_equal", [variable, zero((), FLOAT)], (), BOOL), root]))


def _is_finite_at_zero(root: Node) -> bool:
    """Whether the value at 0 is a number, for parameters that are 1."""
    slots = 1 + max([int(found.key[1]) for found in leaves([root])], default=0)
    with np.errstate(all="ignore"):
        return bool(np.isfinite(evaluate(text_of(root), [np.zeros(1), *[np.ones(1)] * (slots - 1)]))[0])


@lru_cache(maxsize=1024)
def slope_of_length(text: str) -> str | None:
    """The derivative for numbers that are not negative: 0 at 0, as that of a norm, where the function is not even."""
    found = derivative(text, 0)
    if found is None or _parity(root_of(text)) == 0:
        return found
    return text_of(_product([elementwise("sign", [slot(0)], (), FLOAT), root_of(found)]))


def _parity(root: Node) -> int | None:
    """0 for an even function of the variable, 1 for an odd one, None where the form does not tell."""
    found: dict[Node, int | None] = {}
    for node in topological([root]):
        operands = [found[operand] for operand in node.operands]
        known = [parity for parity in operands if parity is not None]
        if len(known) < len(operands):
            found[node] = None
        elif isinstance(node, Elementwise) and any(known):
            found[node] = _parity_of_function(node)
        elif isinstance(node, Add):
            found[node] = known[0] if len(set(known)) == 1 else None
        else:
            found[node] = sum(known) % 2 if node.operands else int(node is slot(0))
    return found[root]


def _parity_of_function(node: Elementwise) -> int | None:
    """The parity of a function of an odd one."""
    if node.function == "power" and isinstance(node.params[0], int) and node.params[0] >= 0:
        return node.params[0] % 2
    return 0 if node.function in _EVEN else 1 if node.function in _ODD else None


@lru_cache(maxsize=1024)
def derivative(text: str, position: int) -> str | None:
    """The derivative in a slot, None where it is zero."""
    root = root_of(text)
    tangents: dict[Node, Node | None] = {slot(position): ones((), FLOAT)}
    for node in topological([root]):
        if node not in tangents:
            terms = [term for term in _terms(node, tangents) if not isinstance(term, Zero)]
            tangents[node] = None if not terms else terms[0] if len(terms) == 1 else add(terms)
    found = tangents[root]
    return None if found is None else text_of(found)


def _terms(node: Node, tangents: dict[Node, Node | None]) -> list[Node]:
    """The contributions of the operands to the tangent of a node."""
    moving = [(k, tangent) for k, o in enumerate(node.operands) if (tangent := tangents[o]) is not None]
    match node:
        case Add():
            return [tangent for _, tangent in moving]
        case Einsum():
            others = [[*node.operands[:k], *node.operands[k + 1 :]] for k, _ in moving]
            pairs = zip(others, moving, strict=True)
            return [_product([*rest, tangent], node.coefficient) for rest, (_, tangent) in pairs]
        case Elementwise() if moving and node.dtype != BOOL:
            return [_product([slope, tangent]) for k, tangent in moving if (slope := partial_of(node, k)) is not None]
    return []


def _product(factors: Sequence[Node], coefficient: Number = 1) -> Node:
    """The product with nested ones opened, ones dropped and zeros winning."""
    kept: list[Node] = []
    pending = list(reversed(factors))
    while pending:
        factor = pending.pop()
        if isinstance(factor, Zero):
            return zero((), FLOAT)
        if isinstance(factor, Einsum) and factor.dtype == FLOAT:
            coefficient = coefficient * factor.coefficient
            pending.extend(reversed(factor.operands))
        elif not isinstance(factor, Ones):
            kept.append(factor)
    if len(kept) == 1 and coefficient == 1 and kept[0].dtype == FLOAT:
        return kept[0]
    return multiply(*(kept or [ones((), FLOAT)]), coefficient=coefficient, dtype=FLOAT)


def evaluate(text: str, slots: Sequence[Array]) -> Array:
    """The function of arrays that broadcast, in the shape of the first."""
    found: dict[Node, Any] = {}
    for node in topological([root_of(text)]):
        operands = [found[operand] for operand in node.operands]
        match node:
            case Leaf():
                found[node] = slots[int(node.key[1])]
            case Ones() | Zero():
                found[node] = slots[0].dtype.type(isinstance(node, Ones))
            case Add():
                found[node] = sum(operands[1:], operands[0])
            case Einsum():
                found[node] = _multiplied(node, operands)
            case Elementwise():
                found[node] = value_function(node.function, node.params, len(operands))(*operands)
            case _:
                raise InternalError(f"a template has a node of kind {type(node).__name__}")
    return np.broadcast_to(found[root_of(text)], slots[0].shape)


def _multiplied(node: Einsum, operands: Sequence[Any]) -> Any:
    masks = [value for value, o in zip(operands, node.operands, strict=True) if o.dtype == BOOL != node.dtype]
    result: Any = node.coefficient
    for value, operand in zip(operands, node.operands, strict=True):
        if operand.dtype != BOOL or node.dtype == BOOL:
            result = result * value
    for mask in masks:
        result = np.where(mask, result, 0.0)
    return result


def instantiate(text: str, slots: Sequence[Node]) -> Node:
    """The function as an expression of nodes of one shape and dtype."""
    shape = slots[0].shape
    found: dict[Node, Node] = {}
    for node in topological([root_of(text)]):
        operands = [found[operand] for operand in node.operands]
        dtype = slots[0].dtype if node.dtype == FLOAT else node.dtype
        match node:
            case Leaf():
                found[node] = slots[int(node.key[1])]
            case Ones() | Zero():
                found[node] = ones(shape, dtype) if isinstance(node, Ones) else zero(shape, dtype)
            case Add():
                found[node] = add(operands, dtype)
            case Einsum():
                found[node] = multiply(*operands, coefficient=node.coefficient, dtype=dtype)
            case Elementwise():
                found[node] = elementwise(node.function, operands, node.params, dtype)
            case _:
                raise InternalError(f"a template has a node of kind {type(node).__name__}")
    return found[root_of(text)]


def nth_derivative(text: str, order: int) -> str | None:
    """The derivative of some order in the variable, None where it is zero."""
    found: str | None = text
    for _ in range(order):
        if found is None:
            return None
        found = derivative(found, 0)
    return found
