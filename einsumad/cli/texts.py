"""Arguments as users type them: JSON, shapes, positions.

Owns reading them. Imports NumPy only. Invariant: nothing is evaluated; a text that cannot be read is an
``ArgumentTypeError`` that shows how to write it.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

Shape = tuple[int, ...]


def read_arguments(text: str) -> tuple[Any, ...]:
    """The arguments of ``--args``."""
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"is no JSON: {error}") from None
    if not isinstance(given, list):
        raise argparse.ArgumentTypeError(f"needs a list of arguments, such as '[{text.strip()}]', got {text!r}")
    return tuple([_value(item) for item in given])


def _value(item: Any) -> Any:
    """Lists of numbers become arrays, other lists and objects containers."""
    if isinstance(item, dict):
        return {key: _value(part) for key, part in item.items()}
    if not isinstance(item, list):
        return item
    try:
        array = np.asarray(item)
    except ValueError:
        return [_value(part) for part in item]
    return array if array.dtype.kind in "fiub" else [_value(part) for part in item]


def read_shape(text: str) -> Shape:
    """A shape of ``--shapes``: 3 is a vector, 3,3 a matrix, () a number."""
    sides = [side for side in text.strip("() ").split(",") if side.strip()]
    if not all(side.strip().isdecimal() for side in sides):
        raise argparse.ArgumentTypeError(f"{text!r} is no shape: write 3, 3,3 or '()'")
    return tuple([int(side) for side in sides])


def read_argnums(text: str) -> tuple[int, ...] | int:
    """The positions of ``--argnums``: a number, or a tuple of several."""
    positions = text.split(",")
    if not all(position.strip().isdecimal() for position in positions):
        raise argparse.ArgumentTypeError(f"{text!r} names no positions: write 0 or 0,1")
    found = tuple([int(position) for position in positions])
    return found if len(found) > 1 else found[0]
