"""Nested states as plain data for JSON, and the arrays in them by name.

Owns both ways. Imports the arrays of files. Invariant: what comes back is what was put in, type by type: whole numbers
and texts as keys, tuples, None, truth values, floats to the bit, infinite ones and NaN, NumPy's numbers, arrays.

Numbers that are finite, texts, None and lists stand for themselves. All else is a dict with one key that says what it
is: ``{"dict": [[key, value], ...]}``, ``{"tuple": [...]}``, ``{"float": "nan"}``, ``{"array": name}`` and, for a number
of NumPy, ``{"number": name}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.saving.arrays import storable

_DEEPEST = 100


def plain(value: Any, name: str, arrays: dict[str, np.ndarray], depth: int = 0) -> Any:
    """The value as plain data; the arrays in it are added to `arrays`, each under a new name that begins with `name`.

    Raises :class:`TypeError` that names the place of what cannot be saved.
    """
    if depth > _DEEPEST:
        raise ValueError(f"{name[:80]}... is nested more than {_DEEPEST} deep, or contains itself")
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if isfinite(value) else {"float": repr(value)}
    if kind in (list, tuple):
        parts = [plain(part, f"{name}/{place}", arrays, depth + 1) for place, part in enumerate(value)]
        return parts if kind is list else {"tuple": parts}
    if isinstance(value, Mapping):
        return {"dict": [_item(key, part, name, arrays, depth) for key, part in value.items()]}
    if isinstance(value, (np.ndarray, np.generic, ea.Tensor)):
        free = name
        while free in arrays:
            free += "'"
        arrays[free] = storable(value, name)
        return {"number" if isinstance(value, np.generic) else "array": free}
    raise TypeError(
        f"{name} is {kind.__name__}, which is not saved: dicts, lists, tuples, numbers, texts, None and arrays are"
    )


def _item(key: Any, value: Any, name: str, arrays: dict[str, np.ndarray], depth: int) -> list[Any]:
    if type(key) not in (bool, int, str, float, tuple, type(None)):
        raise TypeError(f"{name} has the key {key!r:.60}, and keys are numbers, texts, None and tuples of them")
    return [plain(key, f"{name}/key", arrays, depth + 1), plain(value, f"{name}/{key}", arrays, depth + 1)]


def restored(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """What the plain data stand for.

    Raises :class:`TypeError`, :class:`ValueError`, :class:`KeyError` or :class:`AttributeError` for what `plain` does
    not write.
    """
    if value is None or type(value) in (bool, int, str, float):
        return value
    if type(value) is list:
        return [restored(part, arrays) for part in value]
    ((kind, content),) = value.items()
    match kind:
        case "float":
            return float(content)
        case "tuple":
            return tuple([restored(part, arrays) for part in content])
        case "dict":
            return {restored(key, arrays): restored(part, arrays) for key, part in content}
        case "array" | "number":
            return arrays[content] if kind == "array" else arrays[content][()]
    raise ValueError(f"{kind!r} is not known")
