"""The reference interpreter: slow and obvious, the oracle that everything else is compared with.

Owns a second, independent meaning of every node kind. Imports the graph and the rows of the catalogue; shares
no code with lowering. Invariant: a product is the whole index space written out, multiplied, selected by its
masks and 0/1 tensors, and only then summed. With ``exact`` all numbers are Python integers and fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import InternalError, ShapeError
from einsumad.functions import general_function, value_function
from einsumad.graph import (
    BOOL,
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
    topological,
)

Array: TypeAlias = np.ndarray[Any, Any]


def evaluate(roots: Sequence[Node], values: Mapping[Leaf, Any], exact: bool = False) -> list[Array]:
    """The values of the roots, given those of the leaves.

    With `exact`, values are integers or :class:`~fractions.Fraction` and the results are object arrays of
    such; functions that leave the rational numbers raise ``TypeError``.
    """
    found: dict[Node, Array] = {}
    with np.errstate(all="ignore"):
        for node in topological(roots):
            found[node] = _value(node, [found[operand] for operand in node.operands], values, exact)
    return [found[root].copy() for root in roots]


def _value(node: Node, operands: list[Array], values: Mapping[Leaf, Any], exact: bool) -> Array:
    match node:
        case Leaf():
            result = _leaf(node, values[node], exact)
        case Structural():
            result = _numbers(_truth(node, operands), node.dtype, exact)
        case Einsum():
            result = _product(node, operands, exact)
        case Add():
            result = _sum(node, operands, exact)
        case Elementwise():
            result = _elementwise(node, operands, exact)
        case General() if not exact:
            result = general_function(node.function).kernel(*operands, *node.params)
        case _:
            raise TypeError(f"{type(node).__name__} has no exact value: evaluate it in floating point")
    result = np.asarray(result)
    if result.shape != node.shape:
        raise InternalError(f"a {type(node).__name__} of shape {node.shape} has shape {result.shape}")
    return result if exact and node.dtype != BOOL else result.astype(node.dtype)


def _leaf(node: Leaf, value: Any, exact: bool) -> Array:
    array = np.array(value)
    if array.shape != node.shape:
        raise ShapeError(f"leaf {node.name or node.key} has shape {node.shape}, its value {array.shape}")
    if node.dtype == BOOL or not exact:
        return array.astype(node.dtype)
    if array.dtype.kind == "f":
        return _over(lambda x: Fraction(x.item()), array)
    return array.astype(object)


def _numbers(truth: Array, dtype: Any, exact: bool) -> Array:
    """A 0/1 tensor as numbers of the dtype."""
    return truth.astype(int).astype(object) if exact and dtype != BOOL else truth.astype(dtype)


def _truth(node: Structural, operands: Sequence[Array]) -> Array:
    """Where a structural tensor is one."""
    grid = np.indices(node.shape, sparse=True)
    everywhere = np.ones(node.shape, bool)
    match node:
        case Ones():
            return everywhere
        case Zero():
            return ~everywhere
        case Unit():
            for axis in grid[1:]:
                everywhere = everywhere & (axis == grid[0])
            return everywhere
        case Affine():
            target = node.offset + sum(step * axis for step, axis in zip(node.strides, grid[1:], strict=True))
            return np.asarray(everywhere & (grid[0] == target))
        case Selection():
            return np.asarray(everywhere & (operands[0][..., None] == grid[-1]))
    raise InternalError(f"no meaning for {type(node).__name__}")


def _product(node: Einsum, operands: Sequence[Array], exact: bool) -> Array:
    """Multiply over the whole index space, select, sum."""
    sizes: dict[int, int] = dict(enumerate(node.shape))
    for operand, labels in zip(node.operands, node.inputs, strict=True):
        sizes.update(zip(labels, operand.shape, strict=True))
    space = tuple([sizes[label] for label in range(len(sizes))])
    grid = np.indices(space, sparse=True)
    summed = tuple(range(len(node.shape), len(space)))
    work = np.result_type(node.dtype, *[o.dtype for o in node.operands if o.dtype != BOOL])
    number = np.dtype(object) if exact else work
    product = np.full(space, _coefficient(node, exact), number)
    selected = np.ones(space, bool)
    for operand, value, labels in zip(node.operands, operands, node.inputs, strict=True):
        where = tuple([grid[label] for label in labels])
        if isinstance(operand, Structural) or operand.dtype == BOOL:
            selected = selected & (value[where] != 0)
        else:
            product = np.asarray(product * value[where], number)
    if node.dtype == BOOL:
        return np.asarray(selected.any(axis=summed) if summed else selected)
    product = np.where(selected, product, np.zeros((), number))
    return np.asarray(product.sum(axis=summed, dtype=number) if summed else product, number)


def _coefficient(node: Einsum, exact: bool) -> Any:
    if node.dtype.kind in "iu" and not isinstance(node.coefficient, int):
        raise InternalError(f"a product of dtype {node.dtype} has the coefficient {node.coefficient}")
    return Fraction(node.coefficient) if exact and not isinstance(node.coefficient, int) else node.coefficient


def _sum(node: Add, operands: Sequence[Array], exact: bool) -> Array:
    work: Any = object
    if not exact:
        work = np.result_type(node.dtype, *[o.dtype for o in node.operands])
    result = operands[0].astype(work)
    for operand in operands[1:]:
        result = result + operand.astype(work)
    return np.asarray(result)


def _elementwise(node: Elementwise, operands: Sequence[Array], exact: bool) -> Array:
    if exact:
        function = _RATIONAL.get(node.function)
        if function is None:
            raise TypeError(f"{node.function} leaves the rational numbers: evaluate it in floating point")
        result = _over(lambda *entries: function(*entries, *node.params), *operands)
        return result.astype(bool) if node.dtype == BOOL else result
    return np.asarray(value_function(node.function, node.params, len(operands))(*operands))


def _over(function: Callable[..., Any], *arrays: Array) -> Array:
    """The function of each entry, as an object array."""
    result = np.empty(arrays[0].shape, object)
    for position in np.ndindex(result.shape):
        result[position] = function(*[array[position] for array in arrays])
    return result


def _power(x: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int):
        raise TypeError(f"the power {exponent} leaves the rational numbers: evaluate it in floating point")
    return x**exponent if exponent >= 0 else Fraction(1) / x**-exponent


_RATIONAL: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "equal": lambda x, y: x == y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_not": lambda x: not x,
    "logical_or": lambda x, y: bool(x) or bool(y),
    "maximum": max,
    "maximum_constant": max,
    "minimum": min,
    "minimum_constant": min,
    "not_equal": lambda x, y: x != y,
    "power": _power,
    "reciprocal": lambda x: Fraction(1) / x,
    "relu": lambda x: max(x, 0),
    "sign": lambda x: (x > 0) - (x < 0),
    "square": lambda x: x * x,
}
"""Functions that map rational numbers to rational numbers, for exact evaluation."""
