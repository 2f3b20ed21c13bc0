"""What training and evaluation take as data.

Owns the reading of it. Imports data sets and loaders. Invariant: what cannot be batches is refused before anything is
trained, with what to give instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.data import ArrayDataset, DataLoader, Dataset

Batches: TypeAlias = Iterable[Sequence[np.ndarray]]
"""Batches as tuples, the inputs and last the target."""


def batches_of(data: Any, batch_size: int, *, shuffle: bool = False, rng: Any = None) -> Batches:
    """The batches of a loader, of anything that gives batches, of a data set, or of a tuple of arrays.

    Raises :class:`TypeError` for what is none of these, such as arrays of other libraries.
    """
    if isinstance(data, tuple) and data and all(isinstance(part, np.ndarray) for part in data):
        return DataLoader(ArrayDataset(*data), batch_size, shuffle=shuffle, rng=rng)
    if Dataset in type(data).__mro__:
        return DataLoader(data, batch_size, shuffle=shuffle, rng=rng)
    if isinstance(data, (tuple, list)):
        _check(data)
    elif not isinstance(data, Iterable) or isinstance(data, (np.ndarray, str, dict)):
        raise TypeError(f"data is a tuple of arrays, (x, y), a DataLoader or batches, got {type(data).__name__}")
    batches: Batches = data
    return batches


def _check(data: Sequence[Any]) -> None:
    """Refuse arrays in the place of batches, and batches of what is no array."""
    arrays = [part for part in data if hasattr(part, "shape")]
    if not arrays:
        plain = [type(part) for batch in data if isinstance(batch, (tuple, list)) for part in batch]
        plain = [kind for kind in plain if not hasattr(kind, "shape")]
        if plain:
            raise TypeError(
                f"data has a {plain[0].__name__} where a batch has an array: it is (x, y) with NumPy's arrays, as "
                "np.asarray makes them, or batches that are tuples of arrays"
            )
        return
    foreign = [type(part) for part in arrays if not isinstance(part, np.ndarray)]
    if foreign:
        raise TypeError(
            f"data has a {foreign[0].__name__} of {foreign[0].__module__.partition('.')[0]} where NumPy's arrays are "
            "needed: give (np.asarray(x), np.asarray(y))"
        )
    if isinstance(data, list):
        raise TypeError(
            "data is a list with arrays: write (x, y), a tuple, for arrays that are cut into batches, or [(x, y)] for "
            "a single batch"
        )
    others = [type(part).__name__ for part in data if not hasattr(part, "shape")]
    raise TypeError(f"data is a tuple of arrays and also of {', '.join(others)}: make arrays of them by np.asarray")
