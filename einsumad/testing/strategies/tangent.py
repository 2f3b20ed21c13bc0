"""Tangents and cotangents.

Owns the directions in which derivatives are tested. Imports NumPy and Hypothesis only. Invariant: a direction has norm
1, so a step along it has the length one says it has; a cotangent has no zero entry and its entries are never all
equal, let alone all one, because sums over the output cannot be told from the right derivative with such a cotangent
(a normalised output has the constant sum 0).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from einsumad.testing.strategies.arrays import array_of
from einsumad.testing.strategies.drawing import Array, Shape, Sides, check_sides, drawn_shape
from einsumad.testing.strategies.namespaces import float_dtype, namespace_of, to_namespace
from einsumad.testing.strategies.tables import Table, special_names, table


def directions(shape: Sides, dtype: Any = np.float64, *, xp: Any | None = None) -> st.SearchStrategy[Any]:
    """Arrays of Euclidean norm 1, in any direction; no entries, no norm.

    Shrinks to the first unit vector.

    >>> from hypothesis import find
    >>> find(directions(3), lambda v: True)
    array([1., 0., 0.])
    """
    check_sides(shape, "directions")
    return _directions(shape, float_dtype(dtype), xp)


def cotangents(shape: Sides, dtype: Any = np.float64, *, xp: Any | None = None) -> st.SearchStrategy[Any]:
    """Arrays to pull back: entries of magnitude 1/4 to 4, not zero, not all equal, and not 1 if there is only one.

    >>> from hypothesis import find
    >>> find(cotangents(3), lambda v: True)
    array([2., 1., 1.])
    """
    check_sides(shape, "cotangents")
    return _cotangents(shape, float_dtype(dtype), xp)


def tangents(*primals: Any) -> st.SearchStrategy[Any]:
    """Tangents at primals: same shapes, dtypes and namespaces, together of norm 1.

    One primal gives one array, several give a tuple. Primals without an ``__array_namespace__`` get NumPy arrays.

    >>> from hypothesis import find
    >>> find(tangents(np.float32(5), np.ones(2)), lambda v: v[0] and v[1][1])
    (array(0.70710677, dtype=float32), array([0.        , 0.70710678]))
    """
    if not primals:
        raise TypeError("tangents() needs the arrays at which the derivative is taken")
    return _tangents(primals)


@lru_cache(maxsize=8)
def _steps(dtype: np.dtype[Any]) -> Table:
    return table(dtype, -1.0, 1.0)


@lru_cache(maxsize=8)
def _weights(dtype: np.dtype[Any]) -> Table:
    return table(dtype, -4.0, 4.0, special=special_names((1.0, -1.0, 0.5, 2.0)), kinks=(_identity,))


def _identity(value: Array) -> Array:
    return value


@st.composite
def _directions(draw: st.DrawFn, shape: Sides, dtype: np.dtype[Any], xp: Any | None) -> Any:
    (direction,) = _unit(draw, (drawn_shape(draw, shape),), (dtype,))
    return to_namespace(direction, xp)


@st.composite
def _cotangents(draw: st.DrawFn, shape: Sides, dtype: np.dtype[Any], xp: Any | None) -> Any:
    array = array_of(draw, _weights(dtype), drawn_shape(draw, shape))
    flat = array.reshape(-1)
    if flat.size and (np.all(flat == flat[0]) if flat.size > 1 else flat[0] == 1):
        flat[0] = 2 if flat[0] == 1 else flat[0] / 2
    return to_namespace(array, xp)


@st.composite
def _tangents(draw: st.DrawFn, primals: tuple[Any, ...]) -> Any:
    shapes = tuple([tuple(np.shape(primal)) for primal in primals])
    dtypes = tuple([float_dtype(getattr(primal, "dtype", np.float64)) for primal in primals])
    found = [
        to_namespace(tangent, namespace_of(primal))
        for tangent, primal in zip(_unit(draw, shapes, dtypes), primals, strict=True)
    ]
    return found[0] if len(found) == 1 else tuple(found)


def _unit(draw: st.DrawFn, shapes: tuple[Shape, ...], dtypes: tuple[np.dtype[Any], ...]) -> list[Array]:
    """Arrays that have norm 1 together; the first entry of all is 1 where all that was drawn is zero."""
    ends = np.cumsum([0, *[int(np.prod(shape, dtype=np.int64)) for shape in shapes]])
    together = array_of(draw, _steps(np.dtype(np.float64)), (int(ends[-1]),))
    norm = np.sqrt(together @ together)
    if norm:
        together = together / norm
    elif together.size:
        together[0] = 1.0
    return [
        together[start:end].reshape(shape).astype(dtype)
        for start, end, shape, dtype in zip(ends[:-1], ends[1:], shapes, dtypes, strict=True)
    ]
