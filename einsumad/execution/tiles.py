"""Entrywise work on large arrays, one block after the other, so that what is passed on stays in the cache.

Owns the loop over blocks and its threads. Imports NumPy only. Invariant: each block is computed once and written by one
thread; a block is the same arithmetic wherever it is done, so results do not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import lru_cache
from importlib import import_module
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Array: TypeAlias = np.ndarray[Any, Any]

_MOST_THREADS = 4
_WORTH_A_THREAD = 2**21
"""Bytes of a result from which a second thread takes less time than it costs."""


@lru_cache(maxsize=1)
def thread_count() -> int:
    """How many threads work on one array: as many as this process may use cores, and not many."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:
        cores = os.cpu_count() or 1
    return min(_MOST_THREADS, cores)


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:  # noqa: ARG001 - a forked process has threads of its own
    pools = import_module("concurrent.futures")
    made: ThreadPoolExecutor = pools.ThreadPoolExecutor(max(1, thread_count() - 1), thread_name_prefix="einsumad")
    return made


def tiled(
    body: Callable[..., None], block: tuple[int, ...], results: Sequence[Array], operands: Sequence[Array]
) -> None:
    """Call the body with the blocks of results and operands that belong together, for all of them.

    The operands broadcast against the results, which have one shape.
    """
    shape = results[0].shape
    starts = list(product(*[range(0, size, step) for size, step in zip(shape, block, strict=True)]))
    arrays = (*results, *operands)
    cut = [k for k, (size, step) in enumerate(zip(shape, block, strict=True)) if step < size]
    varying = [_varying(array, len(shape), cut) for array in arrays]

    def work(places: Sequence[tuple[int, ...]]) -> None:
        for place in places:
            whole = [slice(start, start + step) for start, step in zip(place, block, strict=True)]
            whole.append(_ALL)
            body(
                *[
                    array[tuple([whole[axis] for axis in axes])] if axes else array
                    for array, axes in zip(arrays, varying, strict=True)
                ]
            )

    threads = thread_count() if prod(shape) * results[0].itemsize >= _WORTH_A_THREAD else 1
    if threads == 1 or len(starts) < 2 or threading.current_thread().name.startswith("einsumad"):
        work(starts)
        return
    share = -(-len(starts) // threads)
    shares = [starts[k : k + share] for k in range(0, len(starts), share)]
    waiting = [_pool(os.getpid()).submit(copy_context().run, work, places) for places in shares[1:]]
    try:
        work(shares[0])
    finally:
        for future in waiting:
            future.result()


def _varying(array: Array, rank: int, cut: Sequence[int]) -> tuple[int, ...]:
    """For the axes of an array up to the last that is cut, which axis of the results each is; -1 where all is read."""
    axes = [rank - array.ndim + k for k in range(array.ndim)]
    found = [axis if axis in cut and size != 1 else -1 for axis, size in zip(axes, array.shape, strict=True)]
    while found and found[-1] < 0:
        found.pop()
    return tuple(found)


_ALL = slice(None)
