"""Which numbers the entries of a drawn array can be.

Owns the tables of entries: 256 numbers each, simplest first, so that one byte chooses an entry. Imports NumPy only.
Invariant: the numbers of a table are inside its bounds, at least the margin away from every kink, short when printed
(multiples of powers of two, so exact in every dtype), and neither NaN, infinite nor subnormal unless asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, isfinite, log2
from typing import Any, TypeAlias

import numpy as np

from einsumad.testing.strategies.drawing import CODES, Array, ShownAsText

Kink: TypeAlias = Callable[..., Any]

SPECIAL = ("nan", "inf", "zero", "large", "tiny", "subnormal")
BOUND = 16.0
INTEGER_BOUND = 4.0
_SPECIAL_CODES = CODES // 4


@dataclass(frozen=True, slots=True, repr=False)
class Table(ShownAsText):
    """256 entries, of which a code chooses one; entries may occur several times."""

    entries: Array
    text: str

    def __repr__(self) -> str:
        return self.text

    def take(self, codes: bytes) -> Array:
        """Return the entries that the codes choose, as an array of its own."""
        return self.entries[np.frombuffer(codes, np.uint8)]


@lru_cache(maxsize=1024)
def table(
    dtype: np.dtype[Any],
    low: float | None = None,
    high: float | None = None,
    *,
    integers: bool = False,
    special: tuple[str, ...] = (),
    kinks: tuple[Kink, ...] = (),
    margin: float = 0.25,
) -> Table:
    """Return the table of entries between two bounds, special ones among them when asked for.

    >>> list(dict.fromkeys(table(np.dtype(float), -2, 2).entries.tolist()))[:8]
    [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5]
    """
    first, last = bounds(low, high, INTEGER_BOUND if integers else BOUND)
    where = f"between {first:g} and {last:g}"
    numbers = _whole(first, last) if integers else _dyadic(first, last)
    values = _cast(numbers, dtype)
    wide = values.astype(np.float64)
    values = values[(wide >= first) & (wide <= last) & ~_subnormal(values)]
    if not values.size:
        kind = "whole number" if integers else f"short {dtype.name}"
        raise ValueError(f"there is no {kind} {where}: widen the bounds")
    values = _far(values, kinks, margin, where)
    extra = _far(_special(special, dtype), kinks, margin, where) if special else values[:0]
    text = f"<{values.size} {'whole numbers' if integers else 'numbers'} {where}{_named(special)}>"
    return Table(_spread(values, extra), text)


def table_of(dtype: np.dtype[Any], names: tuple[str, ...]) -> Table:
    """Return the table of just these special entries."""
    values = _special(names, dtype)
    return Table(_spread(values[:0], values), f"<{', '.join(name.removeprefix('=') for name in names)}>")


def bounds(low: float | None, high: float | None, reach: float) -> tuple[float, float]:
    """Return the two bounds; one that is missing lies `reach` from 0, and at least so far from the other one."""
    if low is None:
        low = -reach if high is None else min(-reach, high - reach)
    if high is None:
        high = max(reach, low + reach)
    if not (low <= high and isfinite(high - low)):
        raise ValueError(
            f"low={low!r} and high={high!r} are no bounds: give two finite numbers, the smaller one first; "
            "infinite and other special entries are asked for with special=('inf', ...)"
        )
    return float(low), float(high)


def far_from_kinks(arrays: Sequence[Any], kinks: Sequence[Kink], margin: float) -> bool:
    """Whether all values of all kink functions have at least the margin as their magnitude."""
    return not any(np.any(np.abs(np.asarray(kink(*arrays), np.float64)) < margin) for kink in kinks)


def simplicity(value: float) -> tuple[int, float]:
    """What entries of one sign are sorted by: whole numbers before halves and so on, then small ones.

    >>> sorted([0.5, 9.0, 0.0, 3.0, 1.5, 1.0], key=simplicity)
    [0.0, 1.0, 3.0, 9.0, 0.5, 1.5]
    """
    return value.as_integer_ratio()[1], abs(value)


def _dyadic(low: float, high: float) -> list[float]:
    """Multiples of powers of two: even steps, and small steps near zero."""
    if low == high:
        return [low]
    step = max(2.0 ** (floor(log2(high - low)) - 6), sys.float_info.min)
    even = [step * count for count in range(ceil(low / step), floor(high / step) + 1)]
    fine = [count / 8 for count in range(-32, 33)] + [-1 / 16, 1 / 16]
    return sorted({value + 0.0 for value in [*even, *fine] if low <= value <= high}, key=simplicity)


def _whole(low: float, high: float) -> list[float]:
    """Whole numbers, the small ones first."""
    first, last = ceil(low), floor(high)
    start = min(max(0, first), last)
    near = range(max(first, start - CODES // 2), min(last, start + CODES // 2) + 1)
    return [float(value) for value in sorted(near, key=abs)]


def _far(values: Array, kinks: Sequence[Kink], margin: float, where: str) -> Array:
    """The values of which every kink function is at least the margin away from zero; NaN is kept."""
    kept = values
    for kink in kinks:
        distance = np.asarray(kink(kept.astype(np.float64)), np.float64)
        if distance.shape != kept.shape:
            raise ValueError(
                f"a kink function made shape {distance.shape} of {kept.shape}: here it has to act entry by entry; "
                "use away_from_kinks(strategy, ...) for functions of whole arrays"
            )
        kept = kept[~(np.abs(distance) < margin)]
    if values.size and not kept.size:
        raise ValueError(f"no entry {where} is {margin:g} or more away from all kinks: make the margin smaller")
    return kept


def special_names(special: Sequence[str | float]) -> tuple[str, ...]:
    """Return special entries as text, by which -0.0 and 0.0 differ: names as they are, numbers after '='.

    >>> special_names(["nan", -0.0, 2])
    ('nan', '=-0.0', '=2.0')
    """
    if isinstance(special, str):
        raise TypeError(f"special={special!r} is a text: give a tuple of names or numbers, such as ({special!r},)")
    return tuple([name if isinstance(name, str) else f"={float(name)!r}" for name in special])


def _cast(numbers: Sequence[float], dtype: np.dtype[Any]) -> Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(numbers, np.float64).astype(dtype)


def _subnormal(values: Array) -> Array:
    smallest = np.finfo(values.dtype).smallest_normal
    return np.asarray((values != 0) & (np.abs(values) < smallest))


def _special(special: Sequence[str], dtype: np.dtype[Any]) -> Array:
    found: list[float] = []
    for name in special:
        found.extend([float(name[1:])] if name.startswith("=") else _named_values(name, dtype))
    return _cast(found, dtype)


def _named_values(name: str, dtype: np.dtype[Any]) -> tuple[float, ...]:
    limits = np.finfo(dtype)
    size = {
        "nan": float("nan"),
        "inf": float("inf"),
        "zero": 0.0,
        "large": float(limits.max),
        "tiny": float(limits.smallest_normal),
        "subnormal": float(limits.smallest_subnormal),
    }.get(name)
    if size is None:
        raise ValueError(f"unknown special entry {name!r}: use some of {', '.join(SPECIAL)}, or numbers")
    return (size,) if name == "nan" else (size, -size)


def _named(special: Sequence[str]) -> str:
    return f", and {', '.join(name.removeprefix('=') for name in special)}" if special else ""


def _spread(values: Array, extra: Array) -> Array:
    """Give each value its share of the codes; special ones together get the last quarter, in the given order.

    Code 0 is the first value that is not negative. Beyond it, where there are values of both signs, the odd codes are
    the positive ones and the even codes the negative ones: so a shrinking entry changes its sign and its magnitude by
    steps of their own, and becomes positive where the sign does not matter. Zero has its other codes at the end.
    """
    plain = (CODES - _SPECIAL_CODES if extra.size else CODES) if values.size else 0
    entries = np.empty(CODES, values.dtype)
    if plain:
        entries[:plain] = _both_signs(values[values >= 0], values[values < 0], plain)
    if extra.size:
        entries[plain:] = _evenly(extra, CODES - plain)
    entries.flags.writeable = False
    return entries


def _both_signs(positive: Array, negative: Array, count: int) -> Array:
    if not positive.size or not negative.size:
        return _evenly(positive if positive.size else negative, count)
    entries = np.full(count, positive[0])
    if positive[0] == 0:
        end = count + 1 - max(1, count // (positive.size + negative.size))
        positive = positive[1:] if positive.size > 1 else positive
    else:
        end = count
    entries[1:end:2] = _evenly(positive, len(entries[1:end:2]))
    entries[2:end:2] = _evenly(negative, len(entries[2:end:2]))
    return entries


def _evenly(values: Array, count: int) -> Array:
    return values[np.arange(count) * values.size // count]
