"""Arrays whose memory cannot change, as those in a file that is mapped into memory for reading.

Owns which arrays are used where they lie, and the refusal of copies of mapped ones that are too large. Imports
planning's sizes. Invariant: an array is used uncopied only if nothing in this process can write to its memory: that of
a map that was opened for reading alone, or of an object of ``bytes``. A flag of an array is no proof of that.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from einsumad.errors import MemoryLimitError
from einsumad.frontend.within import Within
from einsumad.planning import physical_memory, readable_bytes

_limit: ContextVar[int | None] = ContextVar("bytes that copies of mapped arrays may take", default=None)


def copies_within(limit: int | None) -> Within[int | None]:
    """Within this context a copy of a mapped array may take so many bytes, if not None, and the machine's memory."""
    return Within(_limit, _limit.get() if limit is None else limit)


def is_read_only_map(array: Any) -> bool:
    """Whether the array is a view of a file that was opened for reading alone."""
    found = _map_of(array)
    return found is not None and found.mode == "r" and not array.flags.writeable


def is_unchangeable(array: np.ndarray[Any, Any]) -> bool:
    """Whether nothing can write to the memory of the array."""
    if array.flags.writeable:
        return False
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return type(base) is bytes or is_read_only_map(base)


def check_copy(array: np.ndarray[Any, Any]) -> None:
    """Refuse to copy a mapped array that is larger than the memory limit: it was mapped because it is large."""
    if _map_of(array) is None:
        return
    limit = physical_memory() if (own := _limit.get()) is None else own
    if array.nbytes > limit:
        raise MemoryLimitError(
            f"a memory-mapped array of shape {array.shape} and dtype {array.dtype} would be copied into memory, "
            f"{readable_bytes(array.nbytes)}, over the limit of {readable_bytes(limit)}: {_reason(array)}"
        )


def _reason(array: np.ndarray[Any, Any]) -> str:
    if not array.dtype.isnative:
        return "its byte order is not that of this machine, so write a file in the order that is"
    return (
        "it was opened for writing, which would change the function; open it for reading alone, by "
        "np.memmap(..., mode='r') or np.load(..., mmap_mode='r'), and it is read where it lies"
    )


def _map_of(array: Any) -> np.memmap[Any, Any] | None:
    """The mapped array that an array is, or is a view of."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return array if getattr(array, "mode", None) is not None else None  # a copy of a map is none
        array = array.base
    return None
