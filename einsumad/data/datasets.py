"""Data sets: what has a length and rows.

Owns the protocol, arrays as a data set, tables with names, and parts of data sets. Imports NumPy and batches.
Invariant: the arrays of a data set are held, not copied, and never written; rows and batches are copies.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from einsumad.data.batches import rows_of
from einsumad.errors import ShapeError


@runtime_checkable
class Dataset(Protocol):
    """Anything that has a length, and rows by their positions: a list is one.

    Rows are arrays or numbers, tuples of them, or dicts. A class that can give many rows at once may also have the
    method ``stacked(indices)``: the batch of these rows, as arrays; :class:`DataLoader` calls it instead.

    >>> from einsumad.data import DataLoader
    >>> class Squares(Dataset):
    ...     def __len__(self):
    ...         return 4
    ...
    ...     def __getitem__(self, index):
    ...         return float(index), float(index**2)
    >>> next(iter(DataLoader(Squares(), batch_size=3)))
    (array([0., 1., 2.]), array([0., 1., 4.]))
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, index: int, /) -> Any: ...


class ArrayDataset(Dataset):
    """Arrays whose rows belong together: row ``i`` is ``(x[i], y[i], ...)``. Dtypes stay as they are.

    >>> data = ArrayDataset(np.arange(6.0).reshape(3, 2), [0, 1, 0])
    >>> data
    ArrayDataset((3, 2) float64, (3,) int64)
    >>> data[1]
    (array([2., 3.]), np.int64(1))

    Raises :class:`ShapeError` for arrays of different lengths or without axes, and :class:`TypeError` for what is no
    array.
    """

    arrays: tuple[np.ndarray, ...]
    """The arrays, as they were given."""

    def __init__(self, *arrays: Any) -> None:
        if not arrays:
            raise TypeError("ArrayDataset takes one array or more, got none")
        self.arrays = tuple([as_rows(array, f"array {place}") for place, array in enumerate(arrays)])
        check_lengths(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index: Any, /) -> tuple[Any, ...]:
        return tuple([np.array(array[index])[()] for array in self.arrays])

    def stacked(self, indices: np.ndarray) -> tuple[np.ndarray, ...]:
        """The rows at these positions, in one array for each array."""
        return tuple([np.asarray(array[indices]) for array in self.arrays])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([f'{a.shape} {a.dtype}' for a in self.arrays])})"


class Table(ArrayDataset):
    """Arrays with names: `feature_names` of the columns of the first, `target_names` of the classes or targets."""

    def __init__(self, *arrays: Any, feature_names: Sequence[Any] = (), target_names: Sequence[Any] = ()) -> None:
        super().__init__(*arrays)
        self.feature_names = tuple(map(str, feature_names))
        self.target_names = tuple(map(str, target_names))


class Subset(Dataset):
    """The rows of a data set at these positions.

    >>> Subset(ArrayDataset(np.arange(5.0)), [3, 1])[0]
    (np.float64(3.0),)
    """

    def __init__(self, dataset: Dataset, indices: Any) -> None:
        self.dataset = dataset
        found = np.asarray(indices)
        if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
            raise TypeError(f"positions are a row of whole numbers, got dtype {found.dtype}, shape {found.shape}")
        wrong = found[(found < 0) | (found >= len(dataset))]
        if wrong.size:
            raise IndexError(f"row {wrong[0]} is asked for, and the data set has {len(dataset)} rows")
        self.indices = found.astype(np.int64)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int, /) -> Any:
        return self.dataset[int(self.indices[index])]

    def stacked(self, indices: np.ndarray) -> Any:
        """The rows at these positions of the part."""
        return rows_of(self.dataset, self.indices[indices])

    def __repr__(self) -> str:
        return f"Subset({len(self)} of {self.dataset!r})"


def as_rows(value: Any, what: str) -> np.ndarray:
    """The value as an array that has rows."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{what} has rows of different shapes: {error}") from error
    if array.dtype.kind == "O":
        raise TypeError(f"{what} is no array of numbers or texts: {type(value).__name__} of objects")
    if array.ndim == 0:
        raise ShapeError(f"{what} has no axes, and rows are counted along the first")
    return array


def check_lengths(arrays: Sequence[np.ndarray]) -> None:
    """Refuse arrays of different lengths."""
    if len({len(array) for array in arrays}) > 1:
        lengths = ", ".join([f"{len(array)} (array {place})" for place, array in enumerate(arrays)])
        raise ShapeError(f"rows belong together, so all arrays have the same length, got {lengths}")
