"""What a test point of a general row is, and matrices to make one of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def invertible(*shape: int) -> Array:
    return normal(*shape) + 3 * np.eye(shape[-1])


def positive(*shape: int) -> Array:
    root = normal(*shape)
    return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])


@dataclass(frozen=True)
class Case:
    """One row at one point. `exact`: linear in each entry, so that differences of any step are exact."""

    name: str
    operands: tuple[Array, ...]
    params: tuple[Any, ...] = ()
    exact: bool = False
    order: int = 2

    def __str__(self) -> str:
        return "-".join(map(str, (self.name, *self.params, *[o.shape for o in self.operands])))
