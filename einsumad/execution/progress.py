"""Who is told how far a plan has come that runs in parts.

Owns that choice and the bar. Imports the standard library only; tqdm is loaded when a bar is asked for. Invariant:
nothing is told, and nothing printed, unless it was asked for; each thread, and each asynchronous task, asks for itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

Advance: TypeAlias = Callable[[int], object]
"""Says that so many more are done."""
Listener: TypeAlias = Callable[[int], AbstractContextManager[Advance]]
"""Begins to listen to a call that has so many to do, and ends."""


@contextmanager
def _nobody(_: int) -> Iterator[Advance]:
    yield lambda _: None


_listener: ContextVar[Listener] = ContextVar("who is told of progress", default=_nobody)


@contextmanager
def progress(callback: Callable[[int, int], object] | None = None) -> Iterator[None]:
    """Show a bar for each call that runs in parts, or call `callback` with how much of it is done.

    Within this context a call that goes through an index part by part, because of a memory limit or to save memory,
    shows a bar of tqdm (``pip install einsumad[progress]``); others show nothing. With a callback there is no bar:
    ``callback(done, total)`` is called at the beginning and after each part, with numbers of values of that index, such
    as rows of data. An exception that it raises ends the call. Other threads are not concerned.

    Raises :class:`ImportError` without tqdm, and :class:`TypeError` for a callback that cannot be called.

    >>> import numpy as np, einsumad as ea
    >>> X = np.ones((10000, 3))
    >>> seen = []
    >>> with ea.progress(lambda done, total: seen.append((done, total))):
    ...     gradient = ea.grad(lambda w: np.sum(np.exp(X @ w)), memory_limit=50_000)(np.zeros(3))
    >>> seen
    [(0, 10000), (5000, 10000), (10000, 10000)]
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"progress takes a function of two numbers, got {type(callback).__name__}")
    token = _listener.set(_bars() if callback is None else _told(callback))
    try:
        yield
    finally:
        _listener.reset(token)


def listening(total: int) -> AbstractContextManager[Advance]:
    """Whoever asked to be told of a call that has so many to do."""
    return _listener.get()(total)


def _told(callback: Callable[[int, int], object]) -> Listener:
    @contextmanager
    def listen(total: int) -> Iterator[Advance]:
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            callback(done, total)

        advance(0)
        yield advance

    return listen


def _bars() -> Listener:
    try:
        tqdm: Any = importlib.import_module("tqdm").tqdm
    except ImportError as error:
        raise ImportError(
            "progress() shows a bar of tqdm, which could not be loaded: pip install 'einsumad[progress]', or give it a "
            "function to be called with what is done and the total"
        ) from error

    @contextmanager
    def listen(total: int) -> Iterator[Advance]:
        with tqdm(total=total, unit=" values", unit_scale=True) as bar:
            yield bar.update

    return listen
