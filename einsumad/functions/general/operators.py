"""Operator rows: matrix functions and solutions of matrix equations, linear in matrices called directions.

Owns what an operator row is. Imports the catalogue and graph spelling. Invariant: the laws below, by which a product
that contracts a derivative with a direction is the row of that direction, and no tensor of order four is formed.

The value of an operator row has batch axes, the axes (i, j) of a matrix, and then a pair of axes (k, l) for each of the
``params[0]`` directions that are left open; the operands are its matrices, and then the directions that are given. With
``e_kl`` for the matrix that is 1 at (k, l) and 0 elsewhere, and ``<C, X>`` for the sum of products of entries,

- an open direction stands for all of them: ``T(A; E..)[i, j, k, l] = T(A; E.., e_kl)[i, j]``, so that
  ``Σ_kl T(A; E..)[i, j, k, l] V[k, l] = T(A; E.., V)[i, j]``, for any of the pairs,
- the adjoint transposes every operand: ``<C, T(A; E.., V)> = <T(Aᵀ; Eᵀ.., C), V>``; in axes, with the open pairs
  (k, l), (p, q), ...: ``T(A; E..)[i, j, k, l, p, q, ..] = T(Aᵀ; Eᵀ..)[k, l, i, j, q, p, ..]``.

For the derivatives of a matrix function both follow from the power series: the derivative of ``A^r`` in the directions
``E1, .., Em`` is the sum of all products of r factors in which they stand once each, in every order, and A elsewhere;
``<C, X V Y> = <Xᵀ C Yᵀ, V>``.
"""

from __future__ import annotations

from collections.abc import Sequence

from einsumad.functions.catalogue import call, general_function
from einsumad.graph import General, Labels, Node, Params, broadcast, transpose


def open_pairs(params: Params) -> int:
    """How many directions are left open."""
    opened = params[0] if params else 0
    assert isinstance(opened, int)
    return opened


def with_open_pairs(count: int) -> Params:
    """The parameters of an operator row that leaves so many directions open."""
    return (count,) if count else ()


def is_open_operator(node: Node) -> bool:
    """Whether the node is an operator row with a direction left open."""
    return isinstance(node, General) and open_pairs_of(node) > 0


def open_pairs_of(node: General) -> int:
    """How many directions the node leaves open: none if its row is no operator."""
    return open_pairs(node.params) if general_function(node.function).is_operator else 0


def with_direction(node: General, direction: Node) -> Node:
    """The last open direction given. Axes of it before those of the batch come first, and the operands do not vary."""
    shape = direction.shape[:-2]
    lead = len(shape) - len(node.operands[0].shape) + 2
    operands = [
        broadcast(o, range(lead, len(shape) + 2), (*shape[:lead], *o.shape)) if lead else o for o in node.operands
    ]
    return call(node.function, *operands, direction, params=with_open_pairs(open_pairs(node.params) - 1))


def adjoint(node: General) -> General:
    """The same row of the transposed operands: see :func:`adjoint_labels` for what is where."""
    found = call(node.function, *[_transposed(operand) for operand in node.operands], params=node.params)
    assert isinstance(found, General)
    return found


def adjoint_labels(labels: Labels, batch: int) -> Labels:
    """The labels of the adjoint where those of the node are given: matrix and first open pair trade places."""
    first, second, *others = pairs_of(labels, batch)
    return (*labels[:batch], *second, *first, *[label for pair in others for label in reversed(pair)])


def pairs_of(labels: Labels, batch: int) -> list[tuple[int, int]]:
    """The labels of the matrix and of each open direction."""
    return [(labels[k], labels[k + 1]) for k in range(batch, len(labels), 2)]


def with_last_pair(labels: Labels, batch: int, pair: int) -> Labels:
    """The labels with an open pair, numbered from 1, moved to the end."""
    pairs = pairs_of(labels, batch)
    pairs.append(pairs.pop(pair))
    return (*labels[:batch], *[label for each in pairs for label in each])


def _transposed(operand: Node) -> Node:
    rank = len(operand.shape)
    axes: Sequence[int] = [*range(rank - 2), rank - 1, rank - 2]
    return transpose(operand, axes)
