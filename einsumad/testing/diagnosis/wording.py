"""How causes speak of entries, numbers and axes.

Owns this wording. Imports the evidence. Invariant: a text names at most a few entries, whatever the size of the array.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from einsumad.testing.diagnosis.evidence import Array

_SHOWN = 4
_LARGEST_DENOMINATOR = 12
_SHARP = 1e-4

CONSTANTS: tuple[tuple[str, float], ...] = (
    ("pi", np.pi),
    ("2 pi", 2 * np.pi),
    ("pi/2", np.pi / 2),
    ("4 pi", 4 * np.pi),
    ("sqrt(2)", np.sqrt(2)),
    ("sqrt(3)", np.sqrt(3)),
    ("sqrt(pi)", np.sqrt(np.pi)),
    ("sqrt(pi)/2", np.sqrt(np.pi) / 2),
    ("2/sqrt(pi)", 2 / np.sqrt(np.pi)),
    ("sqrt(2 pi)", np.sqrt(2 * np.pi)),
    ("sqrt(pi/2)", np.sqrt(np.pi / 2)),
    ("e", np.e),
)


def entries(mask: Array) -> str:
    """The marked entries: where they all lie if they have that in common, else the first few of them."""
    marked = np.argwhere(mask)
    if mask.size == 1:
        return "the only entry"
    if len(marked) == mask.size:
        return "all entries"
    together = common_place(mask)
    if together:
        return together
    shown = ", ".join([index(position) for position in marked[:_SHOWN]])
    more = len(marked) - _SHOWN
    return f"{'entry' if len(marked) == 1 else 'entries'} {shown}{f' and {more} more' if more > 0 else ''}"


def index(position: Sequence[int] | Array) -> str:
    """A position as a subscript."""
    return "[" + ", ".join([str(int(k)) for k in position]) + "]"


def common_place(mask: Array) -> str:
    """A slice or diagonal that consists of exactly the marked entries, as text; "" if there is none."""
    for axis in range(mask.ndim):
        other = tuple([k for k in range(mask.ndim) if k != axis])
        some, every = np.any(mask, axis=other), np.all(mask, axis=other)
        if mask.ndim > 1 and np.array_equal(some, every) and np.any(some):
            return _slices(np.flatnonzero(some), axis, mask.ndim)
    if mask.ndim == 2 and mask.shape[0] == mask.shape[1] > 1:
        diagonal = np.eye(mask.shape[0], dtype=bool)
        for place, name in ((diagonal, "the diagonal"), (~diagonal, "all entries off the diagonal")):
            if np.array_equal(mask, place):
                return name
    return ""


def _slices(places: Array, axis: int, ndim: int) -> str:
    noun = ("row", "column")[axis] if ndim == 2 else f"axis {axis} index"
    shown = ", ".join([str(int(k)) for k in places[:_SHOWN]])
    more = len(places) - _SHOWN
    plural = "" if len(places) == 1 else " places" if ndim > 2 else "s"
    return f"{noun}{plural} {shown}{f' and {more} more' if more > 0 else ''}"


def number(value: complex) -> str:
    """A number with the digits that help to recognise it."""
    value = complex(value)
    return f"{value.real:.6g}" if abs(value.imag) <= 1e-9 * abs(value) else f"({value:.6g})"


def recognised(value: complex, uncertainty: float) -> str:
    """The name of a number: a constant, its reciprocal or a simple fraction; "" if it is none of these."""
    value = complex(value)
    if abs(value.imag) > uncertainty:
        return ""
    size, sign = abs(value.real), "-" if value.real < 0 else ""
    for name, constant in CONSTANTS:
        for text, known in ((name, constant), (f"1/({name})", 1 / constant)):
            if abs(size - known) <= uncertainty:
                return sign + text
    if not 0.05 < size < 100 or uncertainty > _SHARP:
        return ""
    near = Fraction(size).limit_denominator(_LARGEST_DENOMINATOR)
    return sign + str(near) if abs(float(near) - size) <= uncertainty else ""
