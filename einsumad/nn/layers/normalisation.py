"""Layers that normalise.

Owns :class:`BatchNorm1d`, :class:`BatchNorm2d`, :class:`LayerNorm` and :class:`RMSNorm`. Imports modules and their
functions. Invariant: names and shapes of parameters and buffers are those of PyTorch; running statistics only change in
calls in training, never in ``apply``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

import einsumad as ea
from einsumad.nn import functional
from einsumad.nn.functional.normalisation import shape_of
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.showing import headed


class _BatchNorm(Module):
    """Normalisation of each channel over a batch."""

    ranks: ClassVar[tuple[int, ...]]
    takes: ClassVar[str]
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        dtype: Any = np.float32,
    ) -> None:
        self.num_features, self.eps = num_features, float(eps)
        self.momentum = None if momentum is None else float(momentum)
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(np.ones(num_features, dtype)) if affine else None
        self.bias = Parameter(np.zeros(num_features, dtype)) if affine else None
        if track_running_stats:
            self.register_buffer("running_mean", np.zeros(num_features, dtype))
            self.register_buffer("running_var", np.ones(num_features, dtype))
            self.register_buffer("num_batches_tracked", np.zeros((), np.int64))
        else:
            self.running_mean = self.running_var = self.num_batches_tracked = None

    def forward(self, input: Any) -> Any:
        """The layer; in training the running statistics go on."""
        shape = np.shape(input)
        if len(shape) not in self.ranks or shape[1] != self.num_features:
            raise ea.ShapeError(f"{headed(self)} takes inputs {self.takes.format(self.num_features)}, got {shape}")
        by_batch = self.training or not self.track_running_stats
        y = functional.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, by_batch, eps=self.eps
        )
        if self.training and self.track_running_stats and np.size(input):
            self._go_on(input)
        return y

    def reset_running_stats(self) -> None:
        """Start the running statistics anew."""
        if self.track_running_stats:
            self.running_mean = np.zeros_like(self.running_mean)
            self.running_var = np.ones_like(self.running_var)
            self.num_batches_tracked = np.zeros_like(self.num_batches_tracked)

    def extra_repr(self) -> str:
        """The size and all options that are not the usual ones."""
        usual = {"eps": 1e-5, "momentum": 0.1, "affine": True, "track_running_stats": True}
        options = [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join([str(self.num_features), *options])

    def _go_on(self, x: Any) -> None:
        count = self.num_batches_tracked + 1
        momentum = self.momentum
        factor = 1 / count.astype(self.running_mean.dtype) if momentum is None else momentum
        self.running_mean, self.running_var = functional.running_statistics(
            x, self.running_mean, self.running_var, factor
        )
        self.num_batches_tracked = count


class BatchNorm1d(_BatchNorm):
    """``(x - mean) / √(var + eps) · weight + bias`` for each channel of ``(n, channels)`` or ``(n, channels, length)``.

    In training mean and variance are those of the batch, and buffers `running_mean` and `running_var` (the unbiased
    one) go on by ``(1 - momentum) running + momentum batch``; with ``momentum=None`` they are averages over all
    batches so far, `num_batches_tracked`. In evaluation they stand for those of the batch. Without `affine` there is
    no weight and no bias; without `track_running_stats` there are no buffers, and each batch is normalised by itself.
    ``apply_and_update`` gives new buffers back (Ioffe and Szegedy, 2015).

    Raises :class:`ShapeError` for other inputs, and :class:`ValueError` in training for a single value a channel.

    >>> import numpy as np, einsumad.nn as nn
    >>> layer, x = nn.BatchNorm1d(1), np.array([[1.0], [3.0]], np.float32)
    >>> layer(x).numpy().round(3)
    array([[-1.],
           [ 1.]], dtype=float32)
    >>> layer.running_mean, layer.running_var
    (array([0.2], dtype=float32), array([1.1], dtype=float32))
    """

    ranks = (2, 3)
    takes = "(n, {0}) or (n, {0}, length)"


class BatchNorm2d(_BatchNorm):
    """:class:`BatchNorm1d` of images ``(n, channels, height, width)``."""

    ranks = (4,)
    takes = "(n, {0}, height, width)"


class LayerNorm(Module):
    """``(x - mean) / √(var + eps) · weight + bias`` over the last axes (Ba, Kiros and Hinton, 2016).

    `weight` and `bias` have the shape `normalized_shape`, and start as ones and zeros. Without `elementwise_affine`
    there is neither; without `bias` no bias. Raises :class:`ShapeError` for inputs that do not end in these axes.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.LayerNorm(2)(np.array([[1.0, 3.0]], np.float32)).numpy().round(3)
    array([[-1.,  1.]], dtype=float32)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        *,
        dtype: Any = np.float32,
    ) -> None:
        self.normalized_shape, self.eps = shape_of(normalized_shape), float(eps)
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(np.ones(self.normalized_shape, dtype)) if elementwise_affine else None
        self.bias = Parameter(np.zeros(self.normalized_shape, dtype)) if elementwise_affine and bias else None

    def forward(self, input: Any) -> Any:
        """The layer for inputs ``(..., *normalized_shape)``."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The shape and the options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """``x / √(mean(x²) + eps) · weight`` over the last axes (Zhang and Sennrich, 2019).

    `weight` has the shape `normalized_shape` and starts as ones; without `elementwise_affine` there is none. Without
    `eps` it is the spacing of the dtype at 1. Raises :class:`ShapeError` for inputs that do not end in these axes.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        *,
        dtype: Any = np.float32,
    ) -> None:
        self.normalized_shape, self.eps = shape_of(normalized_shape), None if eps is None else float(eps)
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(np.ones(self.normalized_shape, dtype)) if elementwise_affine else None

    def forward(self, input: Any) -> Any:
        """The layer for inputs ``(..., *normalized_shape)``."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """The shape and the options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
