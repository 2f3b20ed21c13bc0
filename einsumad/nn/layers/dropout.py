"""Dropout.

Owns :class:`Dropout`. Imports modules and the context of calls. Invariant: random numbers are asked of the context, so
that the mask is the same wherever one call is looked at twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.nn.context import draw
from einsumad.nn.module import Module
from einsumad.nn.random import Random, generator_of


class Dropout(Module):
    """In training each entry is 0 with probability p, else divided by ``1 - p`` (Srivastava et al., 2014)."""

    def __init__(self, p: float = 0.5, rng: Random = None) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"p is a probability, got {p}")
        self.p, self._generator = p, generator_of(rng)

    def forward(self, x: Any) -> Any:
        """The entries that stay, scaled."""
        if not self.training or not self.p:
            return x
        shape, p = np.shape(x), self.p
        kept = draw(self._generator, lambda generator: generator.random(shape) >= p)
        return np.where(kept, x / (1 - p) if p < 1 else x, 0)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"
