"""Places found by comparing: where values stand in a sorted array, and where a partition takes its entries from.

Owns these rows. Imports the catalogue. Invariant: a place is an integer, which has no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.errors import ShapeError
from einsumad.functions.catalogue import GeneralFunction, register_general
from einsumad.functions.general.local import last_axis, volume
from einsumad.graph import General, Node, Params, Shape

Array = np.ndarray[Any, Any]
_INDEX = np.dtype(np.int64)


def _infer_search(operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
    rows, values = operands
    if last_axis("searchsorted", rows)[0] != last_axis("searchsorted", values)[0]:
        raise ShapeError(f"searchsorted of shapes {rows.shape} and {values.shape}: all axes but the last must be equal")
    return values.shape, _INDEX


def _infer_partition(operands: tuple[Node, ...], _params: Params) -> tuple[Shape, np.dtype[Any]]:
    last_axis("argpartition", operands[0])
    return operands[0].shape, _INDEX


def _no_jacobian(_node: General, _position: int) -> tuple[Node, ...]:
    return ()


def searchsorted(rows: Array, values: Array, right: int = 0) -> Array:
    """How many entries of the ascending rows are below each value; with the parameter 1 equal ones too."""
    result = np.empty(values.shape, _INDEX)
    for place in np.ndindex(rows.shape[:-1]):
        result[place] = np.searchsorted(rows[place], values[place], "right" if right else "left")
    return result


def argpartition(x: Array, *places: int) -> Array:
    """Where a partition at some places takes its entries from."""
    return np.argpartition(x, places, axis=-1)


def _search_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[1]) * max(shapes[0][-1].bit_length(), 1)


def _partition_cost(shapes: tuple[Shape, ...], _params: Params) -> int:
    return 4 * volume(shapes[0])


register_general(
    GeneralFunction(
        name="searchsorted",
        arity=2,
        infer=_infer_search,
        jacobian=_no_jacobian,
        kernel=searchsorted,
        cost=_search_cost,
        symbol="searchsorted",
        domain="numbers in ascending order along the last axis, and any numbers",
        doc=f"{searchsorted.__doc__} A place: it has no derivative.",
        gives_index=True,
    )
)
register_general(
    GeneralFunction(
        name="argpartition",
        arity=1,
        infer=_infer_partition,
        jacobian=_no_jacobian,
        kernel=argpartition,
        cost=_partition_cost,
        symbol="argpartition",
        domain="all numbers",
        doc=f"{argpartition.__doc__} An index: it has no derivative.",
        gives_index=True,
    )
)
