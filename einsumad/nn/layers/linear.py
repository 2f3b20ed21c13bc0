"""The affine layer.

Owns :class:`Linear`. Imports modules and initialisers. Invariant: the shapes and names of parameters are those of
PyTorch, so that states can be exchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.initialisation import uniform_by_fan_in
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.random import Random, generator_of
from einsumad.nn.showing import headed


class Linear(Module):
    """``y[..., o] = Σ_i x[..., i] weight[o, i] + bias[o]``.

    `weight` is ``(out_features, in_features)``, `bias` ``(out_features,)`` or None, both uniform in
    ``±1/√in_features`` as in PyTorch.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.Linear(3, 2, rng=0)(np.ones((4, 3), np.float32)).shape
    (4, 2)
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = np.float32, rng: Random = None
    ) -> None:
        generator = generator_of(rng)
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(uniform_by_fan_in((out_features, in_features), in_features, generator, dtype))
        self.bias = Parameter(uniform_by_fan_in((out_features,), in_features, generator, dtype)) if bias else None

    def forward(self, x: Any) -> Any:
        """The layer for inputs ``(..., in_features)``."""
        if np.shape(x)[-1:] != (self.in_features,):
            raise ea.ShapeError(f"{headed(self)} takes inputs (..., {self.in_features}), got {np.shape(x)}")
        y = x @ self.weight.T
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.in_features}, {self.out_features}{'' if self.bias is not None else ', bias=False'}"
