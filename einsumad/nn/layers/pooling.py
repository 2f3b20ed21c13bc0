"""Pooling layers, and those that join and split axes.

Owns them. Imports modules and their functions. Invariant: each is its function with fixed options.
"""

# ruff: noqa: PLR0917 (functions have PyTorch's signatures)

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

import einsumad as ea
from einsumad.nn import functional
from einsumad.nn.functional.windows import Numbers
from einsumad.nn.module import Module
from einsumad.nn.showing import headed


class Pooling(Module):
    """A function of windows as a module; subclasses say which, and its options."""

    function: ClassVar[Any]

    def __init__(self, kernel_size: Numbers, stride: Numbers | None, padding: Numbers, **options: Any) -> None:
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.options = options

    def forward(self, x: Any) -> Any:
        """The function of the windows of x."""
        return type(self).function(x, self.kernel_size, self.stride, self.padding, **self.options)

    def extra_repr(self) -> str:
        """The options."""
        options = {"kernel_size": self.kernel_size, "stride": self.stride, "padding": self.padding, **self.options}
        return ", ".join([f"{name}={value}" for name, value in options.items()])


class MaxPool(Pooling):
    """The largest entry of each window; subclasses say along how many axes."""

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding, dilation=dilation, ceil_mode=ceil_mode)


class MaxPool1d(MaxPool):
    """The largest entry of each window along one axis; see ``functional.max_pool2d`` for the options."""

    function = staticmethod(functional.max_pool1d)


class MaxPool2d(MaxPool):
    """The largest entry of each window; at ties all of them share the derivative. See ``functional.max_pool2d``.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.MaxPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4))
    array([[[[ 5.,  7.],
             [13., 15.]]]])
    """

    function = staticmethod(functional.max_pool2d)


class AvgPool1d(Pooling):
    """The mean of each window along one axis; see ``functional.avg_pool2d`` for the options."""

    function = staticmethod(functional.avg_pool1d)

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad)


class AvgPool2d(Pooling):
    """The mean of each window; see ``functional.avg_pool2d`` for the options.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.AvgPool2d(2)(np.arange(16.0).reshape(1, 1, 4, 4))
    array([[[[ 2.5,  4.5],
             [10.5, 12.5]]]])
    """

    function = staticmethod(functional.avg_pool2d)

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        options = {"count_include_pad": count_include_pad, "divisor_override": divisor_override}
        super().__init__(kernel_size, stride, padding, ceil_mode=ceil_mode, **options)


class Flatten(Module):
    """The axes from `start_dim` to `end_dim`, both included, as one: all but that of the batch.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.Flatten()(np.zeros((8, 3, 4, 4))).shape
    (8, 48)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Any) -> Any:
        """The array with fewer axes."""
        return functional.flatten(x, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """The axis `dim` as several of these sizes, of which one may be -1; rows of a table as pictures, for example.

    Raises :class:`ShapeError` where the sizes do not fit.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.Unflatten(1, (1, 8, -1))(np.zeros((5, 64))).shape
    (5, 1, 8, 8)
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim, self.unflattened_size = int(dim), tuple([int(size) for size in unflattened_size])
        if min(self.unflattened_size, default=-2) < -1 or self.unflattened_size.count(-1) > 1:
            raise ValueError(f"sizes are whole numbers, of which one may be -1, got {unflattened_size}")

    def forward(self, x: Any) -> Any:
        """The array with more axes."""
        shape = np.shape(x)
        if not -len(shape) <= self.dim < len(shape):
            raise ea.ShapeError(f"{headed(self)}: an array of shape {shape} has no axis {self.dim}")
        at = self.dim % len(shape)
        known = prod([size for size in self.unflattened_size if size != -1])
        sizes = [shape[at] // max(known, 1) if size == -1 else size for size in self.unflattened_size]
        if prod(sizes) != shape[at]:
            raise ea.ShapeError(f"{headed(self)} does not fit an axis of size {shape[at]}, of shape {shape}")
        return np.reshape(x, shape[:at] + tuple(sizes) + shape[at + 1 :])

    def extra_repr(self) -> str:
        """The axis and the sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
