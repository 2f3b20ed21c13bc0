"""What generated source calls to read and write along maps of indices.

Owns these array functions. Imports NumPy only. Invariant: :func:`window` gives a view and never leaves the memory of
its operand; all others give a new array; indices out of bounds raise ``IndexError``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, prod
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Sizes: TypeAlias = tuple[int, ...]

_FEW_ENTRIES = 4096
_FEW_COLUMNS = 32
_BY_COUNTS = (np.dtype(np.float64), np.dtype(np.float32))


def window(x: Array, axis: int, sizes: Sizes, strides: Sizes, offset: int) -> Array:
    """The view ``V[.., p, q, .., ..] = x[.., offset + strides · (p, q, ..), ..]`` with an axis for each size."""
    shape = (*x.shape[:axis], *sizes, *x.shape[axis + 1 :])
    if 0 in shape:
        return np.empty(shape, x.dtype)
    step = x.strides[axis]
    steps = (*x.strides[:axis], *[stride * step for stride in strides], *x.strides[axis + 1 :])
    start = x[(slice(None),) * axis + (slice(offset, None),)]
    return np.lib.stride_tricks.as_strided(start, shape, steps)


def pad(x: Array, axis: int, size: int, offset: int) -> Array:
    """The array ``P[.., p, ..] = x[.., offset + p, ..]`` for p below `size`, zero where that is out of bounds.

    Its axes lie in memory as those of x do.
    """
    result = np.zeros_like(x, shape=(*x.shape[:axis], size, *x.shape[axis + 1 :]))
    first, last = max(offset, 0), min(offset + size, x.shape[axis])
    before = (slice(None),) * axis
    result[(*before, slice(first - offset, last - offset))] = x[(*before, slice(first, last))]
    return result


def take(x: Array, index: Array, axis: int) -> Array:
    """The array ``T[.., r, ..] = x[.., index[r], ..]``."""
    _check_bounds(index, x.shape[axis])
    return np.take(x, index, axis)


def take_paired(x: Array, index: Array, own: Sequence[int]) -> Array:
    """The array ``T[r, s, .., ..] = x[index[r, s, ..], r, ..]``: axes after the first are `own` ones of the index."""
    _check_bounds(index, x.shape[0])
    behind = [index.ndim - 1 - axis for axis in own]
    rows = [np.arange(size).reshape(-1, *[1] * count) for size, count in zip(x.shape[1:], behind, strict=False)]
    found: Array = x[(index, *rows)]
    return found


def inside(size: int, sizes: Sizes, strides: Sizes, offset: int) -> Array:
    """Where ``0 <= offset + strides · (p, q, ..) < size``."""
    at = _places(sizes, strides, offset)
    return (at >= 0) & (at < size)


def _places(sizes: Sizes, strides: Sizes, offset: int) -> Array:
    total: Array = np.full((), offset)
    for size, stride in zip(sizes, strides, strict=True):
        total = total[..., None] + stride * np.arange(size)
    return total


def _within(x: Array, size: int, stride: int, offset: int) -> tuple[Array, int]:
    """The places along the first axis that an affine map puts within bounds, and the offset from the first of them."""
    if not stride:
        return x, offset
    ends = (-offset / stride, (size - 1 - offset) / stride)
    first, last = max(ceil(min(ends)), 0), min(floor(max(ends)), len(x) - 1)
    return x[first : max(last + 1, first)], offset + stride * first


def overlap(x: Array, size: int, strides: Sizes, offset: int, kept: int) -> Array:
    """The sum ``S[s, k, ..] = sum over places of x[places, ..]`` where ``s = offset + strides · places``.

    The places are the leading axes of x; the last `kept` of them are axes of the result too.
    """
    count = len(strides)
    if count == 1 and not kept:
        x, offset = _within(x, size, strides[0], offset)
    sizes, rest = x.shape[:count], x.shape[count:]
    ends = [stride * (length - 1) for stride, length in zip(strides, sizes, strict=True)]
    low = min(0, offset + sum(min(0, end) for end in ends))
    high = max(size, offset + sum(max(0, end) for end in ends) + 1)
    held = sizes[count - kept :]
    result = np.zeros((high - low, *held, *rest), x.dtype)
    if 0 in x.shape:
        return result[-low : size - low]
    step = result.strides[0]
    own = [0] * (count - kept) + list(result.strides[1 : 1 + kept])
    steps = [stride * step + mine for stride, mine in zip(strides, own, strict=True)]
    looped = _colliding(sizes[: count - kept], strides[: count - kept])
    axes = [axis for axis in range(count) if axis not in looped]
    shape = [sizes[axis] for axis in axes]
    view_steps = [*[steps[axis] for axis in axes], *result.strides[1 + kept :]]
    for where in np.ndindex(*[sizes[axis] for axis in looped]):
        start = offset - low + sum(strides[axis] * k for axis, k in zip(looped, where, strict=True))
        chosen: list[Any] = [slice(None)] * count
        for axis, k in zip(looped, where, strict=True):
            chosen[axis] = k
        view = np.lib.stride_tricks.as_strided(result[start:], (*shape, *rest), view_steps)
        view += x[tuple(chosen)]
    return result[-low : size - low]


def _colliding(sizes: Sizes, strides: Sizes) -> list[int]:
    """The axes to go through one by one, so that along the others no two entries meet; long ones are left out first."""
    free: list[int] = []
    for axis in sorted(range(len(sizes)), key=lambda axis: -sizes[axis]):
        if _is_injective([*free, axis], sizes, strides):
            free.append(axis)
    return [axis for axis in range(len(sizes)) if axis not in free]


def _is_injective(axes: Sequence[int], sizes: Sizes, strides: Sizes) -> bool:
    """Whether no two indices along these axes have one sum: each stride exceeds the reach of the smaller ones."""
    reach = 0
    for axis in sorted(axes, key=lambda axis: abs(strides[axis])):
        if sizes[axis] > 1 and abs(strides[axis]) <= reach:
            return False
        reach += abs(strides[axis]) * (sizes[axis] - 1)
    return True


def put(x: Array, index: Array, size: int, kept: Sequence[bool]) -> Array:
    """The sum ``S[s, k, ..] = sum over r of x[r, ..]`` where ``index[r] = s``.

    The axes of the index are the leading axes of x; those `kept` are axes of the result too.
    """
    _check_bounds(index, size)
    count = index.ndim
    rest = x.shape[count:]
    held = tuple([length for length, keeps in zip(index.shape, kept, strict=True) if keeps])
    if not any(kept):
        return _put_rows(x if count == 1 else x.reshape(index.size, *rest), index.reshape(-1), size)
    grids: tuple[Array, ...] = tuple(np.indices(index.shape, sparse=True))
    own = [grid for grid, keeps in zip(grids, kept, strict=True) if keeps]
    if all(kept):  # each place is written once
        result = np.zeros((size, *held, *rest), x.dtype)
        result[(index, *own)] = x
        return result
    at = np.asarray(index, np.int64)
    for grid, length in zip(own, held, strict=True):
        at = at * length + grid
    rows = _put_rows(x.reshape(index.size, *rest), at.reshape(-1), size * prod(held))
    return rows.reshape(size, *held, *rest)


def _put_rows(x: Array, index: Array, size: int) -> Array:
    """Rows added up by index: entry by entry if there are few, column by column, or long rows in sorted order."""
    rest = x.shape[1:]
    columns = prod(rest)
    if x.size and x.dtype in _BY_COUNTS:  # in double precision
        if columns > 1 and x.size <= _FEW_ENTRIES:
            if x.flags.f_contiguous:
                at = np.arange(0, size * columns, size)[:, None] + index
                counts = np.bincount(at.reshape(-1), x.T.reshape(-1), size * columns)
                return counts.astype(x.dtype, copy=False).reshape(*rest[::-1], size).T
            at = index[:, None] * columns + np.arange(columns)
            counts = np.bincount(at.reshape(-1), x.reshape(-1), size * columns)
            return counts.astype(x.dtype, copy=False).reshape(size, *rest)
        if columns <= _FEW_COLUMNS:
            across = np.empty((*rest, size), x.dtype)
            for column in np.ndindex(rest):
                across[column] = np.bincount(index, x[(slice(None), *column)], size)
            return np.moveaxis(across, -1, 0)
    result = np.zeros((size, *rest), x.dtype)
    if not x.size:
        return result
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    result[ordered[starts]] = np.add.reduceat(x[order], starts, axis=0)
    return result


def _check_bounds(index: Array, size: int) -> None:
    if not index.size:
        return
    if index.dtype == np.int64:
        outside = np.maximum.reduce(index.view(np.uint64), axis=None) >= size  # negative ones are the largest of all
    else:
        outside = index.min() < 0 or index.max() >= size
    if outside:
        worst = index.min() if index.min() < 0 else index.max()
        raise IndexError(f"index {worst} is out of bounds for an axis of size {size}")


MOVES: Mapping[str, Callable[..., Array]] = {
    each.__name__: each for each in (window, pad, take, take_paired, inside, overlap, put)
}
"""The functions by the names that generated source has for them."""
