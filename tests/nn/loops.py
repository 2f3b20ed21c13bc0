"""Convolution and pooling entry by entry, as their formulas say: what the functions are compared with."""

# ruff: noqa: PLR0917 (the options of a convolution)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Pair = tuple[int, int]


def convolved(x: Array, w: Array, stride: Pair, before: Pair, after: Pair, dilation: Pair, groups: int) -> Array:
    """``y[n, o, i, j] = Σ x[n, c, s i + d p - P, s j + d q - P] w[o, c, p, q]`` over the entries that there are."""
    outputs, channels, height, width = w.shape
    sizes = [
        (x.shape[2 + a] + before[a] + after[a] - dilation[a] * (w.shape[2 + a] - 1) - 1) // stride[a] + 1
        for a in range(2)
    ]
    y = np.zeros((len(x), outputs, *sizes), x.dtype)
    for o, i, j, c, p, q in np.ndindex(outputs, *sizes, channels, height, width):
        at = (stride[0] * i + dilation[0] * p - before[0], stride[1] * j + dilation[1] * q - before[1])
        if 0 <= at[0] < x.shape[2] and 0 <= at[1] < x.shape[3]:
            channel = o // (outputs // groups) * channels + c
            y[:, o, i, j] += x[:, channel, at[0], at[1]] * w[o, c, p, q]
    return y


def spread(x: Array, w: Array, stride: Pair, padding: Pair, more: Pair, dilation: Pair, groups: int) -> Array:
    """``y[n, o, s i + d p - P, s j + d q - P] += x[n, c, i, j] w[c, o, p, q]`` at the places that there are."""
    channels, outputs, height, width = w.shape
    sizes = [
        (x.shape[2 + a] - 1) * stride[a] - 2 * padding[a] + dilation[a] * (w.shape[2 + a] - 1) + 1 + more[a]
        for a in range(2)
    ]
    y = np.zeros((len(x), outputs * groups, *sizes), x.dtype)
    for c, o, i, j, p, q in np.ndindex(channels, outputs, *x.shape[2:], height, width):
        at = (stride[0] * i + dilation[0] * p - padding[0], stride[1] * j + dilation[1] * q - padding[1])
        if 0 <= at[0] < sizes[0] and 0 <= at[1] < sizes[1]:
            y[:, c // (channels // groups) * outputs + o, at[0], at[1]] += x[:, c, i, j] * w[c, o, p, q]
    return y


def pooled(
    x: Array, of_window: Callable[[list[Array]], Array], kernel: Pair, stride: Pair, padding: Pair, dilation: Pair
) -> Array:
    """What a function gives of the entries of each window that there are."""
    sizes = [(x.shape[2 + a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(2)]
    y = np.zeros((*x.shape[:2], *sizes), x.dtype)
    for i, j in np.ndindex(*sizes):
        entries = []
        for p, q in np.ndindex(*kernel):
            at = (stride[0] * i + dilation[0] * p - padding[0], stride[1] * j + dilation[1] * q - padding[1])
            if 0 <= at[0] < x.shape[2] and 0 <= at[1] < x.shape[3]:
                entries.append(x[:, :, at[0], at[1]])
        y[:, :, i, j] = of_window(entries)
    return y
