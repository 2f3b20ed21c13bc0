"""Sums over the parts of an index, with what rounding lost.

Owns how parts are added up. Imports planning's sizes. Invariant: the result depends on the values of the parts and
their order alone, and is as near to their exact sum as one rounding allows, however many there are.

A plain sum of m parts in turn loses up to m roundings: in single precision, for thousands of parts, more than NumPy's
own pairwise sum of the whole. Adding pairs of pairs would keep a partial sum for each power of two. Here what each
addition loses, which is a number of the same format, is added up beside the sum: one more tensor, and no branch.

Sources: D. E. Knuth, *The Art of Computer Programming* 2, section 4.2.2 (the error of a sum); T. Ogita, S. M. Rump,
S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, algorithm 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from einsumad.planning import ADDED_AT_ONCE


class RunningSum:
    """A sum that parts are added to; the arrays given are kept or overwritten. An `exact` one keeps what is lost."""

    __slots__ = ("_exact", "_lost", "_total")

    def __init__(self, *, exact: bool) -> None:
        """Begin with nothing."""
        self._exact = exact
        self._total: Any = None
        self._lost: Any = None

    @np.errstate(all="ignore")
    def add(self, part: Any) -> None:
        """Add a part, which is not used again by the caller."""
        if self._total is None:
            self._total = part
            self._lost = np.zeros_like(part) if self._exact else None
        elif not np.ndim(part):
            self._total, self._lost = _added(self._total, self._lost, part)
        elif self._lost is None:
            self._total += part
        else:
            for place in _places(part):
                self._total[place], self._lost[place] = _added(self._total[place], self._lost[place], part[place])

    @np.errstate(all="ignore")
    def result(self) -> Any:
        """The sum. Where it is infinite or undefined, what was lost has no meaning."""
        if self._lost is None:
            return self._total
        if not np.ndim(self._total):
            return self._total + self._lost if np.isfinite(self._lost) else self._total
        for place in _places(self._total):
            lost = self._lost[place]
            lost[~np.isfinite(lost)] = 0
            self._total[place] += lost
        return self._total


def _added(total: Any, lost: Any, part: Any) -> tuple[Any, Any]:
    """The sum, and what it and those before it lost."""
    if lost is None:
        return total + part, None
    new = total + part
    taken = new - total
    return new, lost + ((total - (new - taken)) + (part - taken))


def _places(array: np.ndarray[Any, Any]) -> Iterator[tuple[slice, ...]]:
    """Slices of an array along its longest axis, of so many entries that what is made of them stays in the cache."""
    axis = max(range(array.ndim), key=lambda k: array.shape[k])
    step = max(1, ADDED_AT_ONCE * array.shape[axis] // max(1, array.size))
    for start in range(0, array.shape[axis], step):
        yield (slice(None),) * axis + (slice(start, start + step),)
