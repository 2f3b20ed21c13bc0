"""The algebra of structured tensors: sums, products, transposes, parts.

Owns these operations. Imports the expressions of operations and their values. Invariant: each is a sum of products over
the arrays of its operands, brought into structure again; nothing goes through a dense tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.compressed import operations
from einsumad.compressed.forms import slot_of, transposed
from einsumad.compressed.terms import total_of
from einsumad.compressed.values import Structured, structured
from einsumad.graph import Node


def add(left: Structured, right: Structured) -> Structured:
    """The sum of two tensors of one shape."""
    mine, theirs, arrays = _beside(left, right)
    form = left.form
    node = total_of([*mine, *theirs], form.shape, np.result_type(form.dtype, right.form.dtype))
    return structured(node, arrays, form.rows, form.symmetric and right.form.symmetric)


def multiply(left: Structured, right: Structured, symmetric: bool = False) -> Structured:
    """The product: the columns of the left meet the rows of the right."""
    mine, theirs, arrays = _beside(left, right)
    first, second = left.form, right.form
    shape = (*first.shape[: first.rows], *second.shape[second.rows :])
    nodes = operations.product(mine, theirs, first.rows, second.rows)
    node = total_of(nodes, shape, np.result_type(first.dtype, second.dtype))
    return structured(node, arrays, first.rows, symmetric)


def scale(tensor: Structured, number: float) -> Structured:
    """The tensor times a number, which is kept as an array: another number finds the same plan."""
    form, position = tensor.form, len(tensor.arrays)
    if number in (1, -1):
        nodes = operations.scaled(form, int(number))
        return structured(total_of(nodes, form.shape, form.dtype), tensor.arrays, form.rows, form.symmetric)
    nodes = operations.times(form, slot_of(position, (), form.dtype))
    arrays = [*tensor.arrays, np.asarray(number, form.dtype)]
    return structured(total_of(nodes, form.shape, form.dtype), arrays, form.rows, form.symmetric)


def transpose(tensor: Structured) -> Structured:
    """The tensor with the columns as rows."""
    return Structured(transposed(tensor.form), tensor.arrays)


def restrict(tensor: Structured, places: Sequence[int | tuple[int, int, int]]) -> Structured:
    """The part at an index, or at ``(start, step, count)``, for each axis."""
    form = tensor.form
    rows = sum(not isinstance(place, int) for place in places[: form.rows])
    square = list(places[: form.rows]) == list(places[form.rows :])
    return structured(operations.restricted(form, places), tensor.arrays, rows, form.symmetric and square)


def diagonal(tensor: Structured) -> np.ndarray:
    """The entries whose row and column are the same, in the shape of the rows."""
    return np.asarray(tensor.compute([operations.diagonal(tensor.form)])[0])


def with_rows(tensor: Structured, rows: int) -> Structured:
    """The same tensor with another number of axes as rows."""
    return structured(tensor.form.node, tensor.arrays, rows)


def identity(shape: Sequence[int], dtype: np.dtype) -> Structured:
    """``δ[i,k] δ[j,l] …`` over rows and columns of this shape."""
    return structured(operations.identity(tuple(shape), dtype), (), len(shape), symmetric=True)


def _beside(left: Structured, right: Structured) -> tuple[list[Node], list[Node], list[Any]]:
    """The terms of both over the slots of both; an array that both have is one."""
    arrays = list(left.arrays)
    places = {id(array): position for position, array in enumerate(arrays)}
    at: dict[int, int] = {}
    for position, array in enumerate(right.arrays):
        if id(array) not in places:
            places[id(array)] = len(arrays)
            arrays.append(array)
        at[position] = places[id(array)]
    mine = operations.over_slots(left.form, {k: k for k in range(len(left.arrays))})
    return mine, operations.over_slots(right.form, at), arrays
