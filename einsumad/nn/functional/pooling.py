"""Pooling: the largest entry, or the mean, of each window; and axes made one.

Owns their formulas. Imports windows. Invariant: a window never holds entries of another one's copy, as windows are
views; at ties all largest entries share the derivative equally, as everywhere in the library.
"""

# ruff: noqa: PLR0917 (functions have PyTorch's signatures)

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.functional.windows import Numbers, batched, extents, for_each_axis, padded, windows

_LAYOUTS = {1: "channels, length", 2: "channels, height, width"}


def max_pool1d(
    x: Any,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
) -> Any:
    """``y[n, c, i] = max_p x[n, c, stride i + dilation p - padding]``; see `max_pool2d`.

    >>> max_pool1d(np.array([[5.0, 3.0, 1.0, 2.0]]), 2)
    array([[5., 2.]])
    """
    return _largest("max_pool1d", x, kernel_size, stride, padding, dilation, ceil_mode, axes=1)


def max_pool2d(
    x: Any,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
) -> Any:
    """``y[n, c, i, j] = max_{p, q} x[n, c, s i + d p - P, s j + d q - P]``, -inf where x is padded.

    The stride s is the size of the kernel where none is given. With `ceil_mode` there is a last window also where it
    reaches over the end. At ties the derivative is shared equally by all largest entries of a window, where PyTorch
    gives all of it to the first. Inputs are ``(n, channels, height, width)``, or without n.

    Raises :class:`ShapeError` for shapes that do not fit, and :class:`ValueError` for options that do not, such as a
    padding of more than half of the kernel.

    >>> ea.grad(lambda x: np.sum(max_pool2d(x, 2)))(np.array([[[1.0, 3.0], [3.0, 2.0]]]))
    array([[[0. , 0.5],
            [0.5, 0. ]]])
    """
    return _largest("max_pool2d", x, kernel_size, stride, padding, dilation, ceil_mode, axes=2)


def avg_pool1d(
    x: Any,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window along one axis; see `avg_pool2d`.

    >>> avg_pool1d(np.array([[5.0, 3.0, 1.0, 2.0]]), 2)
    array([[4. , 1.5]])
    """
    return _mean("avg_pool1d", x, kernel_size, stride, padding, ceil_mode, count_include_pad, None, axes=1)


def avg_pool2d(
    x: Any,
    kernel_size: Numbers,
    stride: Numbers | None = None,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """``y[n, c, i, j] = Σ_{p, q} x[n, c, s i + p - P, s j + q - P] / count``, 0 where x is padded.

    The count is that of the entries of the window, of those within x only without `count_include_pad`, or what
    `divisor_override` says. Stride, `ceil_mode` and errors are those of `max_pool2d`.

    >>> avg_pool2d(np.arange(16.0).reshape(1, 4, 4), 2)
    array([[[ 2.5,  4.5],
            [10.5, 12.5]]])
    """
    return _mean("avg_pool2d", x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, axes=2)


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from `start_dim` to `end_dim`, both included, as one.

    >>> flatten(np.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """
    shape, rank = np.shape(x), max(np.ndim(x), 1)
    for dim in (start_dim, end_dim):
        if not -rank <= dim < rank:
            raise IndexError(f"flatten: axis {dim} is out of range for shape {shape}")
    start, end = start_dim % rank, end_dim % rank
    if start > end:
        raise ValueError(f"flatten: start_dim {start_dim} stands behind end_dim {end_dim} in shape {shape}")
    return x.reshape(*shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :])


def _largest(
    name: str, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, axes: int
) -> Any:
    x, has_batch = batched(name, x, axes, _LAYOUTS[axes])
    spaces = for_each_axis("dilation", dilation, axes, 1)
    kernel, steps, before, after = _frame(name, x, kernel_size, stride, padding, spaces, ceil_mode, axes)
    if (any(before) or any(after)) and np.dtype(x.dtype).kind != "f":
        raise TypeError(f"{name} pads with -inf, which needs a floating dtype, got {x.dtype}")
    views = windows(name, padded(x, before, after, -np.inf), kernel, steps, spaces)
    y = np.max(views, axis=_taps(axes)) if isinstance(views, ea.Tensor) else _one_by_one(np.maximum, views, kernel)
    return y if has_batch else y[0]


def _mean(
    name: str,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
    axes: int,
) -> Any:
    x, has_batch = batched(name, x, axes, _LAYOUTS[axes])
    once = (1,) * axes
    kernel, steps, before, after = _frame(name, x, kernel_size, stride, padding, once, ceil_mode, axes)
    views = windows(name, padded(x, before, after), kernel, steps, once)
    total = np.sum(views, axis=_taps(axes)) if isinstance(views, ea.Tensor) else _one_by_one(np.add, views, kernel)
    if divisor is not None:
        if not divisor:
            raise ValueError("divisor_override is not 0")
        y = total / divisor
    elif not any(before) and not any(after):
        y = total / prod(kernel)
    else:
        shares = _shares(np.shape(x)[2:], kernel, steps, before, after, count_include_pad)
        y = total * shares.astype(np.result_type(x.dtype, np.float16))
    return y if has_batch else y[0]


def _frame(
    name: str, x: Any, kernel_size: Any, stride: Any, padding: Any, spaces: tuple[int, ...], ceil_mode: bool, axes: int
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Kernel, stride, and how many entries are added before and behind each axis."""
    kernel = for_each_axis("kernel_size", kernel_size, axes, 1)
    steps = kernel if stride is None else for_each_axis("stride", stride, axes, 1)
    before = for_each_axis("padding", padding, axes, 0)
    reach = extents(kernel, spaces)
    if any(2 * p > length for p, length in zip(before, reach, strict=True)):
        raise ValueError(f"{name}: padding is at most half of the kernel, got padding {before} for a kernel {kernel}")
    after = list(before)
    for axis, (size, p, length, step) in enumerate(zip(np.shape(x)[2:], before, reach, steps, strict=True)):
        left = size + 2 * p - length
        if ceil_mode and left >= 0 and left % step and (left // step + 1) * step < size + p:
            after[axis] += step - left % step
    return kernel, steps, before, tuple(after)


def _taps(axes: int) -> tuple[int, ...]:
    """The axes of the entries of a window."""
    return tuple(range(-axes, 0))


def _one_by_one(ufunc: np.ufunc, views: Any, kernel: Sequence[int]) -> Any:
    """The windows of a plain array reduced in long loops, one for each of their entries."""
    first, *others = [views[(..., *place)] for place in np.ndindex(*kernel)]
    return reduce(lambda y, entry: ufunc(y, entry, out=y), others, first.copy())


def _shares(
    sizes: Sequence[int],
    kernel: Sequence[int],
    steps: Sequence[int],
    before: Sequence[int],
    after: Sequence[int],
    include: bool,
) -> np.ndarray:
    """One over the number of entries that count in each window."""
    counts = []
    for size, k, step, b, a in zip(sizes, kernel, steps, before, after, strict=True):
        ends = (-b, size + b) if include else (0, size)  # what is added behind for a last window never counts
        starts = np.arange(-b, size + a - k + 1, step)
        counts.append(np.minimum(starts + k, ends[1]) - np.maximum(starts, ends[0]))
    return np.asarray(1 / reduce(np.multiply.outer, counts))
