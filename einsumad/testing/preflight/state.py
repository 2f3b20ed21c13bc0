"""The global random state: read, compared, and put back.

Owns nothing but the way to it. Imports nothing of the toolkit. Invariant: :func:`kept` leaves the state as it was, also
when an exception passes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

LIBRARIES = ("random", "numpy.random")


@contextmanager
def kept() -> Iterator[None]:
    """The state afterwards is the state before."""
    before = random_state()
    try:
        yield
    finally:
        restore(before)


def random_state() -> tuple[Any, Any]:
    """The states of :data:`LIBRARIES`."""
    return random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002 - the state that others use is the point


def restore(state: tuple[Any, Any]) -> None:
    """Put the states back."""
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002 - the state that others use is the point


def equal_states(one: Any, other: Any) -> bool:
    """Whether two states of one library are the same."""
    if isinstance(one, dict):
        return all(equal_states(one[key], other[key]) for key in one)
    return bool(np.array_equal(one, other)) if isinstance(one, np.ndarray) else bool(one == other)
