"""Dense values of small graphs, written with loops so that they share nothing with the library."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from einsumad.graph import Add, Affine, Einsum, Leaf, Node, Ones, Selection, Unit, Zero, topological


def dense(root: Node, values: Mapping[Node, np.ndarray] | None = None) -> np.ndarray:
    """The value of a graph of leaves, structural tensors, products and sums, in its own dtype."""
    memo: dict[Node, np.ndarray] = {}
    for node in topological([root]):
        operands = [memo[operand] for operand in node.operands]
        memo[node] = _dense(node, operands, values or {}).astype(node.dtype)
        assert memo[node].shape == node.shape
    return memo[root]


def _dense(node: Node, operands: list[np.ndarray], values: Mapping[Node, np.ndarray]) -> np.ndarray:
    match node:
        case Leaf():
            return np.asarray(values[node])
        case Einsum():
            return _product(node, operands)
        case Add():
            return np.sum(operands, axis=0)
    result = np.zeros(node.shape)
    for index in np.ndindex(node.shape):
        match node:
            case Unit():
                result[index] = len(set(index)) == 1
            case Ones():
                result[index] = 1
            case Zero():
                result[index] = 0
            case Affine():
                result[index] = index[0] == node.offset + sum(
                    s * o for s, o in zip(node.strides, index[1:], strict=True)
                )
            case Selection():
                result[index] = index[-1] == operands[0][index[:-1]]
            case _:
                raise AssertionError(f"no dense form of a {type(node).__name__}")
    return result


def _product(node: Einsum, operands: list[np.ndarray]) -> np.ndarray:
    sizes = dict(enumerate(node.shape))
    for operand, labels in zip(operands, node.inputs, strict=True):
        sizes.update(zip(labels, operand.shape, strict=True))
    shape = [sizes[label] for label in range(len(sizes))]
    whole = np.full(shape, node.coefficient, dtype=float)
    for index in np.ndindex(*shape):
        for operand, labels in zip(operands, node.inputs, strict=True):
            whole[index] *= operand[tuple(index[label] for label in labels)]
    return whole.sum(axis=tuple(range(len(node.shape), len(sizes))))
