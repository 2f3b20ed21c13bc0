"""Normalisation over features.

Owns :class:`LayerNorm`. Imports modules. Invariant: no statistics are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter


class LayerNorm(Module):
    """``(x - mean) / √(var + eps) weight + bias`` over the last axes (Ba, Kiros and Hinton, 2016)."""

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = np.float32,
    ) -> None:
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps = shape, eps
        self.weight = Parameter(np.ones(shape, dtype)) if elementwise_affine else None
        self.bias = Parameter(np.zeros(shape, dtype)) if elementwise_affine and bias else None

    def forward(self, x: Any) -> Any:
        """The layer for inputs ``(..., *normalized_shape)``."""
        if np.shape(x)[-len(self.normalized_shape) :] != self.normalized_shape:
            raise ea.ShapeError(f"{self!r} takes inputs (..., {self.normalized_shape}), got {np.shape(x)}")
        axes = tuple(range(-len(self.normalized_shape), 0))
        centred = x - np.mean(x, axis=axes, keepdims=True)
        y = centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + self.eps)
        y = y if self.weight is None else y * self.weight
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.normalized_shape}, eps={self.eps}"
