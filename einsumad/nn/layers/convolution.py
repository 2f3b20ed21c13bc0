"""Convolution layers.

Owns them. Imports modules, initialisers and the functions. Invariant: the shapes and names of parameters are those of
PyTorch, so that states can be exchanged.
"""

# ruff: noqa: PLR0917 (functions have PyTorch's signatures)

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy as np

import einsumad as ea
from einsumad.nn import functional
from einsumad.nn.functional.convolution import Padding, paddings
from einsumad.nn.functional.windows import Numbers, for_each_axis
from einsumad.nn.initialisation import uniform_by_fan_in
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.random import Random, generator_of
from einsumad.nn.showing import headed


class Convolution(Module):
    """What the layers share: sizes, and the parameters `weight` and `bias`; subclasses say of how many axes."""

    axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers,
        padding: Padding,
        dilation: Numbers,
        groups: int,
        bias: bool,
        padding_mode: str,
        dtype: Any,
        rng: Random,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f"padding_mode is 'zeros', got {padding_mode!r}: pad the input with np.pad(x, ..., mode=)")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            for_each_axis(name, channels, 1, 1)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{in_channels} input and {out_channels} output channels do not part into {groups} groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = for_each_axis("kernel_size", kernel_size, self.axes, 1)
        self.stride = for_each_axis("stride", stride, self.axes, 1)
        self.dilation = for_each_axis("dilation", dilation, self.axes, 1)
        paddings(padding, self.kernel_size, self.stride, self.dilation)
        self.padding = padding if isinstance(padding, str) else for_each_axis("padding", padding, self.axes, 0)
        generator, shape = generator_of(rng), (*self._channels(), *self.kernel_size)
        fan_in = prod(shape[1:])
        self.weight = Parameter(uniform_by_fan_in(shape, fan_in, generator, dtype))
        self.bias = Parameter(uniform_by_fan_in((out_channels,), fan_in, generator, dtype)) if bias else None

    def _channels(self) -> tuple[int, int]:
        """The first two axes of the weight."""
        return self.out_channels, self.in_channels // self.groups

    def _check(self, x: Any) -> None:
        """Refuse inputs of other channels, by name."""
        shape = np.shape(x)
        if len(shape) not in (self.axes + 1, self.axes + 2) or shape[-1 - self.axes] != self.in_channels:
            sizes = "length" if self.axes == 1 else "height, width"
            raise ea.ShapeError(f"{headed(self)} takes inputs (..., {self.in_channels}, {sizes}), got {shape}")

    def extra_repr(self) -> str:
        """The sizes, and the options that are not the usual ones."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        usual = {"padding": (0,) * self.axes, "dilation": (1,) * self.axes, "groups": 1, "output_padding": (0, 0)}
        for name, value in usual.items():
            if getattr(self, name, value) != value:
                text += f", {name}={getattr(self, name)!r}"
        return text if self.bias is not None else f"{text}, bias=False"


class DirectConvolution(Convolution):
    """A convolution that is no transpose of one; subclasses say along how many axes, and have its function."""

    function: ClassVar[Any]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Padding = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        super().__init__(*sizes, bias, padding_mode, dtype, rng)

    def forward(self, x: Any) -> Any:
        """The convolution of x."""
        self._check(x)
        return type(self).function(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(DirectConvolution):
    """A convolution along one axis: inputs ``(n, in_channels, length)``, or without n; see ``functional.conv1d``.

    `weight` is ``(out_channels, in_channels / groups, size)``, `bias` ``(out_channels,)`` or None, both uniform in
    ``±1/√(in_channels / groups * size)`` as in PyTorch. `padding_mode` is ``"zeros"``.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.Conv1d(2, 3, 5, padding="same", rng=0)(np.ones((4, 2, 10), np.float32)).shape
    (4, 3, 10)
    """

    axes, function = 1, staticmethod(functional.conv1d)


class Conv2d(DirectConvolution):
    """A convolution of images ``(n, in_channels, height, width)``, or without n; see ``functional.conv2d``.

    `weight` is ``(out_channels, in_channels / groups, height, width)``, `bias` ``(out_channels,)`` or None, both
    uniform in ``±1/√(in_channels / groups * height * width)`` as in PyTorch. `padding_mode` is ``"zeros"``.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.Conv2d(1, 8, 5, stride=2, rng=0)(np.ones((4, 1, 28, 28), np.float32)).shape
    (4, 8, 12, 12)
    """

    axes, function = 2, staticmethod(functional.conv2d)


class ConvTranspose2d(Convolution):
    """The transpose of `Conv2d`: each input entry adds a kernel to the output; see ``functional.conv_transpose2d``.

    `weight` is ``(in_channels, out_channels / groups, height, width)``, `bias` ``(out_channels,)`` or None, both
    uniform in ``±1/√(out_channels / groups * height * width)`` as in PyTorch. `padding_mode` is ``"zeros"``.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.ConvTranspose2d(8, 1, 2, stride=2, rng=0)(np.ones((4, 8, 14, 14), np.float32)).shape
    (4, 1, 28, 28)
    """

    axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Numbers = 1,
        padding_mode: str = "zeros",
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        for_each_axis("padding", padding, 2, 0)  # has no "same"
        sizes = (in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        super().__init__(*sizes, bias, padding_mode, dtype, rng)
        self.output_padding = for_each_axis("output_padding", output_padding, 2, 0)
        for more, step, space in zip(self.output_padding, self.stride, self.dilation, strict=True):
            if more >= max(step, space):
                raise ValueError(f"output_padding is less than stride or dilation, got {output_padding!r}")

    def _channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups

    def forward(self, x: Any) -> Any:
        """The transposed convolution of x."""
        self._check(x)
        cut: Any = self.padding  # numbers, as __init__ has seen to
        options = (self.stride, cut, self.output_padding, self.groups, self.dilation)
        return functional.conv_transpose2d(x, self.weight, self.bias, *options)
