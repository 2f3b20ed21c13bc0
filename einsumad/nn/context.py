"""What parameters and buffers stand for while a module is called, and the random numbers that layers draw.

Owns the current call, and whether gradients are wanted. Imports NumPy. Invariant: a call of `apply` changes nothing
that a module holds: values are those it was given, new values of buffers are noted in the call, and generators are
copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], np.ndarray]
"""How an array of random numbers is made by a generator."""


@dataclass(slots=True, eq=False)
class Call:
    """Values by the identity of what they stand for, new values of buffers, and where random numbers come from."""

    values: Mapping[int, Any]
    random: Copies | Recorded | Given
    updates: dict[int, Any] = field(default_factory=dict)

    def value(self, held: object) -> Any:
        """What stands for a parameter or buffer here; None where nothing does."""
        return self.updates.get(id(held), self.values.get(id(held)))


class Copies:
    """Random numbers by copies of generators: the same in each call, and the generators stay as they are."""

    def __init__(self, generator: np.random.Generator | None = None) -> None:
        self._given = generator
        self._copies: dict[int, np.random.Generator] = {}

    def draw(self, generator: np.random.Generator, how: Draw) -> Any:
        """What the copy of the generator gives, or the generator given for all."""
        if self._given is not None:
            return how(self._given)
        return how(self._copies.setdefault(id(generator), deepcopy(generator)))


class Recorded(Copies):
    """Random numbers by copies, noting what was drawn: it is drawn again for each call of a compiled plan."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[np.random.Generator, Draw]] = []

    def draw(self, generator: np.random.Generator, how: Draw) -> Any:
        """What the copy of the generator gives."""
        self.requests.append((generator, how))
        return super().draw(generator, how)


class Given:
    """Random numbers that were drawn before, one array for each request in turn."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self._arrays = iter(arrays)

    def draw(self, generator: np.random.Generator, how: Draw) -> Any:  # noqa: ARG002 (it was drawn from there before)
        """The next array."""
        return next(self._arrays)


_call: ContextVar[Call | None] = ContextVar("the call of apply that is open", default=None)
_within: ContextVar[bool] = ContextVar("whether a module is being called", default=False)
_without_gradients: ContextVar[bool] = ContextVar("whether parameters are plain arrays", default=False)


def call_in_force() -> Call | None:
    """The innermost call of `apply` that is open."""
    return _call.get()


@contextmanager
def calling(values: Mapping[int, Any], random: Copies | Recorded | Given) -> Iterator[Call]:
    """A call in which the values stand for parameters and buffers; those of an enclosing call hold for all others."""
    outer = _call.get()
    call = Call(values if outer is None else {**outer.values, **outer.updates, **values}, random)
    token = _call.set(call)
    try:
        yield call
    finally:
        _call.reset(token)


@contextmanager
def within_call() -> Iterator[bool]:
    """The inside of a call of a module; gives whether it is the outermost one."""
    outermost = not _within.get()
    token = _within.set(True)
    try:
        yield outermost
    finally:
        _within.reset(token)


def is_within() -> bool:
    """Whether a module is being called."""
    return _within.get()


@contextmanager
def no_grad() -> Iterator[None]:
    """Within this context parameters are plain arrays: modules compute with NumPy, and nothing is recorded.

    >>> import numpy as np, einsumad.nn as nn
    >>> with nn.no_grad():
    ...     type(nn.Linear(3, 2)(np.ones((1, 3), np.float32)))
    <class 'numpy.ndarray'>
    """
    token = _without_gradients.set(True)
    try:
        yield
    finally:
        _without_gradients.reset(token)


def gradients_wanted() -> bool:
    """Whether parameters are tensors that gradients are left on."""
    return not _without_gradients.get()


def draw(generator: np.random.Generator, how: Draw) -> Any:
    """Random numbers for a layer: by its generator, or as the call of `apply` that is open has them."""
    call = _call.get()
    return how(generator) if call is None else call.random.draw(generator, how)
