"""Dropout: entries at random are zero while a network is trained.

Owns its formula. Imports NumPy and the context of calls. Invariant: the mask is an array that is drawn outside of what
is traced, so that it is a constant of all derivatives; within ``apply`` it is the same in each call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.nn.context import draw
from einsumad.nn.functional.indices import dtype_of
from einsumad.nn.random import Random, generator_of


def dropout(input: Any, p: float = 0.5, training: bool = True, *, rng: Random = None) -> Any:
    """In training each entry is 0 with the probability p, else ``x / (1 - p)`` (Srivastava et al., 2014).

    The mask is drawn from `rng`, a generator, a seed or None for the library's own, in single precision: it does not
    depend on the dtype. Outside of training, or for p = 0, this is the input itself, and nothing is drawn.

    Raises :class:`ValueError` for a p that is no probability.

    >>> import numpy as np, einsumad.nn as nn
    >>> nn.functional.dropout(np.ones(6), 0.5, rng=0)
    array([2., 2., 2., 0., 0., 0.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p is a probability, from 0 to 1, got {p}")
    if not training or p == 0:
        return input
    shape, dtype = np.shape(input), dtype_of(input)
    if dtype.kind != "f":
        raise TypeError(f"dropout takes floating-point numbers, got dtype {dtype}")
    scale = dtype.type(0 if p == 1 else 1 / (1 - p))

    def mask(generator: np.random.Generator) -> np.ndarray:
        drawn: np.ndarray = np.multiply(generator.random(shape, np.float32) >= p, scale)
        return drawn

    return input * draw(generator_of(rng), mask)
