"""Attention with several heads.

Owns :class:`MultiHeadAttention`. Imports modules, the affine layer, dropout, and the weights of attention. Invariant:
names and shapes of parameters are those of PyTorch, so that states can be exchanged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.functional.attention import attention_weights, causal_mask, either, read_mask
from einsumad.nn.initialisation import xavier_uniform, zeros
from einsumad.nn.layers.dropout import Dropout
from einsumad.nn.layers.linear import Linear
from einsumad.nn.module import Module
from einsumad.nn.parameter import Parameter
from einsumad.nn.random import Random, generator_of
from einsumad.nn.showing import headed


class MultiHeadAttention(Module):
    """``concat(head_1, ...) W_outᵀ + b_out``, each head softmax attention of its part of the projected features.

    Query, key and value are projected by `in_proj_weight` ``(3 embed_dim, embed_dim)``, which is uniform as Xavier has
    it, and `in_proj_bias`, which is 0; `out_proj` is a :class:`Linear` whose bias is 0. Names, shapes and initial
    values are those of PyTorch's ``nn.MultiheadAttention``, and that name is this class too. In training, weights are
    dropped with the probability `dropout`. See :meth:`forward` for shapes and masks.

    Vaswani et al. (2017), section 3.2.2.

    >>> import numpy as np, einsumad.nn as nn
    >>> attention = nn.MultiHeadAttention(6, 2, batch_first=True, rng=0)
    >>> x = np.ones((4, 5, 6), np.float32)
    >>> output, weights = attention(x, x, x, is_causal=True)
    >>> output.shape, weights.shape
    ((4, 5, 6), (4, 5, 5))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        batch_first: bool = False,
        dtype: Any = np.float32,
        rng: Random = None,
    ) -> None:
        if min(embed_dim, num_heads) < 1 or embed_dim % num_heads:
            raise ValueError(f"embed_dim is a multiple of num_heads, both positive, got {embed_dim} and {num_heads}")
        generator = generator_of(rng)
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        self.dropout = dropout
        self.in_proj_weight = Parameter(xavier_uniform((3 * embed_dim, embed_dim), rng=generator, dtype=dtype))
        self.in_proj_bias = Parameter(zeros((3 * embed_dim,), dtype)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype=dtype, rng=generator)
        if self.out_proj.bias is not None:
            self.out_proj.bias.data = zeros((embed_dim,), dtype)
        if dropout:
            self.dropped = Dropout(dropout, rng=generator)

    def forward(  # noqa: PLR0917 (PyTorch's order)
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The output ``(L, N, embed_dim)``, and the weights ``(N, L, S)``, or None without `need_weights`.

        Queries are ``(L, N, embed_dim)``, keys and values ``(S, N, embed_dim)``; with `batch_first` the first two axes
        the other way round, and without a batch there is no axis N. With ``average_attn_weights=False`` weights are
        those of each head, ``(N, num_heads, L, S)``.

        `attn_mask` is ``(L, S)`` or ``(N num_heads, L, S)``, `key_padding_mask` ``(N, S)``. True excludes a key; floats
        are added to the scores, and exclude where they are ``-inf``. `is_causal` excludes keys behind the query,
        besides what the masks say; unlike PyTorch's it needs no `attn_mask`. A query without any key left has weights
        0, and its output is the bias of `out_proj`; PyTorch gives NaN with `need_weights`.
        """
        shapes = self._check(query, key, value)
        batched, itself = len(shapes[0]) == 3, query is key and key is value
        query, key, value = [self._batch_first(part, batched) for part in (query, key, value)]
        (batch, length, _), keys = np.shape(query), np.shape(key)[1]
        excluded, added = self._masks(attn_mask, key_padding_mask, (batch, length, keys), batched)
        if is_causal:
            excluded = either(excluded, causal_mask(length, keys))
        heads = [self._heads(part) for part in self._projected(query, key, value, itself)]
        weights = attention_weights(heads[0], heads[1], excluded, added)
        if self.dropout:
            weights = self.dropped(weights)
        joined = np.swapaxes(weights @ heads[2], 1, 2).reshape(batch, length, self.embed_dim)
        output = self.out_proj(joined)
        output = output[0] if not batched else output if self.batch_first else np.swapaxes(output, 0, 1)
        if not need_weights:
            return output, None
        weights = np.mean(weights, axis=1) if average_attn_weights else weights
        return output, weights if batched else weights[0]

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.embed_dim}, {self.num_heads}"

    def _check(self, *parts: Any) -> list[tuple[int, ...]]:
        """The shapes of query, key and value, if they fit."""
        shapes = [np.shape(part) for part in parts]
        query, key, value = shapes
        fits = len(query) in (2, 3) and len(query) == len(key) and key == value
        fits = fits and query[-1] == key[-1] == self.embed_dim
        if fits and len(query) == 3:
            at = 0 if self.batch_first else 1
            fits = query[at] == key[at]
        if not fits:
            axes = ("N, L", "N, S") if self.batch_first else ("L, N", "S, N")
            raise ea.ShapeError(
                f"{headed(self)} takes queries ({axes[0]}, {self.embed_dim}), keys and values "
                f"({axes[1]}, {self.embed_dim}), all with or all without the axis N, got "
                f"{', '.join(map(str, shapes))}"
            )
        return shapes

    def _batch_first(self, x: Any, batched: bool) -> Any:
        if not batched:
            return np.expand_dims(x, 0)
        return x if self.batch_first else np.swapaxes(x, 0, 1)

    def _projected(self, query: Any, key: Any, value: Any, itself: bool) -> list[Any]:
        """The three projections; those of one array are one product."""
        size, weight, bias = self.embed_dim, self.in_proj_weight, self.in_proj_bias
        parts = [slice(k * size, (k + 1) * size) for k in range(3)]
        if itself:
            joined = query @ weight.T if bias is None else query @ weight.T + bias
            return [joined[..., part] for part in parts]
        found = [x @ weight[part].T for x, part in zip((query, key, value), parts, strict=True)]
        return found if bias is None else [x + bias[part] for x, part in zip(found, parts, strict=True)]

    def _heads(self, x: Any) -> Any:
        """``(N, L, embed_dim)`` as ``(N, num_heads, L, embed_dim / num_heads)``."""
        batch, length, size = np.shape(x)
        return np.swapaxes(x.reshape(batch, length, self.num_heads, size // self.num_heads), 1, 2)

    def _masks(self, attn_mask: Any, padding: Any, sizes: tuple[int, int, int], batched: bool) -> tuple[Any, Any]:
        """What both masks exclude and add, of shapes that broadcast to ``(N, num_heads, L, S)``."""
        (batch, length, keys), heads = sizes, self.num_heads
        excluded, added = None, None
        for name, mask, shapes in (
            ("attn_mask", attn_mask, [(length, keys), (batch * heads, length, keys)]),
            ("key_padding_mask", padding, [(batch, keys) if batched else (keys,)]),
        ):
            if mask is None:
                continue
            if np.shape(mask) not in shapes:
                raise ea.ShapeError(f"{name} has shape {' or '.join(map(str, shapes))} here, got {np.shape(mask)}")
            without, more = read_mask(name, mask, excludes=True)
            wide = (batch, 1, 1, keys) if name == "key_padding_mask" else (-1, heads, length, keys)
            if name == "attn_mask" and np.ndim(mask) == 2:
                wide = (1, 1, length, keys)
            without, more = [part if part is None else np.reshape(part, wide) for part in (without, more)]
            excluded = either(excluded, without)
            added = more if added is None else added if more is None else added + more
        return excluded, added


MultiheadAttention = MultiHeadAttention
"""PyTorch's spelling of the same class."""
