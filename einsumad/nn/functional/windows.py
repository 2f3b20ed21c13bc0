"""Windows of the last axes of an array: what convolution and pooling read.

Owns their numbers for each axis, padding, and the views. Imports NumPy. Invariant: windows are views, of plain arrays
and of traced ones, and no copy of them is made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import einsumad as ea

Numbers: TypeAlias = int | Sequence[int]
"""One number for all axes, or one for each."""


def for_each_axis(name: str, value: Any, axes: int, least: int) -> tuple[int, ...]:
    """The numbers as one for each axis. Raises :class:`ValueError` for others, and for those that are too small."""
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,) * axes
    if len(given) == 1:
        given *= axes
    whole = all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in given)
    if len(given) != axes or not whole:
        of_all = "a whole number" if axes == 1 else f"a whole number, or {axes} of them"
        raise ValueError(f"{name} is {of_all}, got {value!r}")
    if any(k < least for k in given):
        raise ValueError(f"{name} is at least {least}, got {value!r}")
    return tuple([int(k) for k in given])


def batched(name: str, x: Any, axes: int, layout: str) -> tuple[Any, bool]:
    """The input with an axis for the batch, and whether it had one. Raises :class:`ShapeError` for other ranks."""
    rank = np.ndim(x)
    if rank not in (axes + 1, axes + 2):
        raise ea.ShapeError(f"{name} takes inputs (n, {layout}) or ({layout}), got shape {np.shape(x)}")
    return (x, True) if rank == axes + 2 else (x[None], False)


def padded(x: Any, before: Sequence[int], after: Sequence[int], value: float = 0) -> Any:
    """The array with more entries around its last axes, fewer where a number is negative."""
    if not any(before) and not any(after):
        return x
    lead = np.ndim(x) - len(before)
    sizes = np.shape(x)[lead:]
    cut = [slice(max(-b, 0), n - max(-a, 0)) for b, a, n in zip(before, after, sizes, strict=True)]
    if any(b < 0 or a < 0 for b, a in zip(before, after, strict=True)):
        x = x[(..., *cut)]
    widths = [(max(b, 0), max(a, 0)) for b, a in zip(before, after, strict=True)]
    return np.pad(x, [(0, 0)] * lead + widths, constant_values=value) if any(map(any, widths)) else x


def extents(kernel: Sequence[int], dilation: Sequence[int]) -> tuple[int, ...]:
    """How many entries a kernel reaches over."""
    return tuple([d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)])


def windows(name: str, x: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Any:
    """``V[.., i, j, p, q] = x[.., stride i + dilation p, stride j + dilation q]``, a view.

    Raises :class:`ShapeError` where the kernel does not fit in.
    """
    axes = len(kernel)
    sizes, reach = np.shape(x)[-axes:], extents(kernel, dilation)
    if any(length > size for length, size in zip(reach, sizes, strict=True)):
        raise ea.ShapeError(
            f"{name}: a kernel of size {tuple(kernel)} with dilation {tuple(dilation)} reaches over {reach} entries, "
            f"but the input with its padding has {tuple(sizes)}: use a smaller kernel, or more padding"
        )
    places = tuple(range(np.ndim(x) - axes, np.ndim(x)))
    views = sliding_window_view(x, reach, axis=places)
    steps = (*stride, *dilation)
    if all(step == 1 for step in steps):
        return views
    chosen: Any = (..., *[slice(None, None, step) for step in steps])
    return views[chosen]
