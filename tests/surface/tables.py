"""Specs of functions that work entry by entry, from tables: for each operand where it lies.

An interval is that of an operand which is differentiated; a list holds the values of one that is plain, such as an
order. Operands broadcast against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from einsumad.scipy import special
from tests.surface.drawing import Drawer, Shape
from tests.surface.specs import Call, spec

Interval: TypeAlias = tuple[float, float]
Place: TypeAlias = Interval | list[float]


def entrywise(function: Callable[..., Any], places: Sequence[Place], d: Drawer) -> Call:
    """A call with operands in these places, one of them of the full shape."""
    shape, full = d.shape(), d.integer(0, len(places) - 1)
    shapes = [shape if k == full else d.broadcast(shape) for k in range(len(places))]
    plain = {
        k: _plain(place, each, d)
        for k, (place, each) in enumerate(zip(places, shapes, strict=True))
        if _is_plain(place)
    }
    operands = tuple([d.operand(shapes[k], *place) for k, place in enumerate(places) if k not in plain])

    def f(*traced: Any) -> Any:
        following = iter(traced)
        return function(*[plain[k] if k in plain else next(following) for k in range(len(places))])

    return f, operands


def _is_plain(place: Place) -> bool:
    return isinstance(place, list)


def _plain(values: Sequence[Any], shape: Shape, d: Drawer) -> Any:
    """One of the values, or an array of several."""
    if d.integer(0, 1):
        return d.choice(*values)
    return np.array(values)[d.rng.integers(0, len(values), shape)]


def enter(table: Mapping[str, Sequence[Place]], dtypes: str = "fi", what: str = "", accuracy: float = 0.0) -> None:
    """Enter a spec for each function of scipy.special in the table."""
    for name, places in table.items():
        spec(f"scipy.special.{name}{what}", dtypes, accuracy=accuracy)(
            partial(entrywise, getattr(special, name), places)
        )
