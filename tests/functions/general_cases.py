"""Points at which the general rows are tested; each family of rows has a list of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
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
        params = ["template" if isinstance(param, str) else param for param in self.params]
        return "-".join(map(str, (self.name, *params, *[o.shape for o in self.operands])))


SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
RANK_ONE = np.outer([1.0, -2.0, 0.5], [3.0, 1.0, 2.0])
multilinear = partial(Case, exact=True)
PRODUCTS_AND_ORDER = [
    Case("inverse", (invertible(3, 3),)),
    Case("inverse", (invertible(2, 2, 2),)),
    Case("inverse", (np.array([[0.4]]),)),
    Case("solve", (invertible(3, 3), normal(3, 2))),
    Case("solve", (invertible(2, 2, 2), normal(2, 2, 1))),
    Case("logabsdet", (normal(3, 3),)),
    Case("logabsdet", (invertible(2, 2, 2),)),
    Case("logdet", (positive(3, 3),)),
    Case("sign_determinant", (normal(2, 3, 3),)),
    *[
        multilinear("determinant", (matrix,), order=3)
        for matrix in (
            normal(3, 3),
            SINGULAR,
            RANK_ONE,
            np.zeros((3, 3)),
            np.eye(3),
            normal(1, 1),
            normal(0, 0),
            np.stack([np.eye(2), np.ones((2, 2)), np.diag([2.0, 0.0])]),
        )
    ],
    *[multilinear("determinant_minors", (normal(3, 3),), (k,), order=1) for k in (1, 2, 3, 4)],
    multilinear("determinant_minors", (SINGULAR,), (1,)),
    *[
        multilinear("product", (vector,), order=3)
        for vector in (
            normal(4),
            np.array([2.0, 0.0, 3.0, 4.0]),
            np.array([0.0, 0.0, 3.0]),
            np.zeros(3),
            normal(1),
            normal(0),
            np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 0.0]]),
        )
    ],
    *[multilinear("product_of_others", (normal(4),), (k,), order=1) for k in (1, 2, 3, 4, 5)],
    Case("max_reduce", (normal(3, 4),)),
    Case("max_reduce", (normal(1),)),
    Case("min_reduce", (normal(2, 2, 3),)),
    Case("sort", (normal(3, 4),)),
    Case("sort", (normal(1),)),
    Case("partition", (normal(2, 5),), (1, 3)),
    *[Case(name, (normal(2, 4),)) for name in ("tie_count", "tie_place", "argsort", "argmax", "argmin")],
    Case("logsumexp", (normal(3, 4),)),
    Case("logsumexp", (normal(5),), order=3),
]

CASES = [*PRODUCTS_AND_ORDER]
