"""Tables in text files: comma-separated values.

Owns reading them. Imports NumPy, the standard library and data sets. Invariant: what becomes of a cell follows from
the arguments alone, never from what stands in other cells; a cell that is no such value is an error with its place.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike, fspath
from typing import Any, TypeAlias

import numpy as np

from einsumad.data.datasets import Table

Column: TypeAlias = str | int
"""A column by its name or position."""


def from_csv(
    path: str | PathLike[str],
    target: Column | Sequence[Column] | None = None,
    columns: Sequence[Column] | None = None,
    *,
    labels: bool = False,
    header: bool = True,
    delimiter: str = ",",
    dtype: Any = np.float64,
    missing: float | None = None,
    encoding: str = "utf-8-sig",
) -> Table:
    r"""The columns of a file as arrays: features ``(rows, columns)``, and targets ``(rows,)`` if `target` names one.

    - `target`: the column, or several for targets ``(rows, targets)``. `columns` are the features, all others if None.
      A column is its name or its position; without a `header` names are ``"0"``, ``"1"``, ...
    - `labels`: the target is a class, written as any text: it becomes its place (int64) among the sorted classes,
      numbers sorted as such. `target_names` of the result has them.
    - `dtype`: of features and of targets that are no labels; a floating or integer one.
    - `missing`: the number that an empty cell stands for, such as ``np.nan``; None refuses empty cells.

    Lines without anything are skipped, and files that end with ``.gz`` are unpacked.

    Raises :class:`ValueError` that names the file, line and column of a cell that is no number, of a line with too few
    or too many cells, and of columns that are not there.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "flowers.csv"
    >>> _ = path.write_text("width,length,kind\n1,2.5,b\n3,4,a\n")
    >>> flowers = from_csv(path, target="kind", labels=True)
    >>> flowers.arrays
    (array([[1. , 2.5],
           [3. , 4. ]]), array([1, 0]))
    >>> flowers.feature_names, flowers.target_names
    (('width', 'length'), ('a', 'b'))
    """
    lines = _lines(fspath(path), delimiter, encoding)
    number, first = next(lines, (0, []))
    if not number:
        raise ValueError(f"{fspath(path)} has no lines")
    names = [name.strip() for name in first] if header else [str(place) for place in range(len(first))]
    chosen = _Columns(fspath(path), tuple(names))
    selection = _selected(chosen, target, columns, labels)
    reading = _Numbers(chosen, _parser(np.dtype(dtype), missing), np.dtype(dtype))
    return _table(lines if header else _with_first(number, first, lines), reading, selection)


@dataclass(frozen=True)
class _Columns:
    """The columns of a file."""

    path: str
    names: tuple[str, ...]

    def places(self, columns: Sequence[Column]) -> list[int]:
        """The positions of the columns."""
        return [self.place(column) for column in columns]

    def place(self, column: Column) -> int:
        """The position of the column."""
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if not -len(self.names) <= column < len(self.names):
                raise ValueError(f"{self.path} has no column {column}, but {len(self.names)} columns")
            return int(column) % len(self.names)
        found = [place for place, name in enumerate(self.names) if name == column]
        if len(found) != 1:
            near = get_close_matches(str(column), self.names, 1)
            meant = f" (near to: {near[0]!r})" if near else ""
            many = f"{len(found)} columns" if found else "no column"
            raise ValueError(f"{self.path} has {many} {column!r}{meant}, its columns: {', '.join(self.names)}")
        return found[0]

    def where(self, line: int, place: int) -> str:
        """The cell in words."""
        return f"{self.path}, line {line}, column {self.names[place]!r}"


@dataclass(frozen=True)
class _Numbers:
    """How cells become numbers."""

    columns: _Columns
    parse: Callable[[str], float]
    dtype: np.dtype

    def of(self, line: int, cells: Sequence[str], places: Sequence[int], hint: str = "") -> np.ndarray:
        """The numbers in these columns of a line."""
        found = []
        for place in places:
            try:
                found.append(self.parse(cells[place]))
            except ValueError as error:
                raise ValueError(f"{self.columns.where(line, place)}: {error}{hint}") from None
        return np.array(found, self.dtype)


@dataclass(frozen=True)
class _Selection:
    """The positions of the columns that are read, and what targets are."""

    features: list[int]
    targets: list[int]
    labels: bool
    single: bool


def _selected(
    chosen: _Columns, target: Column | Sequence[Column] | None, columns: Sequence[Column] | None, labels: bool
) -> _Selection:
    single = isinstance(target, (str, int, np.integer))
    targets = chosen.places([] if target is None else [target] if isinstance(target, (str, int)) else list(target))
    others = [place for place in range(len(chosen.names)) if place not in targets]
    features = others if columns is None else chosen.places(columns)
    if labels and not single:
        raise ValueError("labels=True is for one target: name its column")
    both = [chosen.names[place] for place in features if place in targets]
    if both:
        raise ValueError(f"column {both[0]!r} is a feature and a target")
    return _Selection(features, targets, labels, single)


def _table(rows: Iterator[tuple[int, list[str]]], reading: _Numbers, selection: _Selection) -> Table:
    columns, targets = reading.columns, selection.targets
    x: list[np.ndarray] = []
    y: list[Any] = []
    for line, cells in rows:
        if len(cells) != len(columns.names):
            raise ValueError(
                f"{columns.path}, line {line} has {len(cells)} cells, and there are {len(columns.names)} columns"
            )
        x.append(reading.of(line, cells, selection.features))
        if selection.labels:
            y.append(_label(cells[targets[0]], columns.where(line, targets[0])))
        elif targets:
            y.append(reading.of(line, cells, targets, "; if the target is a class, pass labels=True"))
    arrays = [np.array(x, reading.dtype).reshape(len(x), len(selection.features))]
    names = tuple([columns.names[place] for place in targets])
    if selection.labels:
        names, codes = _classes(y)
        arrays.append(codes)
    elif targets:
        several = np.array(y, reading.dtype).reshape(len(y), len(targets))
        arrays.append(several[:, 0] if selection.single else several)
    return Table(*arrays, feature_names=[columns.names[place] for place in selection.features], target_names=names)


def _lines(path: str, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """The lines with their numbers, each where it begins, as cells."""
    opened: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
        except (csv.Error, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}, line {line} cannot be read as separated values: {error}") from error


def _with_first(
    number: int, first: list[str], lines: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    yield number, first
    yield from lines


def _parser(dtype: np.dtype, missing: float | None) -> Callable[[str], float]:
    """What makes a number of a cell, or raises :class:`ValueError` with the reason."""
    if dtype.kind not in "iuf":
        raise TypeError(f"cells become numbers of a floating or integer dtype, got {dtype}")
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    read: Callable[[str], float] = float if dtype.kind == "f" else int
    least, most = (float(limits.min), float(limits.max)) if dtype.kind == "f" else (int(limits.min), int(limits.max))

    def parse(cell: str) -> float:
        if missing is not None and not cell.strip():
            return missing
        try:
            value = read(cell)
        except ValueError:
            value = None
        if value is None or "_" in cell:
            kind = "number" if dtype.kind == "f" else "whole number"
            empty = "it is empty: pass missing=np.nan, or another number that it stands for"
            raise ValueError(f"{cell!r:.60} is no {kind}" if cell.strip() else empty)
        if (value < least or value > most) and "inf" not in cell.lower():
            raise ValueError(f"{cell!r:.60} is too large for {dtype}")
        return value

    return parse


def _label(cell: str, where: str) -> str:
    if not cell.strip():
        raise ValueError(f"{where}: the class is empty")
    return cell.strip()


def _classes(labels: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """The classes in order, and the place of each label among them."""
    found = set(labels)
    numbers = all(label.removeprefix("-").isdecimal() for label in found)
    names = sorted(found, key=lambda name: (int(name), name)) if numbers else sorted(found)
    place = {name: number for number, name in enumerate(names)}
    return tuple(names), np.array([place[label] for label in labels], np.int64)
