"""Transformers: attention and a small network, each beside its input.

Owns :class:`TransformerEncoderLayer`. Imports modules and the layers it is made of. Invariant: names of parameters are
those of PyTorch, so that states can be exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from einsumad.nn.functional.activations import gelu, relu
from einsumad.nn.layers.attention import MultiHeadAttention
from einsumad.nn.layers.dropout import Dropout
from einsumad.nn.layers.linear import Linear
from einsumad.nn.layers.normalisation import LayerNorm
from einsumad.nn.module import Module
from einsumad.nn.random import Random, generator_of

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": relu, "gelu": gelu}


class TransformerEncoderLayer(Module):
    """Self-attention and a network, each added to its input: ``norm2(y + net(y))`` with ``y = norm1(x + attend(x))``.

    With `norm_first` it is ``y + net(norm2(y))`` with ``y = x + attend(norm1(x))`` (Xiong et al., 2020). `activation`
    is ``"relu"``, ``"gelu"`` or a function. In training `dropout` acts on the weights of attention, on both sums, and
    within the network.

    Vaswani et al. (2017), section 3.1; names, shapes and initial values are those of PyTorch.

    >>> import numpy as np, einsumad.nn as nn
    >>> layer = nn.TransformerEncoderLayer(6, 2, dim_feedforward=8, batch_first=True, rng=0)
    >>> layer(np.ones((4, 5, 6), np.float32), is_causal=True).shape
    (4, 5, 6)
    """

    def __init__(  # noqa: PLR0917 (PyTorch's order)
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        if not callable(activation) and activation not in _ACTIVATIONS:
            raise ValueError(
                f"activation is one of {', '.join(map(repr, _ACTIVATIONS))}, or a function, got {activation!r}"
            )
        generator = generator_of(rng)
        self.norm_first = norm_first
        self.activation = activation if callable(activation) else _ACTIVATIONS[activation]
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype, rng=generator
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, dtype=dtype, rng=generator)
        self.linear2 = Linear(dim_feedforward, d_model, bias, dtype=dtype, rng=generator)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype)
        self.dropout, self.dropout1, self.dropout2 = [Dropout(dropout, rng=generator) for _ in range(3)]

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """The layer for ``(S, N, d_model)``, with `batch_first` ``(N, S, d_model)``, or ``(S, d_model)``.

        Masks are those of :meth:`MultiHeadAttention.forward`.
        """
        masks = {"attn_mask": src_mask, "key_padding_mask": src_key_padding_mask, "is_causal": is_causal}
        if self.norm_first:
            x = src + self._attend(self.norm1(src), masks)
            return x + self._through_network(self.norm2(x))
        x = self.norm1(src + self._attend(src, masks))
        return self.norm2(x + self._through_network(x))

    def _attend(self, x: Any, masks: dict[str, Any]) -> Any:
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **masks)[0])

    def _through_network(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
