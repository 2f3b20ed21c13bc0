"""What a test point of a general row is, and matrices to make one of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from einsumad.functions import call
from einsumad.graph import Node

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def invertible(*shape: int) -> Array:
    return normal(*shape) + 3 * np.eye(shape[-1])


def positive(*shape: int) -> Array:
    root = normal(*shape)
    return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])


def is_square(shape: tuple[int, ...]) -> bool:
    return len(shape) > 1 and shape[-1] == shape[-2]


@dataclass(frozen=True)
class Case:
    """One row at one point. `exact`: linear in each entry, so that differences of any step are exact.

    `symmetric`: a function of symmetric matrices, so only those are compared. Order 0: never differentiated.
    """

    name: str
    operands: tuple[Array, ...]
    params: tuple[int | float | str, ...] = ()
    exact: bool = False
    order: int = 2
    symmetric: bool = False

    def allowed(self, operand: Array) -> Array:
        """The operand, or the symmetric part of its matrices if it has such."""
        return (operand + np.swapaxes(operand, -1, -2)) / 2 if self.symmetric and is_square(operand.shape) else operand

    def build(self, symbols: Sequence[Node]) -> Node:
        """The function of the symbols, read as symmetric matrices where it is one of such."""
        operands = [
            call("mirrored", symbol, params=(0,)) if self.symmetric and is_square(symbol.shape) else symbol
            for symbol in symbols
        ]
        return call(self.name, *operands, params=self.params)

    def __str__(self) -> str:
        params = ["template" if isinstance(param, str) and not param.isidentifier() else param for param in self.params]
        return "-".join(map(str, (self.name, *params, *[o.shape for o in self.operands])))
