"""How often values of nodes and marks of leaves were looked at.

Owns the counter, one for each thread. Imports nothing. Invariant: whoever decides by a value, or by what a leaf stands
for, counts here first; so what was decided without is seen to depend on the forms of nodes alone.
"""

from __future__ import annotations

import threading


class _Counter(threading.local):
    count = 0


_counter = _Counter()


def look() -> None:
    """Count one look."""
    _counter.count += 1


def looks() -> int:
    """The number of looks of this thread so far."""
    return _counter.count
