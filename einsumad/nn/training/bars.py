"""Progress of a run on the screen.

Owns the choice of what shows it. Imports tqdm when a bar is asked for. Invariant: nothing is shown unless asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any


class Bar:
    """A bar over batches with numbers behind it; without `shown` it does nothing."""

    def __init__(self, text: str, shown: bool) -> None:
        self._text = text
        self._bar: Any = None
        self._make = _tqdm() if shown else None

    def over(self, batches: Iterable[Any], count: int | None) -> Iterator[Any]:
        """The batches, counted on the bar."""
        if self._make is None:
            yield from batches
            return
        with self._make(total=count, desc=self._text, leave=True) as self._bar:
            for batch in batches:
                yield batch
                self._bar.update()

    def show(self, numbers: Mapping[str, float]) -> None:
        """Put numbers behind the bar."""
        if self._bar is not None:
            self._bar.set_postfix({name: f"{value:.4g}" for name, value in numbers.items()})


def _tqdm() -> Any:
    try:
        return import_module("tqdm.auto").tqdm
    except ImportError as error:
        raise ImportError(
            'progress bars need tqdm: pip install "einsumad[progress]", or pass progress=False'
        ) from error
