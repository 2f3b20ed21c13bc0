"""Normalisations: mean 0 and variance 1 over some axes, then a scale and a shift.

Owns their formulas, and how running statistics go on. Imports NumPy. Invariant: nothing is written to; new running
statistics are results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import einsumad as ea


def batch_norm(  # noqa: PLR0917 (PyTorch's order)
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    *,
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / √(var + eps) · weight + bias`` for each channel of ``(n, channels, ...)`` (Ioffe, Szegedy, 2015).

    In training mean and variance (the biased one) are those of the batch, else the running ones. Arrays are not written
    to, so :func:`running_statistics` gives what the running ones become.

    Raises :class:`ShapeError` for shapes that do not fit, and :class:`ValueError` in training for one value a channel,
    or without statistics.

    >>> import numpy as np, einsumad.nn as nn
    >>> x = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> nn.functional.batch_norm(x, None, None, training=True, eps=0.0)
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    channels = _channels_of("batch_norm", input)
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    for name, array in given.items():
        if array is not None and np.shape(array) != (channels,):
            raise ea.ShapeError(f"batch_norm: {name} of {channels} channels has shape {np.shape(array)}")
    if training:
        mean, var = _moments("batch_norm", input)
    elif running_mean is None or running_var is None:
        raise ValueError("batch_norm: outside of training running_mean and running_var are needed")
    else:
        mean, var = running_mean, running_var
    factor = 1 / np.sqrt(var + eps)
    scale = factor if weight is None else weight * factor
    y = (input - _along_channels(mean, input)) * _along_channels(scale, input)
    return y if bias is None else y + _along_channels(bias, input)


def running_statistics(input: Any, running_mean: Any, running_var: Any, momentum: Any = 0.1) -> tuple[Any, Any]:
    """``(1 - momentum) running + momentum batch`` of the mean and of the unbiased variance of a batch, by channel.

    An empty batch changes nothing.

    >>> import numpy as np, einsumad.nn as nn
    >>> x = np.array([[1.0], [3.0]])
    >>> nn.functional.running_statistics(x, np.zeros(1), np.ones(1), momentum=0.5)
    (array([1.]), array([1.5]))
    """
    count = _values_a_channel(input)
    if not count:
        return running_mean, running_var
    mean, var = _moments("running_statistics", input)
    means = (1 - momentum) * running_mean + momentum * mean
    variances = (1 - momentum) * running_var + momentum * (var * (count / (count - 1)))
    return _in_dtype_of(running_mean, means), _in_dtype_of(running_var, variances)


def layer_norm(
    input: Any, normalized_shape: int | Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """``(x - mean) / √(var + eps) · weight + bias`` over the last axes (Ba, Kiros and Hinton, 2016).

    Raises :class:`ShapeError` unless the input ends in `normalized_shape`, which weight and bias have.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.functional.layer_norm(np.array([[1.0, 3.0], [5.0, 5.0]]), 2, eps=0.25) * np.sqrt(1.25)
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    axes = _last_axes("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    centred = input - np.mean(input, axis=axes, keepdims=True)
    y = centred / np.sqrt(np.var(input, axis=axes, keepdims=True) + eps)
    return _affine(y, weight, bias)


def rms_norm(input: Any, normalized_shape: int | Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    """``x / √(mean(x²) + eps) · weight`` over the last axes (Zhang and Sennrich, 2019).

    Without `eps` it is the spacing of the dtype at 1. Raises :class:`ShapeError` unless the input ends in
    `normalized_shape`, which the weight has.
    """
    axes = _last_axes("rms_norm", input, normalized_shape, weight=weight)
    least = float(np.finfo(input.dtype).eps) if eps is None else eps
    return _affine(input / np.sqrt(np.mean(input**2, axis=axes, keepdims=True) + least), weight, None)


def _moments(name: str, x: Any) -> tuple[Any, Any]:
    """Mean and biased variance by channel; of an empty batch, whose values nobody sees, 0 and 1."""
    count, channels = _values_a_channel(x), np.shape(x)[1]
    if count == 1:
        raise ValueError(
            f"{name}: in training a channel needs more than one value to have a variance, got inputs of shape "
            f"{np.shape(x)}"
        )
    if not count:
        return np.zeros(channels, x.dtype), np.ones(channels, x.dtype)
    axes = (0, *range(2, np.ndim(x)))
    return np.mean(x, axis=axes), np.var(x, axis=axes)


def _channels_of(name: str, x: Any) -> int:
    if np.ndim(x) < 2:
        raise ea.ShapeError(f"{name} takes inputs (n, channels, ...), got shape {np.shape(x)}")
    return int(np.shape(x)[1])


def _values_a_channel(x: Any) -> int:
    return int(prod(np.shape(x)[:1] + np.shape(x)[2:]))


def _along_channels(array: Any, x: Any) -> Any:
    return np.reshape(array, (1, -1) + (1,) * (np.ndim(x) - 2)) if np.size(array) else array


def _in_dtype_of(running: Any, values: Any) -> Any:
    dtype = running.dtype
    return values if values.dtype == dtype else values.astype(dtype)


def _last_axes(name: str, x: Any, normalized_shape: int | Sequence[int], **parameters: Any) -> tuple[int, ...]:
    shape = shape_of(normalized_shape)
    if not shape or np.shape(x)[-len(shape) :] != shape:
        raise ea.ShapeError(f"{name} over axes {shape} takes inputs that end in them, got shape {np.shape(x)}")
    for what, array in parameters.items():
        if array is not None and np.shape(array) != shape:
            raise ea.ShapeError(f"{name} over axes {shape}: {what} has shape {np.shape(array)}")
    return tuple(range(-len(shape), 0))


def shape_of(sizes: int | Sequence[int]) -> tuple[int, ...]:
    """Sizes of axes, of which a single one may stand alone."""
    return (int(sizes),) if isinstance(sizes, (int, np.integer)) else tuple([int(size) for size in sizes])


def _affine(y: Any, weight: Any, bias: Any) -> Any:
    scaled = y if weight is None else y * weight
    return scaled if bias is None else scaled + bias
