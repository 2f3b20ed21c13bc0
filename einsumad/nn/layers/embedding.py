"""A table of vectors that is learned.

Owns :class:`Embedding`. Imports modules and its function. Invariant: the row of the padding starts at zero and has no
derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad.nn import functional
from einsumad.nn.functional.embedding import row_of_padding
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.random import Random, generator_of


class Embedding(Module):
    """``weight[input]``: a vector ``(embedding_dim,)`` for each whole number from 0 to ``num_embeddings - 1``.

    `weight` is ``(num_embeddings, embedding_dim)``, normally distributed as in PyTorch. The row `padding_idx` starts at
    zero and has the derivative 0, so that it is not learned. Inputs have any shape, to which the axis of the vectors is
    added.

    Raises :class:`TypeError` for inputs that are no whole numbers and :class:`IndexError` for those that are out of
    range, also if they are negative.

    >>> import numpy as np, einsumad.nn as nn
    >>> layer = nn.Embedding(5, 3, padding_idx=0, rng=0)
    >>> np.sum(layer(np.array([[0, 4], [4, 1]]))).backward()
    >>> layer.weight.grad[:, 0]
    array([0., 1., 0., 0., 2.], dtype=float32)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = None if padding_idx is None else row_of_padding(padding_idx, num_embeddings)
        table = generator_of(rng).normal(size=(num_embeddings, embedding_dim))
        if self.padding_idx is not None:
            table[self.padding_idx] = 0
        self.weight = Parameter(table.astype(dtype))

    def forward(self, input: Any) -> Any:
        """The vectors ``(..., embedding_dim)`` of whole numbers ``(...)``."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """The sizes, and the padding if there is one."""
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
