"""Convolution, and its transpose, as products of windows with weights.

Owns their formulas. Imports windows. Invariant: all are one einsum of views; what derivatives need follows from the
product, whatever the order. As in networks in general the kernel is not turned (cross-correlation).
"""

# ruff: noqa: PLR0917 (functions have PyTorch's signatures)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

import einsumad as ea
from einsumad.nn.functional.windows import Numbers, batched, extents, for_each_axis, padded, windows

Padding: TypeAlias = Numbers | Literal["valid", "same"]
"""Zeros on both sides of each axis; ``"same"`` for results of the size of the input, ``"valid"`` for none."""

_LAYOUTS = {1: "channels, length", 2: "channels, height, width"}


def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Any:
    """``y[n, o, i] = Σ_{c, p} x[n, c, stride i + dilation p - padding] weight[o, c, p] + bias[o]``.

    Inputs are ``(n, channels, length)`` or without n, the weight ``(out, channels / groups, size)``; output channels of
    a group see its input channels only.

    Raises :class:`ShapeError` for shapes that do not fit, and :class:`ValueError` for options that do not.

    >>> conv1d(np.array([[1.0, 2.0, 4.0]]), np.array([[[-1.0, 1.0]]]))
    array([[1., 2.]])
    """
    return _convolved("conv1d", x, weight, bias, stride, padding, dilation, groups, axes=1)


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Any:
    """``y[n, o, i, j] = Σ_{c, p, q} x[n, c, s i + d p - P, s j + d q - P] weight[o, c, p, q] + bias[o]``.

    With the stride s, the dilation d and the padding P, each a number or a pair. Inputs are
    ``(n, channels, height, width)`` or without n, the weight ``(out, channels / groups, height, width)``; output
    channels of a group see its input channels only (Dumoulin and Visin, 2016).

    Raises :class:`ShapeError` for shapes that do not fit, and :class:`ValueError` for options that do not.

    >>> conv2d(np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3)), stride=2, padding=1)
    array([[[[4., 6.],
             [6., 9.]]]])
    """
    return _convolved("conv2d", x, weight, bias, stride, padding, dilation, groups, axes=2)


def conv_transpose2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Any:
    """What `conv2d` with these options does to a cotangent of its result: each input entry adds a kernel to the output.

    ``y[n, o, s i + d p - P, s j + d q - P] += x[n, c, i, j] weight[c, o, p, q]``. The weight is
    ``(channels, out / groups, height, width)``. The output has ``(size - 1) s - 2 P + d (k - 1) + 1`` entries along an
    axis, and `output_padding` more behind, which is less than s or d (Zeiler et al., 2010; Dumoulin and Visin, 2016).

    Raises :class:`ShapeError` for shapes that do not fit, and :class:`ValueError` for options that do not.

    >>> conv_transpose2d(np.ones((1, 1, 2)), np.ones((1, 1, 1, 3)), stride=2)
    array([[[1., 1., 2., 1., 1.]]])
    """
    name = "conv_transpose2d"
    steps, spaces = for_each_axis("stride", stride, 2, 1), for_each_axis("dilation", dilation, 2, 1)
    cut, more = for_each_axis("padding", padding, 2, 0), for_each_axis("output_padding", output_padding, 2, 0)
    for_each_axis("groups", groups, 1, 1)
    for extra, step, space in zip(more, steps, spaces, strict=True):
        if extra >= max(step, space):
            raise ValueError(f"output_padding is less than stride or dilation, got {output_padding!r}")
    x, has_batch = batched(name, x, 2, _LAYOUTS[2])
    channels = np.shape(x)[1]
    if np.ndim(weight) != 4 or np.shape(weight)[0] != channels:
        raise ea.ShapeError(f"{name}: inputs {np.shape(x)} need weights ({channels}, ...), got {np.shape(weight)}")
    _check_groups(name, channels, np.shape(weight)[1] * groups, groups)
    reach = extents(np.shape(weight)[2:], spaces)
    sizes = [
        (n - 1) * s - 2 * p + length + extra
        for n, s, p, length, extra in zip(np.shape(x)[2:], steps, cut, reach, more, strict=True)
    ]
    if any(size < 1 for size in sizes):
        raise ea.ShapeError(f"{name}: of inputs {np.shape(x)} the padding {cut} leaves nothing: use less padding")
    y = _added_kernels(x, _with_gaps(weight, spaces), steps, cut, sizes, groups)
    return _finished(name, y, bias, 2, has_batch)


def _convolved(
    name: str,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Numbers,
    padding: Padding,
    dilation: Numbers,
    groups: int,
    axes: int,
) -> Any:
    steps, spaces = for_each_axis("stride", stride, axes, 1), for_each_axis("dilation", dilation, axes, 1)
    for_each_axis("groups", groups, 1, 1)
    x, has_batch = batched(name, x, axes, _LAYOUTS[axes])
    channels, shape = np.shape(x)[1], np.shape(weight)
    if len(shape) != axes + 2 or shape[1] * groups != channels:
        raise ea.ShapeError(
            f"{name}: inputs {np.shape(x)} in {groups} groups need weights (out, {channels // groups}, ...), "
            f"got {shape}"
        )
    _check_groups(name, channels, shape[0], groups)
    before, after = paddings(padding, shape[2:], steps, spaces)
    x = _beside(x, weight)
    views = windows(name, padded(x, before, after), shape[2:], steps, spaces)
    grouped = weight.reshape(groups, shape[0] // groups, *shape[1:])
    return _finished(name, _product(views, grouped, groups, axes), bias, axes, has_batch)


def paddings(
    padding: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The entries before and behind each axis. Of an odd number for ``"same"``, the last one stands behind."""
    if padding == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if isinstance(padding, str):
        if padding != "same":
            raise ValueError(f"padding is 'valid', 'same' or whole numbers, got {padding!r}")
        if any(step != 1 for step in stride):
            raise ValueError(f"padding='same' needs stride 1, got {tuple(stride)}: give the padding in numbers")
        total = [length - 1 for length in extents(kernel, dilation)]
        return tuple([n // 2 for n in total]), tuple([n - n // 2 for n in total])
    both = for_each_axis("padding", padding, len(kernel), 0)
    return both, both


def _product(views: Any, weight: Any, groups: int, axes: int) -> Any:
    """``y[n, g o, i, j] = Σ views[n, g c, i, j, p, q] weight[g, o, c, p, q]``."""
    places, taps = "ij"[:axes], "pq"[:axes]
    shape = np.shape(views)
    if groups == 1:
        return np.einsum(f"nc{places}{taps},oc{taps}->no{places}", views, weight[0], optimize=True)
    parts = views.reshape(shape[0], groups, shape[1] // groups, *shape[2:])
    y = np.einsum(f"ngc{places}{taps},goc{taps}->ngo{places}", parts, weight, optimize=True)
    return y.reshape(shape[0], groups * np.shape(weight)[1], *shape[2 : 2 + axes])


def _added_kernels(
    x: Any, weight: Any, steps: Sequence[int], cut: Sequence[int], sizes: Sequence[int], groups: int
) -> Any:
    """``y[n, g o, s i + p - P, t j + q - Q] += x[n, g c, i, j] weight[g c, o, p, q]`` of these sizes.

    With ``p - P = s a + r`` that is one convolution for each rest r, ``y[s m + r] = Σ x[m - a] w[s a + r]``, and
    their results are put side by side (Shi et al., 2016). Kernels get zeros up to whole steps.
    """
    channels, out, *kernel = np.shape(weight)
    ahead = [-c % s for c, s in zip(cut, steps, strict=True)]
    taps = [-(-(f + k) // s) for f, k, s in zip(ahead, kernel, steps, strict=True)]
    behind = [a * s - f - k for a, s, f, k in zip(taps, steps, ahead, kernel, strict=True)]
    parts = padded(weight, ahead, behind).reshape(groups, channels // groups, out, taps[0], steps[0], taps[1], steps[1])
    turned = parts[:, :, :, ::-1, :, ::-1]
    x = _beside(x, weight)
    whole = [-(-size // s) for size, s in zip(sizes, steps, strict=True)]
    before = [a - 1 - (c + f) // s for a, c, f, s in zip(taps, cut, ahead, steps, strict=True)]
    after = [m + a - 1 - n - b for m, a, n, b in zip(whole, taps, np.shape(x)[2:], before, strict=True)]
    views = windows("conv_transpose2d", padded(x, before, after), taps, (1, 1), (1, 1))
    if groups == 1:
        apart = np.einsum("ncijpq,coprqt->noirjt", views, turned[0], optimize=True)
    else:
        split = views.reshape(np.shape(views)[0], groups, channels // groups, *np.shape(views)[2:])
        apart = np.einsum("ngcijpq,gcoprqt->ngoirjt", split, turned, optimize=True)
    joined = apart.reshape(np.shape(x)[0], groups * out, whole[0] * steps[0], whole[1] * steps[1])
    return padded(joined, (0, 0), [size - m * s for size, m, s in zip(sizes, whole, steps, strict=True)])


def _beside(x: Any, weight: Any) -> Any:
    """The input beside traced weights as a tensor: windows of a plain array would be copied when they meet them."""
    return ea.tensor(x) if isinstance(weight, ea.Tensor) and not isinstance(x, ea.Tensor) else x


def _with_gaps(weight: Any, spaces: Sequence[int]) -> Any:
    """The kernels with zeros between their entries, as dilation has them."""
    if tuple(spaces) == (1, 1):
        return weight
    channels, out, height, width = np.shape(weight)
    apart = np.pad(weight[:, :, :, None, :, None], [(0, 0)] * 3 + [(0, spaces[0] - 1), (0, 0), (0, spaces[1] - 1)])
    joined = apart.reshape(channels, out, height * spaces[0], width * spaces[1])
    return joined[:, :, : (height - 1) * spaces[0] + 1, : (width - 1) * spaces[1] + 1]


def _finished(name: str, y: Any, bias: Any, axes: int, has_batch: bool) -> Any:
    """The result with its bias, and without the axis of the batch if there was none."""
    if bias is not None:
        if np.shape(bias) != np.shape(y)[1:2]:
            raise ea.ShapeError(f"{name}: a bias of shape {np.shape(y)[1:2]} is needed, got {np.shape(bias)}")
        y = y + bias.reshape(-1, *[1] * axes)
    return y if has_batch else y[0]


def _check_groups(name: str, channels: int, out: int, groups: int) -> None:
    if channels % groups or out % groups:
        raise ea.ShapeError(f"{name}: {channels} input and {out} output channels do not part into {groups} groups")
