"""Order statistics over the last axis: sorting, partitions, and the places of entries in the order.

Owns these rows. Imports the catalogue and graph spelling. Invariant: equal entries share the derivative of the places
that they take equally, as those of a maximum do; no matrix of a permutation is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, apply, call, register_general
from einsumad.functions.general.local import axes_of, last_axis, term, volume
from einsumad.graph import General, Node, Params, Shape, selection

Array = np.ndarray[Any, Any]
_INDEX = np.dtype(np.int64)


def _infer_same(operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
    last_axis("sort", operands[0])
    return operands[0].shape, operands[0].dtype


def _infer_places(operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
    last_axis("argsort", operands[0])
    return operands[0].shape, _INDEX


def _infer_place(operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
    batch, size = last_axis("argmax", operands[0])
    if not size:
        raise ShapeError(f"a largest or smallest entry does not exist: the last axis of {operands[0].shape} is empty")
    return batch, _INDEX


def _cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    size = shapes[0][-1]
    return 4 * volume(shapes[0]) * max(size.bit_length(), 1)


def _sorted_jacobian(node: General, position: int) -> tuple[Node, ...]:
    """``J[b k, b' i] = [y[b k] = x[b' i]] / count[b k] delta[b b']``, y the sorted entries and count those equal to it.

    Written with the first place g that the entries equal to a given one take in the order: ``[y = x]`` is
    ``sum_g [g = place(y)] [g = place(x)]``, two selections. No second derivative.
    """
    x = node.operands[0]
    axes = axes_of(node, position, len(node.shape) - 1)
    place = max((*axes.out, *axes.into)) + 1
    size = node.shape[-1]
    taken, given = (selection(call("tie_place", operand), size, node.dtype) for operand in (node, x))
    share = apply("reciprocal", call("tie_count", node))
    factors = [
        (share, (*axes.batch, *axes.out)),
        (taken, (*axes.batch, *axes.out, place)),
        (given, (*axes.into_batch, *axes.into, place)),
    ]
    return (term(node, axes, factors),)


def _no_jacobian(_node: General, _position: int) -> tuple[Node, ...]:
    return ()


def sort(x: Array) -> Array:
    """The entries in ascending order, NaN last."""
    return np.sort(x, axis=-1)


def partition(x: Array, *places: int) -> Array:
    """The entries with those at some places where sorting puts them, smaller ones before and larger ones behind."""
    return np.partition(x, places, axis=-1)


def _ties(x: Array) -> tuple[Array, Array, Array]:
    """The stable order, and for each sorted entry where the run of those equal to it starts and ends."""
    order = np.argsort(x, axis=-1, kind="stable")
    ascending = np.take_along_axis(x, order, -1)
    left, right = ascending[..., :-1], ascending[..., 1:]
    differs = ~((left == right) | ((left != left) & (right != right)))  # noqa: PLR0124 - NaN, in any dtype
    place = np.arange(x.shape[-1])
    first = np.zeros(x.shape, _INDEX)
    first[..., 1:] = np.where(differs, place[1:], 0)
    end = np.full(x.shape, x.shape[-1], _INDEX)
    end[..., :-1] = np.where(differs, place[1:], x.shape[-1])
    return order, np.maximum.accumulate(first, axis=-1), np.minimum.accumulate(end[..., ::-1], axis=-1)[..., ::-1]


def tie_place(x: Array) -> Array:
    """For each entry the first place in the order that it and those equal to it take."""
    order, first, _ = _ties(x)
    result = np.empty(x.shape, _INDEX)
    np.put_along_axis(result, order, first, -1)
    return result


def tie_count(x: Array) -> Array:
    """For each entry the number of those equal to it, itself included."""
    order, first, end = _ties(x)
    result = np.empty_like(x)
    np.put_along_axis(result, order, (end - first).astype(x.dtype), -1)
    return result


def argsort(x: Array, stable: int = 0) -> Array:
    """The places of the entries in ascending order, NaN last; equal ones as they stand if the parameter is 1."""
    return np.argsort(x, axis=-1, kind="stable" if stable else None)


def argmax(x: Array) -> Array:
    """The place of the first largest entry, or of the first NaN."""
    return np.asarray(np.argmax(x, axis=-1))


def argmin(x: Array) -> Array:
    """The place of the first smallest entry, or of the first NaN."""
    return np.asarray(np.argmin(x, axis=-1))


for _name, _kernel in (("sort", sort), ("partition", partition)):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer_same,
            jacobian=_sorted_jacobian,
            kernel=_kernel,
            cost=_cost,
            symbol=_name,
            domain="all numbers",
            doc=f"{_kernel.__doc__} {_sorted_jacobian.__doc__}",
        )
    )
register_general(
    GeneralFunction(
        name="tie_count",
        arity=1,
        infer=_infer_same,
        jacobian=_no_jacobian,
        kernel=tie_count,
        cost=_cost,
        symbol="tie_count",
        domain="all numbers",
        doc=f"{tie_count.__doc__} Piecewise constant: derivative 0.",
    )
)
for _name, _kernel, _infer in (
    ("tie_place", tie_place, _infer_places),
    ("argsort", argsort, _infer_places),
    ("argmax", argmax, _infer_place),
    ("argmin", argmin, _infer_place),
):
    register_general(
        GeneralFunction(
            name=_name,
            arity=1,
            infer=_infer,
            jacobian=_no_jacobian,
            kernel=_kernel,
            cost=_cost,
            symbol=_name,
            domain="all numbers",
            doc=f"{_kernel.__doc__} An index: it has no derivative.",
            gives_index=True,
        )
    )
