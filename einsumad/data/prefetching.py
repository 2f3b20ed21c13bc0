"""Batches made by a thread while the one before is used.

Owns the thread and its queue. Imports nothing of the package. Invariant: what comes out is what would come without the
thread, errors at their place among the batches; the thread ends when the last batch was made, an error was met, or
nobody asks for more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextvars import copy_context
from threading import Condition, Thread, current_thread
from typing import Generic, TypeVar

T = TypeVar("T")

THREAD = "einsumad.data.DataLoader"
"""The name of the thread."""
_LONGEST_WAIT = 1.0
"""For how many seconds a loop that is left waits for the batch that is being made; then the thread ends by itself."""


def prefetched(items: Iterator[T], most: int) -> Generator[T, None, None]:
    """The items, of which a thread makes up to `most` ahead; it has the caller's context, such as ``np.errstate``."""
    queue: _Queue[T] = _Queue(most)
    thread = Thread(target=copy_context().run, args=(_fill, queue, items), name=THREAD, daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            yield item[0]
    finally:
        queue.stop()
        if thread is not current_thread():
            thread.join(_LONGEST_WAIT)


def _fill(queue: _Queue[T], items: Iterator[T]) -> None:
    try:
        for item in items:
            if not queue.put(item):
                break
    except BaseException as error:  # noqa: BLE001 (raised where the batches are used)
        queue.end(error)
    else:
        queue.end(None)


class _Queue(Generic[T]):
    """A queue of bounded length between two threads, either of which can end it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: deque[T] = deque()
        self._changed = Condition()
        self._stopped = self._ended = False
        self._error: BaseException | None = None

    def put(self, item: T) -> bool:
        """Add an item once there is room; False where nobody takes any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self._waiting) < self._most)
            if not self._stopped:
                self._waiting.append(item)
                self._changed.notify_all()
            return not self._stopped

    def end(self, error: BaseException | None) -> None:
        """There are no more items, because of an error or not."""
        with self._changed:
            self._ended, self._error = True, error
            self._changed.notify_all()

    def get(self) -> tuple[T] | None:
        """The next item, once there is one; None where there are no more. The error is raised in its place."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self._ended)
            if self._waiting:
                item = self._waiting.popleft()
                self._changed.notify_all()
                return (item,)
            error, self._error = self._error, None
        if error is not None:
            raise error
        return None

    def stop(self) -> None:
        """Nobody takes items any more."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
