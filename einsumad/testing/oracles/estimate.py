"""What an oracle says: values, a bound on their errors, and where the function has a kink.

Owns the record. Imports nothing of the toolkit. Invariant: an error is not negative, and infinite where nothing is
known; `left` and `right` are the one-sided derivatives, and differ by more than their errors exactly at kinks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Estimate:
    """The k-th derivative of a line ``t -> f(x + t v)`` at 0, one entry for each entry of the value.

    Where it was taken over long steps, a claim that is nearer than `doubt` to `short`, the derivative over short steps,
    cannot be excluded: the function may vary in between.
    """

    value: Array
    error: Array
    left: Array
    right: Array
    side_error: Array
    kink: Array
    oracles: tuple[str, ...]
    which: Array
    short: Array | None = None
    doubt: Array | None = None

    def scaled(self, factor: float) -> Estimate:
        """The estimate times a positive number."""
        return Estimate(
            self.value * factor,
            self.error * abs(factor),
            self.left * factor,
            self.right * factor,
            self.side_error * abs(factor),
            self.kink,
            self.oracles,
            self.which,
            None if self.short is None else self.short * factor,
            None if self.doubt is None else self.doubt * abs(factor),
        )

    def excludes(self, found: Array) -> Array:
        """Whether short steps exclude a value too."""
        if self.short is None or self.doubt is None:
            return np.ones(found.shape, bool)
        far: Array = ~(np.abs(found - self.short) <= self.doubt)
        return far

    def divided(self, count: int) -> list[Estimate]:
        """The estimates of lines that were put side by side."""
        names = [name for name in _ARRAYS if getattr(self, name) is not None]
        parts: dict[str, Any] = {name: np.split(getattr(self, name), count) for name in names}
        return [replace(self, **{name: part[k] for name, part in parts.items()}) for k in range(count)]

    def name(self, entry: int) -> str:
        """The oracle that an entry comes from."""
        return self.oracles[int(self.which[entry])]


_ARRAYS = ("value", "error", "left", "right", "side_error", "kink", "which", "short", "doubt")


def single(value: Array, error: Array, name: str) -> Estimate:
    """An estimate of one oracle that sees no kinks."""
    return Estimate(value, error, value, value, error, np.zeros(value.shape, bool), (name,), np.zeros(value.shape, int))


def refine(rough: Estimate, exact: Estimate, accept: Array) -> Estimate:
    """The rough estimate with the entries of a more exact one where they are accepted."""
    return Estimate(
        np.where(accept, exact.value, rough.value),
        np.where(accept, exact.error, rough.error),
        np.where(accept, exact.value, rough.left),
        np.where(accept, exact.value, rough.right),
        np.where(accept, exact.error, rough.side_error),
        np.where(accept, False, rough.kink),
        (*rough.oracles, *exact.oracles),
        np.where(accept, len(rough.oracles) + exact.which, rough.which),
    )
