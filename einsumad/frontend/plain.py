"""What an argument that is not traced says of itself in a key.

Owns these keys. Imports the registry. Invariant: arguments of equal keys are alike in all that a function could see of
them: True, 1 and 1.0 are told apart, and so are 0.0 and -0.0. What can be changed, or be called, has no key.
"""

from __future__ import annotations

from math import copysign
from typing import Any

import numpy as np

from einsumad.frontend.registry import NOT_GIVEN

_AS_THEY_ARE = frozenset([int, bool, str, type(None), type(Ellipsis), type(NOT_GIVEN)])
_NUMBERS = frozenset([np.bool_, np.float16, np.float32, np.float64, *[np.dtype(code).type for code in "bhilqBHILQ"]])
_DTYPES = frozenset([int, bool, float, *_NUMBERS])

PlainKey = tuple[Any, ...]
MOST_CONTENT = 2**12
"""Bytes of an array that is told by its content."""


def plain_key(x: Any) -> PlainKey | None:
    """The key of a number, text, name of a dtype, slice, or tuple of such; None for all else."""
    kind = type(x)
    if kind is float:
        return kind, x, copysign(1.0, x)
    if kind in _AS_THEY_ARE:
        return kind, x
    if kind is tuple:
        parts = tuple([plain_key(part) for part in x])
        return None if None in parts else (kind, parts)
    if kind in _NUMBERS:
        number = x.item()
        return kind, number, copysign(1.0, number)
    if kind is slice:
        parts = tuple([plain_key(part) for part in (x.start, x.stop, x.step)])
        return None if None in parts else (kind, parts)
    if isinstance(x, np.dtype):
        return (np.dtype, x.str) if x.type in _NUMBERS else None
    return (kind, x) if kind is type and x in _DTYPES else None


def array_key(x: np.ndarray) -> PlainKey | None:
    """The key of a small array by its content, for those that may look at it; None for others."""
    if x.nbytes > MOST_CONTENT or x.dtype.type not in _NUMBERS or not x.dtype.isnative:
        return None
    return np.ndarray, x.shape, x.dtype.str, x.tobytes()
