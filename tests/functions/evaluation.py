"""A small evaluator and forward mode for the tests of the catalogue, written apart from the library's own.

Owns nothing of the library: an einsum is the product over its whole index space, a derivative is pushed
forward node by node with the rows' own partials and Jacobians.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from einsumad.functions import elementwise_function, general_function
from einsumad.graph import (
    Add,
    Affine,
    Einsum,
    Elementwise,
    General,
    Leaf,
    Node,
    Ones,
    Selection,
    Structural,
    Unit,
    Zero,
    add,
    einsum,
    leaf,
    ones,
    topological,
    unit,
    zero,
)

Array = np.ndarray[Any, Any]


def variable(name: str, shape: Sequence[int] = (), dtype: Any = np.float64) -> Leaf:
    return leaf(shape, dtype, ("variable", name))


def evaluate(root: Node, values: Mapping[Leaf, Any]) -> Array:
    found: dict[Node, Array] = {}
    with np.errstate(all="ignore"):
        for node in topological([root]):
            found[node] = _value(node, [found[o] for o in node.operands], values)
            assert found[node].shape == node.shape, (node, found[node].shape)
            assert found[node].dtype == node.dtype, (node, found[node].dtype)
    return found[root]


def _value(node: Node, operands: list[Array], values: Mapping[Leaf, Any]) -> Array:
    match node:
        case Leaf():
            return np.asarray(values[node], node.dtype)
        case Structural():
            return _truth(node, operands).astype(node.dtype)
        case Add():
            return np.asarray(sum(operands[1:], operands[0]), node.dtype)
        case Einsum():
            return _product(node, operands)
        case Elementwise():
            return elementwise_value(node.function, operands, node.params)
        case General():
            return np.asarray(general_function(node.function).kernel(*operands, *node.params))
    raise AssertionError(type(node))


def _truth(node: Structural, operands: list[Array]) -> Array:
    """Where a 0/1 tensor is one."""
    match node:
        case Ones() | Zero():
            return np.full(node.shape, isinstance(node, Ones))
        case Unit():
            index = np.indices(node.shape)
            return np.asarray(np.all(index == index[0], axis=0))
        case Affine():
            place, *axes = np.indices(node.shape)
            moves = [stride * axis for stride, axis in zip(node.strides, axes, strict=True)]
            return np.asarray(place == node.offset + sum(moves))
        case Selection():
            return np.asarray(np.arange(node.shape[-1]) == operands[0][..., None])
    raise AssertionError(type(node))


def elementwise_value(name: str, operands: Sequence[Array], params: Any) -> Array:
    names = tuple(f"x[{k}]" for k in range(len(operands)))
    text = elementwise_function(name).source(names, params)
    return np.asarray(eval(text, {"np": np, "special": special, "x": operands}))  # noqa: S307


def _product(node: Einsum, operands: list[Array]) -> Array:
    rank = 1 + max([len(node.shape) - 1, *(label for labels in node.inputs for label in labels)])
    total: Array = np.ones((1,) * rank, node.dtype)
    masks: Array = np.ones((1,) * rank, bool)
    for operand, labels in zip(operands, node.inputs, strict=True):
        distinct = sorted(set(labels))
        diagonal = np.einsum(operand, list(labels), distinct)
        spread = diagonal.reshape([diagonal.shape[distinct.index(k)] if k in distinct else 1 for k in range(rank)])
        if operand.dtype == bool:
            masks = masks & spread
        else:
            total = total * spread
    total = np.where(masks, total, np.zeros((), total.dtype))
    total = total.sum(axis=tuple(range(len(node.shape), rank)))
    if node.dtype == bool:
        return total.astype(bool)
    return np.asarray(total * node.coefficient, node.dtype)


def push(root: Node, seeds: Mapping[Leaf, Node], extra: int) -> Node | None:
    """The derivative of the root along the seeds, each of shape ``leaf.shape`` and `extra` further axes."""
    tangent: dict[Node, Node | None] = dict(seeds)
    for node in topological([root]):
        if node in tangent:
            continue
        terms = [
            term
            for position, operand in enumerate(node.operands)
            if (inner := tangent[operand]) is not None and node.dtype.kind == "f"
            for term in _terms(node, position, inner, extra)
        ]
        tangent[node] = add(terms, node.dtype) if terms else None
    return tangent[root]


def _terms(node: Node, position: int, inner: Node, extra: int) -> list[Node]:
    rank, own = len(node.shape), len(node.operands[position].shape)
    more = range(1000, 1000 + extra)
    match node:
        case Add():
            return [inner]
        case Einsum():
            operands, inputs = list(node.operands), [list(labels) for labels in node.inputs]
            operands[position] = inner
            inputs[position] = [*inputs[position], *more]
            return [einsum(operands, inputs, [*range(rank), *more], node.coefficient, node.dtype)]
        case Elementwise():
            partial = elementwise_function(node.function).partials(node)[position]
            if partial is None:
                return []
            assert isinstance(partial, Node), partial
            assert partial.shape == node.shape
            assert partial.dtype in (node.dtype, bool)
            labels = [range(rank), [*range(rank), *more]]
            return [einsum([partial, inner], labels, [*range(rank), *more], 1, node.dtype)]
        case General():
            jacobian = general_function(node.function).jacobian(node, position)
            into = range(500, 500 + own)
            for term in jacobian:
                assert term.shape == node.shape + node.operands[position].shape
                assert term.dtype == node.dtype
            return [
                einsum(
                    [term, inner],
                    [[*range(rank), *into], [*into, *more]],
                    [*range(rank), *more],
                    1,
                    node.dtype,
                )
                for term in jacobian
            ]
    raise AssertionError(type(node))


def entrywise(root: Node, x: Leaf) -> Node:
    """The derivative with respect to x of an expression over x's index set, entry by entry."""
    found = push(root, {x: ones(x.shape, x.dtype)}, 0)
    return zero(root.shape, root.dtype) if found is None else found


def full(root: Node, x: Leaf) -> Node:
    """The Jacobian of shape ``root.shape + x.shape``."""
    rank = len(x.shape)
    units = [unit(size, 2, x.dtype) for size in x.shape]
    labels = [(k, rank + k) for k in range(rank)]
    found = push(root, {x: einsum([ones((), x.dtype), *units], [(), *labels], range(2 * rank))}, rank)
    return zero(root.shape + x.shape, root.dtype) if found is None else found
