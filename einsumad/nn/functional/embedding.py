"""Embedding: rows of a table, chosen by whole numbers.

Owns the lookup. Imports NumPy and the checks of indices. Invariant: the derivative is a selection of rows, which adds
up where a row is chosen several times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import einsumad as ea
import einsumad.numpy as enp
from einsumad.nn.functional.indices import dtype_of, from_zero, wide

_constant = ea.custom_function(np.copy, push=lambda _, tangents: np.zeros_like(tangents[0]), name="constant")


def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Any:
    """``weight[input]``: rows ``(..., dim)`` of a table ``(rows, dim)`` for whole numbers ``(...)``.

    The row `padding_idx`, which may count from the end, is a constant: its derivative is 0.

    Raises :class:`TypeError` for indices that are no whole numbers, :class:`IndexError` for those that are out of
    range, negative ones too, and :class:`ShapeError` for a table without two axes.

    >>> import numpy as np, einsumad as ea, einsumad.nn as nn
    >>> rows = np.array([0, 2, 2])
    >>> ea.grad(lambda w: np.sum(nn.functional.embedding(rows, w)))(np.ones((3, 2)))
    array([[1., 1.],
           [0., 0.],
           [2., 2.]])
    """
    if np.ndim(weight) != 2:
        raise ea.ShapeError(f"embedding takes a table (rows, dim), got shape {np.shape(weight)}")
    if dtype_of(input).kind not in "iu":
        raise TypeError(f"embedding takes whole numbers, got dtype {dtype_of(input)}: convert them by .astype(int)")
    count = np.shape(weight)[0]
    indices = from_zero(wide(input), count, "embedding", "rows")
    rows = enp.take(weight, indices, axis=0)
    if padding_idx is None:
        return rows
    place = row_of_padding(padding_idx, count)
    return np.where((indices == place)[..., None], _constant(weight[place]), rows)


def row_of_padding(padding_idx: int, count: int) -> int:
    """The row that is meant, counted from the start. Raises :class:`IndexError` if there is none."""
    if not -count <= padding_idx < count:
        raise IndexError(f"padding_idx of {count} rows is from {-count} to {count - 1}, got {padding_idx}")
    return int(padding_idx) % count
