"""Orders and degrees: operands of a function that have to be plain numbers or arrays.

Owns the choice of a row's parameters by the entries of such operands. Imports promotion, broadcasting and the graph.
Invariant: a traced order is refused, never taken as a constant; for an array of orders the result is the sum over its
distinct entries of the function of that order, selected by masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import TracingError
from einsumad.frontend.broadcasting import broadcast_shape, product, spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node
from einsumad.frontend.tensor import Tensor
from einsumad.graph import Node, total, zero

Parameters: TypeAlias = tuple[int | float, ...]
_MOST_DISTINCT = 64  # as its limit says


def plain(name: str, what: str, value: Any, whole: bool = False) -> np.ndarray:
    """The operand as an array of finite numbers, whole ones if asked for."""
    if isinstance(value, Tensor):
        raise TracingError(
            f"{name} has no rule for its {what}, which was given as a traced value: give it as a plain number or array"
        )
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or not np.all(np.isfinite(array)):
        raise TracingError(f"{name} is supported for finite real numbers as its {what}, got {value!r}")
    if whole and np.any(array != np.floor(array)):
        raise TracingError(f"{name} is supported for whole numbers as its {what}, got {value!r}")
    return array


def at_least_zero(name: str, orders: np.ndarray) -> None:
    """Refuse negative orders."""
    if np.any(orders < 0):
        raise refused(name, "of an order or a degree below 0")


def number_of(value: Any) -> int | float:
    """The entry as a Python number: whole ones as integers."""
    real = float(value)
    return int(real) if real.is_integer() else real


def selected(
    name: str, parameters: Sequence[np.ndarray], operand: Node, build: Callable[[Node, Parameters], Node]
) -> Node:
    """The function of the operand whose parameters are the entries of the arrays, all broadcast against each other."""
    if all(array.ndim == 0 for array in parameters):
        return build(operand, tuple([number_of(array) for array in parameters]))
    arrays = np.broadcast_arrays(*parameters)
    shape = broadcast_shape(arrays[0].shape, operand.shape)
    found = np.unique(np.stack([array.ravel() for array in arrays]).astype(float), axis=1).T
    if len(found) > _MOST_DISTINCT:
        raise refused(name, "of more than 64 different orders")
    terms = []
    for entry in found:
        node = build(operand, tuple([number_of(value) for value in entry]))
        mask = np.all([array == value for array, value in zip(arrays, entry, strict=True)], axis=0)
        terms.append(spread(product([as_node(mask), node], node.dtype), shape))
    return total(*terms) if terms else zero(shape, build(operand, (1,) * len(arrays)).dtype)
