"""What a training run has measured, epoch by epoch.

Owns :class:`History`, its table and its picture. Imports nothing of the package. Invariant: a record is numbers by
name, so that a history can be written as JSON and read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

Record = dict[str, float]
"""What one epoch has measured, by name: ``epoch``, ``loss``, ``seconds``, and what was asked for."""


@dataclass
class History:
    """The records of a run: ``history["loss"]`` is the list of losses, an entry for each epoch.

    `stopped` says why the run ended, before all epochs or after them.
    """

    records: list[Record] = field(default_factory=list)
    stopped: str = ""

    def __getitem__(self, name: str) -> list[float]:
        """What was measured under a name in each epoch. Raises :class:`KeyError` naming what there is."""
        if self.records and name not in self.names:
            raise KeyError(f"nothing was measured as {name!r}, but {', '.join(self.names)}")
        return [record[name] for record in self.records if name in record]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def names(self) -> list[str]:
        """What was measured."""
        return list(dict.fromkeys([name for record in self.records for name in record]))

    @property
    def last(self) -> Record:
        """The record of the last epoch."""
        if not self.records:
            raise IndexError("there is no record yet: no epoch is over")
        return self.records[-1]

    def plot(self, names: Sequence[str] | None = None, axes: Any = None) -> Any:
        """Draw what was measured against the epoch, by default all losses and metrics. Gives matplotlib's axes."""
        wanted = [n for n in self.names if n not in ("epoch", "seconds", "lr")] if names is None else list(names)
        if axes is None:
            _, axes = _pyplot().subplots()
        for name in wanted:
            points = [(record["epoch"], record[name]) for record in self.records if name in record]
            axes.plot([epoch for epoch, _ in points], [value for _, value in points], label=name)
        axes.set_xlabel("epoch")
        axes.legend()
        return axes

    def __str__(self) -> str:
        if not self.records:
            return "no epoch is over"
        names = self.names
        rows = [names, *[[_text(name, record.get(name)) for name in names] for record in self.records]]
        widths = [max([len(row[k]) for row in rows]) for k in range(len(names))]
        lines = ["  ".join([f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]) for row in rows]
        return "\n".join([*lines, self.stopped] if self.stopped else lines)


def _text(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if name == "epoch" else f"{value:.4g}"


def _pyplot() -> Any:
    try:
        return import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "einsumad[plot]"') from error
