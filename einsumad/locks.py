"""Locks that no forked process finds held.

Owns these locks. Imports the standard library only. Invariant: when a process is forked, the thread that does it holds
all of them; so nothing that a lock guards is half done in the new process, and nobody there waits for a thread of the
old one.

Forking is how `multiprocessing` makes processes on Linux up to Python 3.13. The thread that forks waits for one lock at
a time, and for that gives all others back, so that no thread can wait for it in turn.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from typing import Any

_locks: list[Any] = []
_forking = threading.RLock()
_held: list[Any] = []
"""Those that are held while a process is forked; changed by the thread that holds `_forking` alone."""


def module_lock() -> AbstractContextManager[Any]:
    """A lock, which the thread that holds it may take again. It is never forgotten: one for a module."""
    made = threading.RLock()
    _locks.append(made)
    return made


def _hold_all() -> None:
    _forking.acquire()
    busy = _locks[0]
    while busy is not None:
        _give_back()
        busy.acquire()
        _held.append(busy)
        busy = next((lock for lock in _locks if lock is not busy and not _taken(lock)), None)


def _taken(lock: Any) -> bool:
    """Take a lock, if no other thread holds it."""
    if not lock.acquire(blocking=False):
        return False
    _held.append(lock)
    return True


def _give_back() -> None:
    while _held:
        _held.pop().release()


def _end() -> None:
    """Give all locks back, in both processes."""
    _give_back()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_end, after_in_child=_end)
