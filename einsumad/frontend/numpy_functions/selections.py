"""Choosing between values: where, maximum, minimum, clip.

Owns these functions. Imports the registry, promotion and broadcasting. Invariant: a condition is a mask, a
factor that selects; the branch not taken never contributes, not even as 0 times infinity.
"""

# ruff: noqa: A002 (handlers have the signatures of the NumPy functions)
from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.frontend.broadcasting import broadcast_shape, constant_of, product, spread
from einsumad.frontend.coverage.limits import refused
from einsumad.frontend.lifting import as_node
from einsumad.frontend.numpy_functions.elementwise import row
from einsumad.frontend.promotion import common_operands, in_dtype, ufunc_operands
from einsumad.frontend.registry import arrays_are_nodes, implements, implements_ufunc, is_given, refuse_options
from einsumad.frontend.tensor import Tensor
from einsumad.functions import apply
from einsumad.graph import BOOL, Node, Ones, Zero, add


@implements(np.where)
@arrays_are_nodes(np.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Node:
    if x is None or y is None:
        raise refused("numpy.where", "of a condition alone")
    mask = in_dtype(as_node(condition), BOOL)
    (a, b), dtype = common_operands(x, y)
    shape = broadcast_shape(mask.shape, a.shape, b.shape)
    if isinstance(mask, (Ones, Zero)):
        return spread(a if isinstance(mask, Ones) else b, shape)
    if dtype == BOOL:
        return row("logical_or", row("logical_and", mask, a), row("logical_and", apply("logical_not", mask), b))
    other = apply("logical_not", mask)
    return add([product([mask, a], dtype, shape=shape), product([other, b], dtype, shape=shape)], dtype)


@implements_ufunc(np.maximum)
@arrays_are_nodes(np.maximum)
def _maximum(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    return _extremum(ufunc, "maximum", x, y)


@implements_ufunc(np.minimum)
@arrays_are_nodes(np.minimum)
def _minimum(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    return _extremum(ufunc, "minimum", x, y)


@implements_ufunc(np.fmax)
def _fmax(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    return _extremum(ufunc, "fmax", x, y)


@implements_ufunc(np.fmin)
def _fmin(ufunc: np.ufunc, x: Any, y: Any) -> Node:
    return _extremum(ufunc, "fmin", x, y)


def _extremum(ufunc: np.ufunc, name: str, x: Any, y: Any) -> Node:
    (a, b), dtype = ufunc_operands(ufunc, x, y)
    return _larger_or_smaller(name, a, b, dtype, constants=(_constant(x), _constant(y)))


def _larger_or_smaller(name: str, a: Node, b: Node, dtype: np.dtype, *, constants: tuple[bool, bool]) -> Node:
    """Against a constant the derivative at the kink is 0; between two traced values ties split equally."""
    if dtype == BOOL:
        return row("logical_or" if name in ("maximum", "fmax") else "logical_and", a, b)
    if constants == (False, False):
        return row(name, a, b, dtype=dtype)
    traced, constant = (b, a) if constants[0] else (a, b)
    return row(f"{name}_constant", traced, constant, dtype=dtype)


def _constant(x: Any) -> bool:
    return not isinstance(x, Tensor) or constant_of(x.node) is not None


@implements(np.clip)
def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **options: Any,
) -> Node:
    refuse_options("numpy.clip", out=out, **options)
    bounds = {"maximum": _given(a_min, min), "minimum": _given(a_max, max)}
    chosen = {name: bound for name, bound in bounds.items() if bound is not None}
    (result, *nodes), dtype = common_operands(a, *chosen.values())
    constant = _constant(a)
    for (name, bound), node in zip(chosen.items(), nodes, strict=True):
        result = _larger_or_smaller(name, result, node, dtype, constants=(constant, _constant(bound)))
        constant = constant and _constant(bound)
    return result


def _given(positional: Any, keyword: Any) -> Any:
    chosen = positional if is_given(positional) else keyword
    return chosen if is_given(chosen) else None
