"""What the arguments show before the function is called: dtypes, values, memory.

Owns these findings. Imports the record and the comparison of memory. Invariant: nothing is called and nothing written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from einsumad.testing.bits import overlaps_itself, shares_memory
from einsumad.testing.point import subscript
from einsumad.testing.preflight.call import Argument
from einsumad.testing.preflight.trouble import Trouble

Array = np.ndarray[Any, Any]


def about_arguments(leaves: Sequence[Argument]) -> Iterator[Trouble]:
    """Dtypes and values of the arguments that are differentiated."""
    for leaf in leaves:
        array, name = leaf.array, leaf.name
        if not leaf.differentiated:
            continue
        if array.dtype.kind in "iub":
            yield Trouble(
                "integers",
                f"argument {name!r} has dtype {array.dtype}, which has no derivative: "
                "pass floating-point values, e.g. np.asarray(x, float), or leave it out of argnums",
                fatal=True,
            )
            continue
        if array.dtype.kind not in "fc":
            yield Trouble(
                "no number", f"argument {name!r} has dtype {array.dtype}: pass an array of numbers", fatal=True
            )
            continue
        if not np.all(np.isfinite(array)):
            yield Trouble("not finite", f"argument {name!r} is {first_bad(array)}: choose another point", fatal=True)
        if array.size == 0:
            yield Trouble(
                "empty", f"argument {name!r} has shape {array.shape} and no entry: only shapes are tested", False
            )
        if array.dtype.itemsize <= (4 if array.dtype.kind == "c" else 2):
            digits = np.finfo(array.dtype).precision
            yield Trouble("low precision", f"argument {name!r} has dtype {array.dtype}: {digits} digits", fatal=False)
        parts = np.abs(np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array)
        if np.any((parts > 0) & (parts < np.finfo(array.dtype).tiny)):
            yield Trouble(
                "subnormal",
                f"argument {name!r} has entries below {np.finfo(array.dtype).tiny:.2g}, which may count as zero",
                fatal=False,
            )


def first_bad(array: Array) -> str:
    """Where the first entry is that is not finite, and what it is."""
    flat = array.reshape(-1)
    entry = int(np.argmin(np.isfinite(flat)))
    place = subscript(array.shape, entry)
    return f"{flat[entry]} at {place}" if place else str(flat[entry])


def about_memory(leaves: Sequence[Argument]) -> Iterator[Trouble]:
    """Arguments that share memory with each other or with themselves."""
    arrays = [leaf for leaf in leaves if isinstance(leaf.value, np.ndarray)]
    for k, leaf in enumerate(arrays):
        if overlaps_itself(leaf.value):
            yield Trouble(
                "overlapping memory",
                f"entries of argument {leaf.name!r} share memory (a broadcast or a window): "
                "they are tested as independent, on a copy",
                fatal=False,
            )
        for other in arrays[:k]:
            if (leaf.differentiated or other.differentiated) and shares_memory(leaf.value, other.value):
                yield Trouble(
                    "overlapping memory",
                    f"arguments {other.name!r} and {leaf.name!r} share memory: "
                    "they are tested as independent, on copies",
                    fatal=False,
                )
