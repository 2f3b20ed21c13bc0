"""Data sets of Hugging Face's library `datasets`.

Owns the reading of their columns as arrays. Imports NumPy and data sets; the library itself is never imported, an
object is used by its methods. Invariant: a column has the dtype that the data set says it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from einsumad.data.datasets import Dataset

_FEW = 60


def from_hugging_face(dataset: Any, columns: Sequence[str]) -> HuggingFaceDataset:
    """The columns of a ``datasets.Dataset``, in this order: row ``i`` is ``(column[i], ...)``.

    Rows are read when they are asked for, by whole batches, so that data that lie in files stay there. Columns hold
    numbers or arrays of one shape; dtypes are those of its ``features``, where NumPy's format of the library would make
    float32 of float64.

    ``from_hugging_face(datasets.load_dataset("mnist", split="train"), ["image", "label"])``

    Raises :class:`TypeError` for what is no such data set, :class:`KeyError` for a column that it has not, and
    :class:`ValueError` where rows of texts or of different lengths are met, or an empty cell among integers. Among
    floats an empty cell is NaN.
    """
    return HuggingFaceDataset(dataset, columns)


class HuggingFaceDataset(Dataset):
    """Columns of a ``datasets.Dataset`` as a data set whose rows are tuples of arrays."""

    def __init__(self, dataset: Any, columns: Sequence[str]) -> None:
        if not hasattr(dataset, "with_format") or not isinstance(getattr(dataset, "column_names", None), list):
            raise TypeError(
                f"a datasets.Dataset is needed, with with_format and column_names, got {type(dataset).__name__}"
                + ": choose one of its splits, such as dataset['train']" * isinstance(dataset, dict)
            )
        if not hasattr(dataset, "__len__"):
            raise TypeError(f"{type(dataset).__name__} has no length: load the data without streaming")
        self.columns = [columns] if isinstance(columns, str) else list(columns)
        missing = [name for name in self.columns if name not in dataset.column_names]
        if missing or not self.columns:
            wanted = f"no column {missing[0]!r}" if missing else "columns"
            raise KeyError(f"the data set has {wanted}: choose from {', '.join(dataset.column_names)}")
        self.dataset = dataset
        features = getattr(dataset, "features", None) or {}
        self._dtypes = [_dtype(features.get(name)) for name in self.columns]
        self._views = [_view(dataset, name, dtype) for name, dtype in zip(self.columns, self._dtypes, strict=True)]

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int, /) -> tuple[Any, ...]:
        place = range(len(self))[index]
        return tuple([part[0] for part in self.stacked(np.array([place]))])

    def stacked(self, indices: np.ndarray) -> tuple[np.ndarray, ...]:
        """The rows at these positions, in one array for each column."""
        rows = [int(index) for index in indices]
        read = zip(self.columns, self._views, self._dtypes, strict=True)
        return tuple([_column(view[rows][name], name, dtype) for name, view, dtype in read])

    def __repr__(self) -> str:
        return f"HuggingFaceDataset({len(self)} rows, {', '.join(self.columns)})"


def _view(dataset: Any, name: str, dtype: np.dtype | None) -> Any:
    """The data set with this column alone, as arrays.

    The dtype is asked for only where it is a floating one: the library would make a number of an empty cell among
    integers, and without the dtype it makes the column a floating one, which is seen.
    """
    options = {"dtype": dtype} if dtype is not None and dtype.kind == "f" else {}
    return dataset.with_format("numpy", columns=[name], **options)


def _dtype(feature: Any) -> np.dtype | None:
    """The dtype of the numbers in a column; None where the library has none, as for pictures."""
    while feature is not None and not isinstance(getattr(feature, "dtype", None), str):
        feature = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
    try:
        found = np.dtype(feature.dtype)
    except (AttributeError, TypeError):
        return None
    return found if found.kind in "biuf" else None


def _column(values: Any, name: str, dtype: np.dtype | None) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"column {name!r} has rows of different shapes: {error}") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"column {name!r} holds no arrays of numbers of one shape, but {array.dtype}, such as "
            f"{values[0]!r:.{_FEW}}: map() it to numbers of one shape first, without empty cells"
        )
    if dtype is None or array.dtype == dtype:
        return array
    if array.dtype.kind not in ("iu" if dtype.kind in "iu" else dtype.kind):
        raise ValueError(f"column {name!r} of {dtype} was read as {array.dtype}: it has empty cells, fill them first")
    return array.astype(dtype)
