"""Data in parts: for training and for testing.

Owns the splits. Imports NumPy and data sets. Invariant: every row is in exactly one part, and which depends on the
generator's state alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, isclose
from typing import Any

import numpy as np

from einsumad.data.datasets import Dataset, Subset, as_rows, check_lengths
from einsumad.data.generators import Random, generator_of
from einsumad.errors import ShapeError


def train_test_split(
    *arrays: Any, test_size: float = 0.25, stratify: Any = None, shuffle: bool = True, rng: Random = None
) -> list[np.ndarray]:
    """``[x_train, x_test, y_train, y_test, ...]``: the rows of the arrays in two parts, both in random order.

    `test_size` is a fraction, of which the rows are rounded up as in scikit-learn, or a number of rows. With
    `stratify`, an array of labels, each class has its share in both parts, to a row. ``shuffle=False`` takes the test
    from the end. Results are copies.

    >>> x_train, x_test, y_train, y_test = train_test_split(
    ...     np.arange(8.0), np.arange(8) % 2, stratify=[0, 1] * 4, rng=0
    ... )
    >>> x_train.shape, sorted(y_test.tolist())
    ((6,), [0, 1])

    Raises :class:`ShapeError` for arrays of different lengths, :class:`ValueError` for an empty part and for classes
    that are too small to be in both.
    """
    if not arrays:
        raise TypeError("train_test_split takes one array or more, got none")
    found = [as_rows(array, f"array {place}") for place, array in enumerate(arrays)]
    check_lengths(found)
    rows = len(found[0])
    tested = _test_rows(rows, test_size)
    if stratify is not None:
        if not shuffle:
            raise ValueError("stratify chooses rows of each class at random: it needs shuffle=True")
        train, test = _stratified(as_rows(stratify, "stratify"), rows, tested, generator_of(rng))
    else:
        order = generator_of(rng).permutation(rows) if shuffle else np.arange(rows)
        train, test = (order[tested:], order[:tested]) if shuffle else (order[: rows - tested], order[rows - tested :])
    return [part for array in found for part in (np.asarray(array[train]), np.asarray(array[test]))]


def random_split(dataset: Dataset, lengths: Sequence[float], rng: Random = None) -> list[Subset]:
    """Parts of a data set, of these numbers of rows, or of these fractions that add up to 1, in random order.

    Of fractions, rows that are left by rounding down go to the first parts, one each, as in PyTorch.

    >>> from einsumad.data import ArrayDataset
    >>> [len(part) for part in random_split(ArrayDataset(np.arange(10)), [0.75, 0.25], rng=0)]
    [8, 2]

    Raises :class:`ValueError` for lengths that do not add up.
    """
    rows, counts = len(dataset), list(lengths)
    if any(length < 0 for length in counts):
        raise ValueError(f"lengths are not negative, got {counts}")
    if counts and isclose(sum(counts), 1) and not all(isinstance(length, (int, np.integer)) for length in counts):
        counts = [floor(rows * fraction) for fraction in lengths]
        for place in range(rows - int(sum(counts))):
            counts[place % len(counts)] += 1
    if sum(counts) != rows or not all(isinstance(length, (int, np.integer)) for length in counts):
        raise ValueError(f"lengths are whole numbers that add up to the {rows} rows, or fractions to 1, got {counts}")
    order = generator_of(rng).permutation(rows)
    stops = np.cumsum([0, *counts])
    return [Subset(dataset, order[start:stop]) for start, stop in pairwise(stops)]


def _test_rows(rows: int, size: float) -> int:
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        tested = int(size)
    elif isinstance(size, (float, np.floating)) and 0 < size < 1:
        tested = ceil(float(size) * rows)
    else:
        raise ValueError(f"test_size is a fraction between 0 and 1, or a number of rows, got {size!r}")
    if not 0 < tested < rows:
        raise ValueError(f"with test_size {size!r} of {rows} rows one of the parts is empty")
    return tested


def _stratified(
    labels: np.ndarray, rows: int, tested: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Positions for training and for testing."""
    if labels.shape != (rows,):
        raise ShapeError(f"stratify has one label for each of the {rows} rows, got shape {labels.shape}")
    classes, of_row, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if sizes.min() < 2:
        raise ValueError(f"class {classes[sizes.argmin()]} has one row, and stratify needs one for each of the parts")
    if min(tested, rows - tested) < len(classes):
        raise ValueError(f"{len(classes)} classes are not all in a part of {min(tested, rows - tested)} rows")
    shares = _shares(sizes, tested)
    test = [generator.permutation(np.flatnonzero(of_row == k))[: shares[k]] for k in range(len(classes))]
    of_test = np.concatenate(test)
    of_train = np.setdiff1d(np.arange(rows), of_test)
    return generator.permutation(of_train), generator.permutation(of_test)


def _shares(sizes: np.ndarray, total: int) -> np.ndarray:
    """How many rows each class gives: rounded down, and one more for those that lost most (Hamilton's method)."""
    exact, whole = sizes * total, int(sizes.sum())
    shares = exact // whole
    left = total - int(shares.sum())
    largest = np.argsort(-(exact % whole), kind="stable")[:left]
    shares[largest] += 1
    return shares
