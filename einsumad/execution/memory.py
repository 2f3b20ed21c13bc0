"""Freed memory that stays with the process, so that the next call of a plan finds it with its pages.

Owns that setting. Imports NumPy only. Invariant: it is made once in a process, and changes no value.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

WORTH = 2**18
"""Bytes of a plan from which its arrays would be given back to the system."""
_LARGEST = 2**25 - 2**13
"""Bytes of the largest block that the C library learns from, with room for what it keeps beside it."""


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Have the C library keep up to 64 MiB of what is freed, rather than map it anew, page by page, in each call.

    The one of GNU learns from the largest block that was mapped and freed, up to 32 MiB: smaller ones come from its
    heap from then on, of which it keeps twice as much (mallopt(3), M_MMAP_THRESHOLD). An array that nobody touches
    teaches it at no cost. Other libraries take no notice, nor does this one where the user has set its limits.
    """
    np.empty(_LARGEST, np.uint8)
