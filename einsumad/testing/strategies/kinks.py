"""Points at kinks, near them and away from them, and arrays with ties.

Owns the strategies for points where a function has a kink. Imports NumPy and Hypothesis only. Invariant: what a name
promises (exactly at, at least a margin away, tied) holds for every example; nothing drawn is moved afterwards by
:func:`away_from_kinks`, so the structure of what the given strategy draws is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from einsumad.testing.strategies.arrays import array_of
from einsumad.testing.strategies.drawing import Sides, check_sides, coded, codes, drawn_shape
from einsumad.testing.strategies.namespaces import float_dtype, to_namespace
from einsumad.testing.strategies.tables import Kink, Table, far_from_kinks, special_names, table, table_of

_TRIES = 12
_TIED = 192  # a quarter of the codes make another entry of a lane take part in the tie


def away_from_kinks(strategy: st.SearchStrategy[Any], *kinks: Kink, margin: float = 0.25) -> st.SearchStrategy[Any]:
    """Examples of a strategy at which all values of the kink functions have a magnitude of `margin` or more.

    A kink function vanishes where the function under test has a kink: ``lambda x: x`` for abs and relu, ``lambda x, y:
    x - y`` for maximum. It is called with the example, or with all of its arrays if it is a tuple. Examples that are
    too near are drawn anew, up to twelve times; for kinks of single entries ``floats(..., away_from=...)`` leaves out
    the entries beforehand, which suits large arrays.

    >>> from hypothesis import find
    >>> from einsumad.testing.strategies import floats
    >>> find(away_from_kinks(floats(2), lambda x: x[1], margin=1), lambda x: x[1] > 0)
    array([0., 1.])
    """
    if not kinks:
        raise TypeError("away_from_kinks needs at least one function that vanishes at the kinks")
    return _away(strategy, kinks, margin)


def at_kinks(
    shape: Sides,
    values: Sequence[float] = (0.0,),
    dtype: Any = np.float64,
    *,
    low: float | None = None,
    high: float | None = None,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Arrays of which some entries are exactly one of the values; at least one entry is.

    The other entries are those of :func:`floats`.

    >>> from hypothesis import find
    >>> find(at_kinks(2, [1.5]), lambda x: x[0] == 0)
    array([0. , 1.5])
    """
    check_sides(shape, "at_kinks")
    found = float_dtype(dtype)
    kinks = special_names(_some(values, "at_kinks"))
    return _with(shape, table(found, low, high, special=kinks), table_of(found, kinks), xp)


def near_kinks(
    shape: Sides,
    values: Sequence[float] = (0.0,),
    dtype: Any = np.float64,
    *,
    distance: float | None = None,
    low: float | None = None,
    high: float | None = None,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Arrays of which some entries, at least one, are at a small distance from one of the values, on either side.

    The distance is the square root of the dtype's precision, relative to values beyond 1, unless it is given: nearer
    than the steps of finite differences are long, and no subnormal. Where the smallest distance cannot be told from the
    value itself, an error says so.

    >>> from hypothesis import find
    >>> find(near_kinks(1, [1], distance=0.001), lambda x: x > 1)
    array([1.001])
    """
    check_sides(shape, "near_kinks")
    found = float_dtype(dtype)
    near = []
    for value in _some(values, "near_kinks"):
        step = float(np.sqrt(np.finfo(found).eps)) * max(1.0, abs(value)) if distance is None else distance
        both = [float(found.type(value + step)), float(found.type(value - step))]
        if float(found.type(value)) in both:
            raise ValueError(f"distance={step:g} is lost at {value:g} in {found.name}: make it larger")
        near.extend(both)
    names = special_names(near)
    return _with(shape, table(found, low, high, special=names), table_of(found, names), xp)


def ties(
    shape: Sides,
    axis: int | None = None,
    extreme: Literal["max", "min"] = "max",
    dtype: Any = np.float64,
    *,
    low: float | None = None,
    high: float | None = None,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Arrays whose largest (or smallest) entry occurs at least twice: over all entries, or in every lane along an axis.

    The axis needs two entries or more; a shape where it has not raises ``ValueError``.

    >>> from hypothesis import find
    >>> find(ties(2), lambda x: x[1] > 1)
    array([2., 2.])
    """
    check_sides(shape, "ties")
    if extreme not in ("max", "min"):
        raise ValueError(f"extreme={extreme!r}: give 'max' or 'min'")
    return _ties(shape, axis, table(float_dtype(dtype), low, high), extreme=extreme, xp=xp)


def _some(values: Sequence[float], owner: str) -> list[float]:
    found = [float(value) for value in values]
    if not found or not np.all(np.isfinite(found)):
        raise ValueError(f"{owner}: values={values!r}: give one finite number or more, the places of the kinks")
    return found


@st.composite
def _away(draw: st.DrawFn, strategy: st.SearchStrategy[Any], kinks: tuple[Kink, ...], margin: float) -> Any:
    for _ in range(_TRIES):
        example = draw(strategy)
        if far_from_kinks(example if isinstance(example, tuple) else (example,), kinks, margin):
            return example
    return reject()


@st.composite
def _with(draw: st.DrawFn, shape: Sides, entries: Table, wanted: Table, xp: Any | None) -> Any:
    """Arrays of entries, at least one of which is a wanted one."""
    sides = drawn_shape(draw, shape)
    array = array_of(draw, entries, sides)
    if not array.size:
        raise ValueError(f"an array of shape {sides} has no entry that could be at a kink: leave out empty shapes")
    if not np.any(np.isin(array, wanted.entries)):
        place, value = codes(draw, 2)
        array.reshape(-1)[coded(place, range(array.size))] = wanted.take(bytes([value]))[0]
    return to_namespace(array, xp)


@st.composite
def _ties(draw: st.DrawFn, shape: Sides, axis: int | None, entries: Table, *, extreme: str, xp: Any | None) -> Any:
    sides = drawn_shape(draw, shape)
    array = array_of(draw, entries, sides)
    lanes = array.reshape(-1) if axis is None else np.moveaxis(array, axis, -1)
    length = lanes.shape[-1]
    if length < 2:
        raise ValueError(f"no two entries can be tied along axis {axis} of shape {sides}: it needs size 2 or more")
    first, second, *others = codes(draw, 2 + length)
    place = coded(first, range(length))
    tied = np.array(others) >= _TIED
    tied[[place, (place + 1 + coded(second, range(length - 1))) % length]] = True
    if lanes.size:
        lanes[...] = np.where(tied, getattr(lanes, extreme)(axis=-1, keepdims=True), lanes)
    return to_namespace(array, xp)
