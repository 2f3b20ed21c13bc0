"""Smaller arguments on which a derivative is still wrong.

Owns the search: shorter axes first, then plainer numbers. Imports NumPy and the errors. Invariant: what is returned was
either given by the caller or seen to be still wrong; each step taken makes the arguments smaller or plainer, so the
search ends; nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import numpy as np

from einsumad.testing.diagnosis.snippet import as_code

__all__ = ["as_code", "smaller_arguments"]

Array = np.ndarray[Any, Any]
Arguments = tuple[Array, ...]
Test = Callable[[Arguments], bool]

_PLAIN: tuple[tuple[float, int], ...] = ((0.0, 0), (1.0, 1), (2.0, 2), (0.5, 3))
_WHOLE = 4
_SHORT = 3
_DIGITS = 3
_DECIMAL = 8
_OTHERWISE = 40
_ENTRY_BY_ENTRY = 256


class _Search:
    """The best arguments so far, and how many more may be tried."""

    def __init__(self, arguments: Arguments, still_wrong: Test, budget: int) -> None:
        self.best = arguments
        self.left = budget
        self._still_wrong = still_wrong
        self._tried: set[bytes] = set()

    def take(self, candidate: Arguments) -> bool:
        """Keep the candidate if it is still wrong; what was tried before is not tried again."""
        key = _digest(candidate)
        if self.left <= 0 or key in self._tried:
            return False
        self._tried.add(key)
        self.left -= 1
        with suppress(Exception):
            if bool(self._still_wrong(tuple([np.array(array) for array in candidate]))):
                self.best = candidate
                return True
        return False


def _digest(arguments: Arguments) -> bytes:
    """A key for the shapes and bits of arrays of known dtypes."""
    key = blake2b(repr([array.shape for array in arguments]).encode())
    for array in arguments:
        key.update(array.tobytes())
    return key.digest()


def smaller_arguments(arguments: Arguments, still_wrong: Test, budget: int = 200) -> Arguments:
    """Arguments that are smaller and plainer, and on which ``still_wrong`` still holds.

    First axes are cut, all of one length together and then one by one; then entries are replaced by 0, 1, 2 or 1/2,
    whole numbers, or numbers of a few digits: all at once, array by array, entry by entry. A step is kept only if
    ``still_wrong`` is true of its result; one on which it raises is not kept. It is called at most `budget` times, with
    copies that it may change. The arguments keep their number of axes and their dtypes; if they are not wrong to begin
    with, they come back as they are.

    >>> import numpy as np
    >>> found = smaller_arguments((np.linspace(0.1, 0.9, 12),), lambda arguments: arguments[0].max() > 0.7)
    >>> print(found[0])
    [1.]
    """
    start = tuple([np.array(array) for array in arguments])
    search = _Search(start, still_wrong, budget)
    if not search.take(start):
        return start
    while search.left > 0 and (_shorten(search) or _simplify(search)):
        pass
    return search.best


def _shorten(search: _Search) -> bool:
    """Cut axes as long as that works; whether anything was cut."""
    cut = False
    for together in (True, False):
        progress = True
        while progress and search.left > 0:
            progress = _take_first(search, together=together)
            cut = cut or progress
    return cut


def _take_first(search: _Search, *, together: bool) -> bool:
    """Take the first of the candidates with shorter axes that is still wrong; whether there was one."""
    return any(search.take(candidate) for candidate in _shorter(search.best, together=together))


def _shorter(arguments: Arguments, *, together: bool) -> Iterator[Arguments]:
    """The arguments with all axes of one length, or with a single axis, cut to a smaller length."""
    axes = [(k, axis, n) for k, array in enumerate(arguments) for axis, n in enumerate(array.shape)]
    groups = {n: [(k, axis) for k, axis, own in axes if own == n] for _, _, n in axes if n > 1}
    chosen = [groups[n] for n in sorted(groups, reverse=True)]
    if not together:
        chosen = [[place] for group in chosen if len(group) > 1 for place in group]
    for group in chosen:
        length = arguments[group[0][0]].shape[group[0][1]]
        for smaller in dict.fromkeys((1, 2, length // 2, length - 1)):
            if 0 < smaller < length:
                for part in (slice(0, smaller), slice(length - smaller, length)):
                    yield _cut(arguments, group, part)


def _cut(arguments: Arguments, places: list[tuple[int, int]], part: slice) -> Arguments:
    cut = []
    for k, array in enumerate(arguments):
        axes = {axis for place, axis in places if place == k}
        cut.append(np.array(array[tuple([part if axis in axes else slice(None) for axis in range(array.ndim)])]))
    return tuple(cut)


def _simplify(search: _Search) -> bool:
    """Make numbers plainer: all of them, array by array, entry by entry; whether anything became plainer."""
    changed = _take_plainest(search, tuple(range(len(search.best))))
    for k in range(len(search.best)):
        changed = _take_plainest(search, (k,)) or changed
    for k in range(len(search.best)):
        if search.best[k].size <= _ENTRY_BY_ENTRY:
            for entry in range(search.best[k].size):
                changed = _take_plainest(search, (k,), entry) or changed
    return changed


def _take_plainest(search: _Search, chosen: tuple[int, ...], entry: int | None = None) -> bool:
    """Take the first plainer version of some arrays, or of one entry, that is still wrong."""
    before = search.best
    current = sum([complexity(before[k]) for k in chosen])
    for plainer in _REWRITES:
        candidate = tuple([_rewritten(a, plainer, entry) if k in chosen else a for k, a in enumerate(before)])
        if search.left <= 0:
            return False
        if sum([complexity(candidate[k]) for k in chosen]) < current and search.take(candidate):
            return True
    return False


def _rewritten(array: Array, plainer: Callable[[Array], Array], entry: int | None) -> Array:
    """The array with its finite entries, or one of them, made plainer; Booleans stay as they are."""
    if array.dtype.kind not in "iufc":
        return array
    with np.errstate(all="ignore"):
        plain = plainer(array)
        new = np.where(np.isfinite(array) & np.isfinite(plain), plain, array).astype(array.dtype)
    if entry is None:
        return new
    changed = array.copy()
    changed.reshape(-1)[entry] = new.reshape(-1)[entry]
    return changed


def _constant(value: float) -> Callable[[Array], Array]:
    def constant(array: Array) -> Array:
        return np.full(array.shape, value)

    return constant


def _rounded(digits: int) -> Callable[[Array], Array]:
    def rounded(array: Array) -> Array:
        return np.round(array, digits)

    return rounded


def _shortened(array: Array) -> Array:
    """Two significant digits."""
    return _significant(array, 2)


def _significant(array: Array, digits: int) -> Array:
    """The array with this many significant digits, for real and imaginary parts alike."""
    if array.dtype.kind == "c":
        return _significant(array.real, digits) + 1j * _significant(array.imag, digits)
    with np.errstate(all="ignore"):
        power = np.where(array == 0, 0.0, np.floor(np.log10(np.abs(array.astype(np.float64))))) - digits + 1
        scaled = np.round(array / 10.0**power)
        return np.where(power < 0, scaled / 10.0**-power, scaled * 10.0**power).astype(array.dtype)


_REWRITES: tuple[Callable[[Array], Array], ...] = (
    *[_constant(value) for value, _ in _PLAIN],
    *[_rounded(digits) for digits in range(_DIGITS)],
    _shortened,
)


def complexity(array: Array) -> int:
    """How hard the entries are to read: 0 is plainest, then 1, 2, 1/2, whole numbers, few digits, many digits."""
    if array.dtype.kind == "c":
        return complexity(array.real) + complexity(array.imag)
    if array.dtype.kind not in "iuf":
        return 0
    with np.errstate(all="ignore"):
        size: Array = np.abs(array.astype(np.float64))
        score: Array = np.full(array.shape, _OTHERWISE)
        for digits in (3, 2, 1):
            score = np.where(_significant(array, digits) == array, _DECIMAL + 1 + digits, score)
            score = np.where(np.round(array, digits) == array, np.minimum(score, _DECIMAL + digits), score)
        whole = np.round(array, 0) == array
        length = np.where(size > 1, np.ceil(np.log10(np.maximum(size, 1))), 0)
    score = np.where(whole & (length <= _SHORT), _WHOLE + length, score)
    for value, rank in _PLAIN:
        score = np.where(size == value, rank + (np.signbit(array) if array.dtype.kind == "f" else array < 0), score)
    return int(np.sum(np.where(np.isfinite(size), score, 0)))
