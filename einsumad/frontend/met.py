"""What a trace has met: arrays of the caller, and the way that the trace has gone.

Owns which trace is open, and arrays by identity. Imports the graph. Invariant: the same array object, met
again in a trace with the same content, is the same leaf; the arrays met are kept alive until the trace ends.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from einsumad.frontend.within import Within
from einsumad.graph import Leaf, Node

_BIT_PATTERNS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_SMALL = 4096
"""Bytes up to which copies of the entries are compared, which takes a tenth of the time of comparing arrays."""


class Seen:
    """An array as it was met: its snapshot, its leaf once that is made, and its place on a walk if it is on one."""

    __slots__ = ("array", "leaf", "place", "stamp", "value")

    def __init__(self, array: Any, value: Any, leaf: Leaf | None = None, stamp: object = None, place: int = -1) -> None:
        self.array, self.value, self.leaf, self.stamp, self.place = array, value, leaf, stamp, place


class Met:
    """The arrays met in a trace by identity, index arrays by content too. One on a walk is a kind of its own."""

    __slots__ = ("arrays",)
    at: Any = None
    """Where the trace is on its walk, None where it is on none."""

    def __init__(self) -> None:
        self.arrays: dict[int | bytes, Seen] = {}


class OnWalk(Protocol):
    """A trace that goes the way of earlier ones, as far as it has met arrays and makes no nodes."""

    arrays: dict[int | bytes, Seen]
    at: Any
    handle: type
    """The class of the traced values."""

    def call(self, function: Any, args: Any, options: Any, ordinary: Any) -> Any:
        """What a call gives."""

    def form(self, place: int) -> Any:
        """What has the shape and dtype of what stands at a place."""

    def node(self, place: int) -> Node:
        """The node at a place, which ends the walk."""

    def leave(self) -> None:
        """End the walk: nodes are made from here on."""


_open: ContextVar[Any] = ContextVar("what the open trace has met", default=None)
open_trace, begin_trace, end_trace = _open.get, _open.set, _open.reset
"""What the open trace has met, None where there is none; to open one, with what is then open; and to close it by that.

These are the methods of the context variable: they are called for each operation of a function.
"""


def walk_of_trace() -> OnWalk | None:
    """The walk that the open trace is on."""
    met = open_trace()
    return None if met is None or met.at is None else met


def met_in_trace() -> Met | None:
    """What the open trace has met, for one that makes nodes now: it is on no walk from here on."""
    leave_walk()
    met: Met | None = open_trace()
    return met


def leave_walk() -> None:
    """Let the open trace go on by itself, if it is on a walk."""
    walk = walk_of_trace()
    if walk is not None:
        walk.leave()


def in_trace() -> bool:
    """Whether a function is being traced."""
    return open_trace() is not None


def one_leaf_per_array(*, apart: bool = False) -> Within[Met]:
    """Within this context the same array object, met again with the same content, is the same leaf.

    A context inside another shares what the outer one has met, unless it is `apart`, so that what is traced in it does
    not depend on what was met before. The arrays met are kept alive until it ends.
    """
    outer = met_in_trace()
    return Within(_open, Met() if outer is None or apart else outer)


def outside_of_traces() -> Within[None]:
    """Within this context nothing is being traced: a function that is not traced runs as it does by itself."""
    return Within(_open, None)


def same_bits(x: Any, kept: np.ndarray) -> bool:
    """Whether an array has the entries of its snapshot still, bit by bit.

    Those in memory that cannot change, of which the snapshot is a view, are not looked at, to leave a file unread.
    """
    if x.shape != kept.shape or x.dtype != kept.dtype:
        return False
    if kept.base is not None:
        return bool(x.strides == kept.strides)
    pattern = _BIT_PATTERNS.get(kept.dtype.itemsize)
    if pattern is None:
        return False
    if kept.nbytes <= _SMALL:
        return bool(x.tobytes() == kept.tobytes())
    return bool(np.array_equal(x.view(pattern), kept.view(pattern)))
