"""The peak of memory during a call.

Owns two measures: what the system says about the process, on Linux, and what Python's allocators were asked for.
"""

from __future__ import annotations

import ctypes
import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def _kilobytes(field: str, status: Path = _STATUS) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1])


def resident(pid: int) -> int | None:
    """The bytes that a process holds in memory; None where the system does not say."""
    try:
        return 1024 * _kilobytes("VmRSS", Path(f"/proc/{pid}/status"))
    except (OSError, StopIteration):
        return None


def resident_peak(call: Callable[[], Any]) -> int | None:
    """How far the process grew during the call; freed memory is given back before. None where this is unknown."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        _CLEAR.write_text("5")
        before = _kilobytes("VmRSS")
        call()
        return 1024 * (_kilobytes("VmHWM") - before)
    except (OSError, AttributeError, StopIteration):
        return None


def allocated_peak(call: Callable[[], Any]) -> int:
    """The most bytes that were allocated at once during the call, beyond what was there, as Python sees it."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - before
