"""The samples of a fit.

Owns :class:`Samples`. Imports the split. Invariant: a sample of weight 0 takes no part in anything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from einsumad.data import train_test_split


@dataclass(frozen=True, eq=False)
class Samples:
    """Inputs, targets, and weights if there are any."""

    x: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.x)

    def that_count(self) -> Samples:
        """Those whose weight is not 0."""
        if self.weights is None or np.all(self.weights > 0):
            return self
        kept = self.weights > 0
        return Samples(self.x[kept], self.target[kept], self.weights[kept])

    @property
    def mean_weight(self) -> float:
        """The mean of the weights."""
        return 1.0 if self.weights is None else float(np.mean(self.weights))

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of batches, with weights whose mean is 1."""
        if self.weights is None:
            return self.x, self.target
        return self.x, (self.weights / self.mean_weight).astype(self.x.dtype), self.target

    def split(self, fraction: float, rng: np.random.Generator, stratified: bool) -> tuple[Samples, Samples]:
        """A part to train with, and one to watch. Raises :class:`ValueError` if one would be empty."""
        arrays = [self.x, self.target] + ([] if self.weights is None else [self.weights])
        parts = train_test_split(*arrays, test_size=fraction, stratify=self.target if stratified else None, rng=rng)
        return Samples(*parts[::2]), Samples(*parts[1::2])
