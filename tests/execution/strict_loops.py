"""Regions of loops run by Python, as strict about types as Numba is."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np


class _Single(np.float32):
    """A number of which nobody may ask what only arrays have."""

    reshape = T = shape = None


class _Double(np.float64):
    """The same in double precision."""

    reshape = T = shape = None


class _StrictNumPy:
    """NumPy, whose product of two vectors is a number and nothing else."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def dot(self, a: Any, b: Any) -> Any:
        found = np.dot(a, b)
        assert a.flags.forc
        assert b.flags.forc
        assert a.dtype == b.dtype
        return found if np.ndim(found) else {4: _Single, 8: _Double}[found.itemsize](found)


def strict_loop_compiler() -> Callable[..., Callable[..., Any]]:
    """A decorator of regions in place of Numba's: it checks that operands have the declared types."""

    def loop(*kinds: str, writes: tuple[int, ...] = ()) -> Callable[..., Any]:
        def compiled(function: FunctionType) -> Callable[..., Any]:
            strict = FunctionType(function.__code__, {**function.__globals__, "np": _StrictNumPy()})

            def region(*operands: Any) -> Any:
                pairs = zip(operands, kinds, strict=True)
                return strict(*[_checked(o, kind, place in writes) for place, (o, kind) in enumerate(pairs)])

            return region

        return compiled

    return loop


def _checked(operand: Any, kind: str, is_written: bool) -> Any:
    """The operand, which cannot be written to unless the region says that it does."""
    name, _, axes = kind.partition("[")
    assert operand.dtype == np.dtype(name)
    if not axes:
        assert isinstance(operand, np.generic)
        return operand
    assert type(operand) is np.ndarray
    assert operand.flags.c_contiguous
    assert operand.ndim == axes.count(":")
    if is_written:
        assert operand.flags.writeable
        return operand
    seen = operand.view()
    seen.flags.writeable = False
    return seen
