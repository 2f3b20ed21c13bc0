"""Batches of a data set, epoch after epoch.

Owns :class:`DataLoader`: the order of rows, and what a run needs to go on exactly where it stopped. Imports batches,
generators and the thread. Invariant: the order of an epoch depends on nothing but the state of the generator when the
epoch starts.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.data.batches import Transform, converted, rows_of, transformed
from einsumad.data.datasets import Dataset
from einsumad.data.generators import Random, generator_of, like, state_of
from einsumad.data.prefetching import prefetched

Augment = Callable[[Any, np.random.Generator], Any]
"""A function of a batch and of a generator for this batch alone."""


@dataclass(frozen=True, eq=False)
class _Epoch:
    """The order of the rows, None as they stand, and the seed of what is random in batches."""

    rows: int
    order: np.ndarray | None
    seed: int


class DataLoader:
    """The batches of a data set: tuples of stacked arrays, of the shapes ``(batch_size, ...)``.

    - `dataset`: a :class:`Dataset`, that is anything with a length and rows; an array; a list of rows. Rows that are
      tuples give tuples of arrays, dicts give dicts, others arrays. Arrays are indexed by whole batches.
    - `shuffle`: a new order in each epoch, drawn from `rng`, which is a generator, a seed, or None for one of its own.
    - `drop_last`: leave out the last batch if it has fewer rows.
    - `prefetch`: how many batches a thread makes ahead; the batches are the same.
    - `transform`: a function of a batch, or a tuple with one (or None) for each of its arrays, or a dict by columns.
    - `augment`: ``augment(batch, rng)`` gives a batch, after `transform`. The generator is one for this batch alone, so
      that the random numbers do not depend on `prefetch`, and are the same in a run that was stopped and resumed.
    - `astype`: the dtype that arrays of a floating dtype become at last; without it dtypes are those of the data.
    - `collate_fn`: makes a batch of a list of rows, for rows that are not alike.

    ``len(loader)`` is the number of batches of a whole epoch. `epoch` counts epochs from 0, and `position` the batches
    of this one that were handed out. `state_dict()` has both, with the states of the generator, as plain numbers for
    JSON. After `load_state_dict` the next loop gives the rest of the epoch that was interrupted, which is empty if its
    last batch had been handed out, and the next ones go on as they would have: ``for epoch in range(loader.epoch, n)``.
    A batch counts as used once it is handed out: save the state after the step, within the loop or between two. A loop
    that was left early is not taken up by the next loop, which starts a new epoch. Of two loops at a time, `position`
    is that of the one that started last.

    >>> from einsumad.data import ArrayDataset
    >>> loader = DataLoader(ArrayDataset(np.arange(5), np.arange(5.0)), batch_size=2, shuffle=True, rng=0)
    >>> for x, y in loader:
    ...     print(x, y)
    [2 4] [2. 4.]
    [3 0] [3. 0.]
    [1] [1.]
    >>> len(loader), loader.epoch
    (3, 1)

    Raises :class:`TypeError` and :class:`ValueError` for arguments that make no sense; what the data set or a function
    raises is raised in the loop.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        *,
        rng: Random = None,
        prefetch: int = 0,
        transform: Transform | None = None,
        augment: Augment | None = None,
        astype: Any = None,
        collate_fn: Callable[[list[Any]], Any] | None = None,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"a data set has a length and rows (__len__ and __getitem__), which {type(dataset).__name__} has not"
            )
        self.dataset = dataset
        self.batch_size = _count(batch_size, "batch_size", 1)
        self.prefetch = _count(prefetch, "prefetch", 0)
        self.shuffle, self.drop_last = bool(shuffle), bool(drop_last)
        self.transform, self.augment, self.collate_fn = transform, augment, collate_fn
        self.astype = None if astype is None else np.dtype(astype)
        if self.astype is not None and self.astype.kind != "f":
            raise TypeError(f"astype is the floating dtype that arrays become, got {self.astype}: use transform")
        self.rng = generator_of(rng)
        self.epoch: int = 0
        self.position: int = 0
        self._started: dict[str, Any] | None = None
        self._resumes = False
        self._loop = object()

    def __len__(self) -> int:
        return self._number_of_batches(len(self.dataset))

    def __iter__(self) -> Iterator[Any]:
        if self._resumes:
            generator = like(self.rng, self._started)
        else:
            self.epoch += self._started is not None
            self._started, self.position = state_of(self.rng), 0
            generator = self.rng
        self._resumes, self._loop = False, object()
        return self._handed_out(self._drawn(generator), self._loop, self.position)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands: plain numbers, texts, dicts and lists, which may go through JSON."""
        return {
            "epoch": self.epoch,
            "position": self.position,
            "generator": state_of(self.rng),
            "generator_at_start": deepcopy(self._started),
            **self._settings(),
        }

    def load_state_dict(self, state: Any) -> None:
        """Stand where a loader of the same data and settings stood.

        A generator that was given as `rng` is set to the state that it had. Raises :class:`ValueError` for the state of
        a loader with another number of rows, batch size, order or kind of generator; nothing is changed then.
        """
        names = {"epoch", "position", "generator", "generator_at_start", *self._settings()}
        if not isinstance(state, Mapping) or set(state) != names:
            raise ValueError(f"the state of a DataLoader is a dict with {', '.join(sorted(names))}")
        for name, own in self._settings().items():
            if state[name] != own:
                raise ValueError(f"the state is that of a loader with {name} {state[name]}, this one has {own}")
        epoch, position = (_count(state[name], name, 0) for name in ("epoch", "position"))
        started = state["generator_at_start"]
        if position > (0 if started is None else len(self)):
            raise ValueError(f"the state is at batch {position} of {len(self)}")
        now = like(self.rng, state["generator"])
        started = None if started is None else state_of(like(self.rng, started))
        self.rng.bit_generator.state = now.bit_generator.state
        self.epoch, self.position, self._started = epoch, position, started
        self._resumes, self._loop = started is not None, object()

    def __repr__(self) -> str:
        shuffled = ", shuffle=True" if self.shuffle else ""
        return f"DataLoader({self.dataset!r}, batch_size={self.batch_size}{shuffled})"

    def _settings(self) -> dict[str, Any]:
        """What the order depends on besides the generator."""
        return {
            "rows": len(self.dataset),
            "batch_size": self.batch_size,
            "shuffle": self.shuffle,
            "drop_last": self.drop_last,
            "augment": self.augment is not None,
        }

    def _number_of_batches(self, rows: int) -> int:
        return rows // self.batch_size if self.drop_last else -(-rows // self.batch_size)

    def _drawn(self, generator: np.random.Generator) -> _Epoch:
        """The epoch that the generator gives."""
        rows = len(self.dataset)
        order = generator.permutation(rows) if self.shuffle else None
        return _Epoch(rows, order, int(generator.integers(2**63)) if self.augment is not None else 0)

    def _handed_out(self, epoch: _Epoch, loop: object, start: int) -> Generator[Any, None, None]:
        """The batches from this one on, counted as they are handed out."""
        made = (self._batch(epoch, number) for number in range(start, self._number_of_batches(epoch.rows)))
        with closing(prefetched(made, self.prefetch) if self.prefetch else made) as batches:
            for batch in batches:
                if self._loop is loop:
                    self.position += 1
                yield batch
        if self._loop is loop:
            self.epoch, self.position, self._started = self.epoch + 1, 0, None

    def _batch(self, epoch: _Epoch, number: int) -> Any:
        start = number * self.batch_size
        stop = min(start + self.batch_size, epoch.rows)
        indices = np.arange(start, stop) if epoch.order is None else epoch.order[start:stop]
        if self.collate_fn is not None:
            batch = self.collate_fn([self.dataset[int(index)] for index in indices])
        else:
            batch = rows_of(self.dataset, indices)
        if self.transform is not None:
            batch = transformed(batch, self.transform)
        if self.augment is not None:
            batch = self.augment(batch, np.random.default_rng([epoch.seed, number]))
        return batch if self.astype is None else converted(batch, self.astype)


def _count(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} is {least} or more, got {value}")
    return int(value)
