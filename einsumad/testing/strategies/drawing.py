"""The one way in which the strategies of this folder draw.

Owns codes: numbers from 0 to 255, drawn in blocks of bytes. Imports NumPy and Hypothesis only. Invariant: code 0 stands
for the simplest choice everywhere, and what a code means does not depend on the number of codes drawn before it. So
examples shrink code by code, Hypothesis can copy one block over another without putting later ones out of step, and an
array costs one draw and not one for each entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
from hypothesis import strategies as st

Array: TypeAlias = np.ndarray[Any, Any]
Shape: TypeAlias = tuple[int, ...]
Sides: TypeAlias = "int | Sequence[int] | st.SearchStrategy[Any]"
Choice = TypeVar("Choice")

CODES = 256
PRESENT = 96
_SMALL, _LARGE = 16, 64
_MOST_CODES_DRAWN = 512


class ShownAsText:
    """A record that a falsifying example shows as its ``repr``, not field by field."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        for position, line in enumerate(repr(self).splitlines()):
            if position:
                printer.break_()
            printer.text(line)


_BLOCKS = {size: st.binary(min_size=size, max_size=size) for size in (_SMALL, _LARGE)}


def codes(draw: st.DrawFn, count: int) -> bytes:
    """Draw so many codes. They come in blocks of 16, for more than 64 codes in blocks of 64.

    Blocks of few sizes are what Hypothesis can exchange for one another. A block is read from its end: shrinking sorts
    the bytes of a block, so what cannot be zero moves to the first places, and the places behind can go. Beyond 512
    codes a pseudorandom generator writes them, seeded by eight drawn ones: so large an array is never read entry by
    entry. The seed 0 gives zeros.
    """
    if count > _MOST_CODES_DRAWN:
        seed = int.from_bytes(codes(draw, 8), "big")
        return np.random.default_rng(seed).bytes(count) if seed else bytes(count)
    size = _SMALL if count <= _LARGE else _LARGE
    block = _BLOCKS[size]
    if count <= size:
        return draw(block)[::-1][:count]
    return b"".join([draw(block)[::-1] for _ in range(-(-count // size))])[:count]


def coded(code: int, choices: Sequence[Choice]) -> Choice:
    """The choice that a code from 0 to 255 stands for; of more than 256 choices some are never made.

    >>> coded(0, "abc"), coded(100, "abc"), coded(255, "abc")
    ('a', 'b', 'c')
    """
    return choices[code * len(choices) >> 8]


def rare(code: int, odds: int) -> bool:
    """Whether a code from 0 to 255 is among the last one in so many."""
    return code >= CODES - CODES // odds


def present(code: int) -> bool:
    """Whether a code lets something that may be left out be there: five of eight do, and 0 does not."""
    return code >= PRESENT


def rescaled(code: int, low: int = PRESENT, high: int = CODES) -> int:
    """Stretch the codes from `low` up to `high` over all codes; what lies outside gets the first or the last one.

    Without bounds: what a code that lets something be there says about it; 0 if it is there anyway.

    >>> rescaled(0), rescaled(96), rescaled(255), rescaled(200, 0, 100)
    (0, 0, 254, 255)
    """
    return min(CODES - 1, max(0, code - low) * CODES // (high - low))


def coded_shape(axes: Sequence[int], sides: Sequence[int], min_dims: int = 0) -> Shape:
    """The shape of the axes that are present, or that are needed to have `min_dims`; one code an axis.

    >>> coded_shape([0, 255, 96], (1, 2, 3)), coded_shape([0, 0, 255], (1, 2, 3), min_dims=2)
    ((3, 1), (1, 3))
    """
    left_out = [place for place, code in enumerate(axes) if not present(code)]
    left_out = left_out[max(0, min_dims - len(axes) + len(left_out)) :]
    return tuple([coded(rescaled(code), sides) for place, code in enumerate(axes) if place not in left_out])


def drawn_shape(draw: st.DrawFn, sides: Sides) -> Shape:
    """The shape that an integer, a tuple of integers or a strategy for one of them stands for."""
    given: Any = draw(sides) if isinstance(sides, st.SearchStrategy) else sides
    shape = (given,) if isinstance(given, (int, np.integer)) else tuple(given)
    return tuple([int(side) for side in shape])


def check_sides(sides: object, owner: str) -> None:
    """Refuse at once what cannot be a shape; what a strategy draws is known only later."""
    if isinstance(sides, st.SearchStrategy):
        return
    shape = sides if isinstance(sides, (tuple, list)) else (sides,)
    if not all(isinstance(side, (int, np.integer)) and side >= 0 for side in shape):
        raise ValueError(
            f"{owner}: {sides!r} is no shape: give a whole number, a tuple such as (2, 3), or a strategy for shapes"
        )
