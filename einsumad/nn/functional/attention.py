"""Attention: sums of values, weighted by how well keys fit a query.

Owns the weights and their masks. Imports NumPy, softmax, and the context of calls. Invariant: what a mask excludes is
selected away and never multiplied, so that no infinity of a mask meets a zero, in no derivative; a query all of whose
keys are excluded has weights 0 and derivatives 0.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import einsumad as ea
from einsumad.nn.context import draw
from einsumad.nn.functional.activations import softmax
from einsumad.nn.random import Random, generator_of


def scaled_dot_product_attention(  # noqa: PLR0917 (PyTorch's order)
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    rng: Random = None,
) -> Any:
    """``softmax(scale Q Kᵀ + mask) V`` with ``scale = 1/√E`` (Vaswani et al., 2017, equation 1).

    Queries are ``(..., L, E)``, keys ``(..., S, E)``, values ``(..., S, V)``, results ``(..., L, V)``. A mask
    broadcasts to ``(..., L, S)``: a boolean one is True where a key takes part, as in PyTorch (in
    :class:`MultiHeadAttention` it is the other way round there, and here); another one is added. `is_causal` lets key j
    take part for queries ``i >= j``, besides what a mask says. With `dropout_p` weights are dropped with that
    probability, always: a function does not know of training.

    A query without any key gives 0. Raises :class:`ShapeError` for shapes that do not fit, and :class:`TypeError` for a
    mask of whole numbers.

    >>> import numpy as np, einsumad.nn as nn
    >>> x = np.eye(3)
    >>> nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.36, 0.64, 0.  ],
           [0.26, 0.26, 0.47]])
    """
    shapes = np.shape(query), np.shape(key), np.shape(value)
    if min([len(shape) for shape in shapes]) < 2 or shapes[0][-1] != shapes[1][-1] or shapes[1][-2] != shapes[2][-2]:
        raise ea.ShapeError(
            "scaled_dot_product_attention takes queries (..., L, E), keys (..., S, E) and values (..., S, V), got "
            f"{', '.join(map(str, shapes))}"
        )
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p is a probability, got {dropout_p}")
    excluded, added = (None, None) if attn_mask is None else read_mask("attn_mask", attn_mask, excludes=False)
    if is_causal:
        excluded = either(excluded, causal_mask(shapes[0][-2], shapes[1][-2]))
    weights = attention_weights(query, key, excluded, added, scale)
    if dropout_p:
        kept = draw(generator_of(rng), lambda generator: generator.random(np.shape(weights)) >= dropout_p)
        weights = np.where(kept, weights / (1 - dropout_p) if dropout_p < 1 else weights, 0)
    return weights @ value


def attention_weights(query: Any, key: Any, excluded: Any = None, added: Any = None, scale: float | None = None) -> Any:
    """``softmax(scale Q Kᵀ + added)`` over the keys that are not excluded, ``(..., L, S)``; 0 where none is left.

    The dtype is that of the scores: a mask in double precision does not make all that follows so.
    """
    features = np.shape(query)[-1]
    factor = (1 / sqrt(features) if features else 1.0) if scale is None else float(scale)
    scores = (query * factor) @ np.swapaxes(key, -1, -2)
    for name, mask in (("added", added), ("boolean", excluded)):
        _check_spreads(name, mask, np.shape(scores))
    if added is not None:
        scores = scores + (added if added.dtype == scores.dtype else added.astype(scores.dtype))
    if excluded is None:
        return softmax(scores)
    without_keys = np.all(excluded, axis=-1, keepdims=True)
    if isinstance(without_keys, np.ndarray) and not without_keys.any():
        return softmax(np.where(excluded, -np.inf, scores))
    weights = softmax(np.where(excluded & ~without_keys, -np.inf, scores))  # without keys: anything finite, then 0
    return np.where(without_keys, 0, weights)


def read_mask(name: str, mask: Any, *, excludes: bool) -> tuple[Any, Any]:
    """Which keys a mask excludes, and what it adds to the scores of the others; either may be None.

    True excludes a key, or lets it take part, as `excludes` says; a mask of floats excludes where it is ``-inf``.
    """
    mask = mask if hasattr(mask, "dtype") else np.asarray(mask)
    dtype = np.dtype(mask.dtype)
    if dtype.kind == "b":
        return mask if excludes else ~mask, None
    if dtype.kind != "f":
        raise TypeError(
            f"{name} is boolean, or of floats that are added to the scores, got dtype {dtype}: "
            f"{'True excludes a key' if excludes else 'True lets a key take part'}"
        )
    excluded = mask == -np.inf
    if isinstance(excluded, np.ndarray) and not excluded.any():
        return None, mask
    return excluded, np.where(excluded, 0, mask)


def causal_mask(queries: int, keys: int) -> np.ndarray:
    """True for the keys behind each query, which it must not see."""
    return ~np.tri(queries, keys, dtype=bool)


def either(one: Any, other: Any) -> Any:
    """What one of two masks excludes, each of which may be None."""
    return other if one is None else one if other is None else one | other


def _check_spreads(name: str, mask: Any, shape: tuple[int, ...]) -> None:
    if mask is None:
        return
    try:
        fits = np.broadcast_shapes(np.shape(mask), shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ea.ShapeError(f"the {name} mask has shape {np.shape(mask)}, which does not broadcast to {shape}")
