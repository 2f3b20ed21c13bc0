"""Rows stacked to batches, and functions of batches.

Owns both. Imports NumPy and the errors. Invariant: a batch shares no memory with the data that it comes from, and has
their dtypes: rows that differ in structure, shape or dtype are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from einsumad.errors import ShapeError

Transform: TypeAlias = Callable[[Any], Any] | Sequence[Callable[[Any], Any] | None] | Mapping[str, Callable[[Any], Any]]
"""A function of a whole batch; or one for each of its arrays, in a tuple (None: as it is) or by names of columns."""


def rows_of(dataset: Any, indices: np.ndarray) -> Any:
    """The batch of these rows: by one indexing of whole arrays where the data set has arrays, else row by row."""
    if hasattr(dataset, "stacked"):
        return dataset.stacked(indices)
    if isinstance(dataset, np.ndarray):
        return np.asarray(dataset[indices])
    return stack([dataset[int(index)] for index in indices])


def stack(rows: Sequence[Any]) -> Any:
    """Rows as one batch: a tuple of arrays for rows that are tuples, a dict for dicts, and an array for the others.

    >>> stack([(1.0, 2), (3.0, 4)])
    (array([1., 3.]), array([2, 4]))

    Raises :class:`ShapeError` and :class:`TypeError` for rows that are not alike.
    """
    first = rows[0]
    if isinstance(first, Mapping):
        unlike = [place for place, row in enumerate(rows) if not isinstance(row, Mapping) or set(row) != set(first)]
        if unlike:
            raise TypeError(f"row {unlike[0]} of a batch has not the columns {', '.join(map(repr, first))} of row 0")
        return {name: _stacked([row[name] for row in rows], f"column {name!r}") for name in first}
    if isinstance(first, (tuple, list)):
        unlike = [p for p, row in enumerate(rows) if not isinstance(row, (tuple, list)) or len(row) != len(first)]
        if unlike:
            raise TypeError(f"row {unlike[0]} of a batch has not the {len(first)} parts of row 0")
        return tuple([_stacked([row[place] for row in rows], f"part {place}") for place in range(len(first))])
    return _stacked(rows, "the data")


def _stacked(parts: Sequence[Any], what: str) -> np.ndarray:
    try:
        arrays = [np.asarray(part) for part in parts]
    except ValueError as error:
        raise ShapeError(f"a row of a batch is no array in {what}: {error}") from error
    first = arrays[0]
    for place, array in enumerate(arrays):
        if array.dtype.kind == "O":
            raise TypeError(f"row {place} of a batch is no array of numbers in {what}: {parts[place]!r:.60}")
        if array.shape != first.shape:
            raise ShapeError(
                f"row {place} of a batch has shape {array.shape} in {what}, row 0 has {first.shape}: pad them, or give "
                "collate_fn; arrays whose rows belong together are ArrayDataset(x, y)"
            )
        if array.dtype != first.dtype and not array.dtype.kind == first.dtype.kind == "U":
            raise TypeError(f"row {place} of a batch has dtype {array.dtype} in {what}, row 0 has {first.dtype}")
    return np.stack(arrays)


def transformed(batch: Any, transform: Transform) -> Any:
    """What the function, or those for the arrays, make of the batch."""
    if callable(transform):
        return transform(batch)
    if isinstance(transform, Mapping):
        unknown = [name for name in transform if not isinstance(batch, Mapping) or name not in batch]
        if unknown:
            held = ", ".join(map(repr, batch)) if isinstance(batch, Mapping) else f"a {type(batch).__name__}"
            raise KeyError(f"a transform is given for the column {unknown[0]!r}, and the batch has {held}")
        return {name: transform[name](part) if name in transform else part for name, part in batch.items()}
    if not isinstance(batch, tuple) or len(batch) != len(transform):
        held = f"{len(batch)} arrays" if isinstance(batch, tuple) else f"no tuple but a {type(batch).__name__}"
        raise ValueError(f"{len(transform)} transforms are given, one for each array of a batch, and it has {held}")
    return tuple([part if act is None else act(part) for act, part in zip(transform, batch, strict=True)])


def converted(batch: Any, dtype: np.dtype) -> Any:
    """The batch with its arrays of a floating dtype converted to this one."""
    if isinstance(batch, Mapping):
        return {name: converted(part, dtype) for name, part in batch.items()}
    if isinstance(batch, tuple):
        return tuple([converted(part, dtype) for part in batch])
    if isinstance(batch, (np.ndarray, np.generic)) and batch.dtype.kind == "f":
        return batch.astype(dtype)
    return batch
