"""The layer that drops entries at random.

Owns :class:`Dropout`. Imports modules and its function. Invariant: random numbers come from its generator alone.
"""

from __future__ import annotations

from typing import Any

from einsumad.nn import functional
from einsumad.nn.module import Module
from einsumad.nn.random import Random, generator_of


class Dropout(Module):
    """In training each entry is 0 with the probability p, else ``x / (1 - p)`` (Srivastava et al., 2014).

    Masks are drawn from `generator`: the one that is given as `rng`, a new one for a seed, and None for the library's
    own, which ``nn.manual_seed`` starts anew. Each call draws a new mask. Within ``apply`` it is the mask that would
    come next, the same in each call, so that derivatives can be compared with differences. A function that
    ``ea.compile`` traces once keeps the mask that was drawn then.

    Raises :class:`ValueError` for a p that is no probability.

    >>> import numpy as np, einsumad.nn as nn
    >>> layer, x = nn.Dropout(0.5, rng=0), np.ones(6)
    >>> layer.apply({}, x), layer(x), layer(x)
    (array([2., 2., 2., 0., 0., 0.]), array([2., 2., 2., 0., 0., 0.]), array([0., 0., 0., 2., 2., 2.]))
    >>> layer.eval()(x)
    array([1., 1., 1., 1., 1., 1.])
    """

    def __init__(self, p: float = 0.5, *, rng: Random = None) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout: p is a probability, from 0 to 1, got {p}")
        self.p = float(p)
        self.generator = None if rng is None else generator_of(rng)

    def forward(self, input: Any) -> Any:
        """The layer for inputs of any shape."""
        return functional.dropout(input, self.p, self.training, rng=self.generator)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"
