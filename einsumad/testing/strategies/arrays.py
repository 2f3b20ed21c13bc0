"""Arrays for gradient tests.

Owns shapes and float arrays. Imports NumPy and Hypothesis only. Invariant: unless asked for, no entry is NaN, infinite
or subnormal, and every entry is a short number of magnitude 0 or 1/16 to 16, so that differences are well scaled and a
falsifying example can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from einsumad.testing.strategies.drawing import Shape, Sides, check_sides, coded_shape, codes, drawn_shape
from einsumad.testing.strategies.namespaces import float_dtype, to_namespace
from einsumad.testing.strategies.tables import Kink, Table, special_names, table


def shapes(
    min_dims: int = 0, max_dims: int = 3, *, max_side: int = 3, size1: bool = True, empty: bool = False
) -> st.SearchStrategy[Shape]:
    """Shapes with `min_dims` to `max_dims` axes, of sizes up to `max_side`.

    ``size1`` lets axes of size 1 occur, ``empty`` axes of size 0. Shrinks to few axes of the smallest size.

    >>> from hypothesis import find
    >>> find(shapes(empty=True), lambda shape: 0 in shape[1:])
    (1, 0)
    """
    if not 0 <= min_dims <= max_dims:
        raise ValueError(f"min_dims={min_dims} and max_dims={max_dims}: give 0 <= min_dims <= max_dims")
    sides = (*([1] if size1 else []), *range(2, max_side + 1), *([0] if empty else []))
    if not sides:
        raise ValueError(f"max_side={max_side} leaves no size: raise it, or allow size1=True")
    return _shapes(min_dims, max_dims, sides)


@st.composite
def _shapes(draw: st.DrawFn, min_dims: int, max_dims: int, sides: tuple[int, ...]) -> Shape:
    return coded_shape(codes(draw, max_dims), sides, min_dims)


def floats(
    shape: Sides = (),
    dtype: Any = np.float64,
    *,
    low: float | None = None,
    high: float | None = None,
    integers: bool = False,
    special: Sequence[str | float] = (),
    away_from: Sequence[Kink] = (),
    margin: float = 0.25,
    xp: Any | None = None,
) -> st.SearchStrategy[Any]:
    """Float arrays with short, well scaled entries.

    ``shape`` is a whole number, a tuple or a strategy for one of them, ``dtype`` is float16, float32 or float64.
    Entries lie between ``low`` and ``high``, both included: -16 and 16 unless given, half of them between -4 and 4.
    With ``integers`` they are small whole numbers, -4 to 4 unless given, for tests without rounding. A quarter of the
    entries are ``special`` ones if there are any: names of "nan", "inf", "zero", "large", "tiny", "subnormal" (each
    with both signs), or numbers. ``away_from`` are functions that vanish at kinks, such as ``lambda x: np.abs(x) - 1``,
    applied entry by entry: their magnitude is at least ``margin`` at every entry (NaN excepted). ``xp`` is the
    namespace of the arrays, NumPy unless given. Shrinks to zeros, or the shortest numbers within the bounds.

    >>> from hypothesis import find
    >>> find(floats((2, 2)), lambda x: x[0, 1] < -1)
    array([[ 0., -2.],
           [ 0.,  0.]])
    """
    check_sides(shape, "floats")
    found = float_dtype(dtype)
    names = special_names(special)
    entries = table(found, low, high, integers=integers, special=names, kinks=tuple(away_from), margin=margin)
    return entries_of(shape, entries, xp)


@st.composite
def entries_of(draw: st.DrawFn, shape: Sides, entries: Table, xp: Any | None) -> Any:
    """Arrays whose entries come from a table."""
    return to_namespace(array_of(draw, entries, drawn_shape(draw, shape)), xp)


def array_of(draw: st.DrawFn, entries: Table, shape: Shape) -> np.ndarray[Any, Any]:
    """A NumPy array whose entries come from a table."""
    return entries.take(codes(draw, prod(shape))).reshape(shape)
