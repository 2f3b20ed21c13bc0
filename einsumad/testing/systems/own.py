"""This library as a system under test, or as a reference.

Owns its record. Imports the public transforms. Invariant: nothing here knows how derivatives are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad import frontend as ea
from einsumad.testing.point import Array
from einsumad.testing.systems.base import Function, System


def _evaluate(f: Function, arrays: Sequence[Array]) -> Array:
    return np.asarray(ea.compile(f)(*arrays))


def _derivative(f: Function, arrays: Sequence[Array], order: int, mode: str) -> Any:
    everything = tuple(range(len(arrays)))
    return ea.derivative(f, everything, order=order, mode=mode)(*arrays)  # type: ignore[arg-type]


def _jvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, Array]:
    return ea.jvp(f, tuple(arrays), tuple(tangents))


def _vjp(f: Function, arrays: Sequence[Array], cotangent: Array) -> tuple[Array, tuple[Array, ...]]:
    value, pullback = ea.vjp(f, *arrays)
    pulled = pullback(cotangent)
    return value, tuple(pulled) if len(arrays) > 1 else (pulled,)


def _hvp(f: Function, arrays: Sequence[Array], tangents: Sequence[Array]) -> tuple[Array, ...]:
    found = ea.hvp(f, tuple(range(len(arrays))))(*arrays, tuple(tangents))
    return tuple(found)


EINSUMAD = System("einsumad", ("auto", "forward", "reverse", "cross-country"), _evaluate, _derivative, _jvp, _vjp, _hvp)
