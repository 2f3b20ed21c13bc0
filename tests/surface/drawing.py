"""How the arguments of a function of the surface are drawn: what an operand has to be, and how it is made of numbers.

An operand is described first and made afterwards, from any vector of numbers in (-1, 1): a plain array for values, a
traced one for derivatives, the result of another function in a random program. So symmetric, triangular and
increasing arguments are differentiated along directions in which they stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal, TypeAlias

import numpy as np

Kind: TypeAlias = Literal["real", "distinct", "increasing", "invertible", "positive", "symmetric", "lower", "spread"]
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Operand:
    """An argument: its shape, the interval of its entries, and what else it has to be.

    "distinct" has no two entries near each other; "increasing" does so along the last axis; "invertible", "positive"
    (definite), "symmetric" (with eigenvalues apart) and "lower" (triangular) are square matrices in the last two axes;
    "spread" are matrices with singular values apart and away from 0.
    """

    shape: Shape
    low: float = -2.0
    high: float = 2.0
    kind: Kind = "real"
    order: tuple[int, ...] = field(default=())

    @property
    def size(self) -> int:
        return prod(self.shape)

    def made_of(self, numbers: Any) -> Any:
        """The argument made of a vector of `size` numbers in (-1, 1), by functions that are traced like all others."""
        entries = np.reshape(numbers, self.shape)
        return MAKERS[self.kind](self, entries)


def _real(operand: Operand, entries: Any) -> Any:
    middle, half = (operand.low + operand.high) / 2, (operand.high - operand.low) / 2
    return middle + half * entries


def _distinct(operand: Operand, entries: Any) -> Any:
    places = np.reshape(np.array(operand.order, float), operand.shape)
    step = (operand.high - operand.low) / max(operand.size, 1)
    return operand.low + step * (places + 0.5 + 0.2 * entries)


def _increasing(operand: Operand, entries: Any) -> Any:
    step = (operand.high - operand.low) / max(operand.shape[-1], 1)
    return operand.low + step * (np.arange(operand.shape[-1]) + 0.5 + 0.2 * entries)


def _invertible(operand: Operand, entries: Any) -> Any:
    return 0.6 * entries / max(operand.shape[-1], 1) + np.eye(operand.shape[-1])


def _positive(operand: Operand, entries: Any) -> Any:
    return np.eye(operand.shape[-1]) + entries @ np.swapaxes(entries, -1, -2)


def _symmetric(operand: Operand, entries: Any) -> Any:
    size = operand.shape[-1]
    return 0.1 * (entries + np.swapaxes(entries, -1, -2)) + np.diag(0.4 + np.arange(float(size)))


def _lower(operand: Operand, entries: Any) -> Any:
    return 0.4 * np.tril(entries) + 1.5 * np.eye(operand.shape[-1])


def _spread(operand: Operand, entries: Any) -> Any:
    rows, columns = operand.shape[-2:]
    return 0.1 * entries + np.eye(rows, columns) * (1.0 + np.arange(float(columns)))


MAKERS: dict[Kind, Callable[[Operand, Any], Any]] = {
    "real": _real,
    "distinct": _distinct,
    "increasing": _increasing,
    "invertible": _invertible,
    "positive": _positive,
    "symmetric": _symmetric,
    "lower": _lower,
    "spread": _spread,
}


@dataclass(frozen=True)
class Drawer:
    """Random choices of one example. Without `empty` no axis has size 0; `largest` bounds the sizes."""

    rng: np.random.Generator
    empty: bool = True
    largest: int = 3

    def integer(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def choice(self, *options: Any) -> Any:
        return options[self.integer(0, len(options) - 1)]

    def size(self, least: int = 0) -> int:
        """The size of an axis, at least that."""
        return self.integer(max(least, 0 if self.empty and not self.integer(0, 4) else 1), max(self.largest, least))

    def shape(self, least: int = 0, most: int = 2, smallest: int = 0) -> Shape:
        """A shape with so many axes."""
        return tuple([self.size(smallest) for _ in range(self.integer(least, most))])

    def axis(self, shape: Shape) -> int:
        """One axis of the shape, counted from either end."""
        return self.integer(-len(shape), len(shape) - 1)

    def axes(self, shape: Shape) -> Any:
        """None, one axis, or several."""
        if not shape or not self.integer(0, 2):
            return None
        if len(shape) > 1 and not self.integer(0, 2):
            return tuple([int(k) for k in self.rng.permutation(len(shape))[: self.integer(1, len(shape))]])
        return self.axis(shape)

    def permutation(self, count: int) -> tuple[int, ...]:
        return tuple([int(k) for k in self.rng.permutation(count)])

    def broadcast(self, shape: Shape) -> Shape:
        """A shape that broadcasts to this one: sizes turned into 1, leading axes left out."""
        kept = shape[self.integer(0, len(shape)) :] if self.integer(0, 1) else shape
        return tuple([1 if not self.integer(0, 3) else size for size in kept])

    def operand(self, shape: Sequence[int], low: float = -2.0, high: float = 2.0, kind: Kind = "real") -> Operand:
        shape = tuple(shape)
        return Operand(shape, low, high, kind, self.permutation(prod(shape)) if kind == "distinct" else ())

    def square(self, kind: Kind, batch: int = 1, smallest: int = 0) -> Operand:
        """Square matrices of a kind with up to so many batch axes."""
        size = self.size(smallest)
        return self.operand((*self.shape(0, batch), size, size), kind=kind)
