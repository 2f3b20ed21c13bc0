"""A square structured matrix as one on flat vectors.

Owns the abstract class and the system of one tensor. Imports structured values and solving. Invariant: a system is that
of one matrix, and holds nothing beside it; flat arrays have shape (N, m).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from einsumad.compressed import algebra
from einsumad.compressed.loading import factorisations, solving
from einsumad.compressed.operations import trace
from einsumad.compressed.values import Structured, times
from einsumad.errors import ShapeError
from einsumad.graph import Shape

if TYPE_CHECKING:
    from einsumad.compressed.factorisations import Factorisation


class System(ABC):
    """A square matrix: how vectors in its shape become flat, its product with them, and how it is factorised."""

    size: int
    dtype: np.dtype
    symmetric: bool

    @abstractmethod
    def to_flat(self, given: Any, what: str) -> tuple[np.ndarray, Shape]:
        """An argument in the shape of the rows with further axes, as (N, m), and these axes."""

    @abstractmethod
    def from_flat(self, flat: np.ndarray, extra: Shape) -> Any:
        """A result (N, m) in the shape of the rows with these further axes."""

    @abstractmethod
    def apply(self, flat: np.ndarray) -> np.ndarray:
        """The matrix times (N, m)."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """The diagonal, shape (N, 1)."""

    @abstractmethod
    def trace(self) -> Any:
        """The sum of the diagonal."""

    @abstractmethod
    def factorise(self, damping: float, memory_limit: int | None) -> Factorisation:
        """A factorisation of the matrix plus `damping` times the identity."""


class TensorSystem(System):
    """The system of one tensor."""

    def __init__(self, held: Structured, what: str) -> None:
        form = held.form
        rows, columns = form.shape[: form.rows], form.shape[form.rows :]
        if rows != columns:
            raise ShapeError(
                f"{what} needs a square matrix: the rows have shape {rows}, the columns {columns}; "
                "with_rows(k) makes the first k axes the rows"
            )
        self.held = held
        self.shape = rows
        self.size = prod(rows)
        self.dtype = form.dtype
        self.symmetric = bool(solving().is_symmetric(form))

    def to_flat(self, given: Any, what: str) -> tuple[np.ndarray, Shape]:
        """An array over the rows and further axes as (N, m), and these axes."""
        array = real_array(given, what)
        extra = array.shape[len(self.shape) :]
        if array.shape[: len(self.shape)] != self.shape:
            raise ShapeError(f"{what} needs first axes {self.shape}, those of the rows, got shape {array.shape}")
        return np.asarray(array, self.dtype).reshape(self.size, prod(extra)), extra

    def from_flat(self, flat: np.ndarray, extra: Shape) -> Any:
        """An array over the rows and these axes from (N, m)."""
        found = flat.reshape((*self.shape, *extra))
        return found if found.ndim else found[()]

    def apply(self, flat: np.ndarray) -> np.ndarray:
        """The tensor times (N, m)."""
        return times(self.held, flat.reshape((*self.shape, flat.shape[1]))).reshape(flat.shape)

    def diagonal(self) -> np.ndarray:
        """The diagonal, shape (N, 1)."""
        return algebra.diagonal(self.held).reshape(self.size, 1)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.held.compute([trace(self.held.form)])[0][()]

    def factorise(self, damping: float, memory_limit: int | None) -> Factorisation:
        """A factorisation by the structure of the tensor."""
        held = damped(self.held, damping)
        strategy = solving().choose(held.form, memory_limit)
        found: Factorisation = strategy.factorise(held.arrays)
        if strategy.rough:
            found = factorisations().Refined(found, TensorSystem(held, "solve").apply)
        return found


def damped(held: Structured, damping: float) -> Structured:
    """The tensor plus a multiple of the identity."""
    if not damping:
        return held
    one = algebra.identity(held.form.shape[: held.form.rows], held.form.dtype)
    return algebra.add(held, algebra.scale(one, damping))


def real_array(given: Any, what: str) -> np.ndarray:
    """The argument as an array of real numbers."""
    array = np.asarray(given)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} needs real numbers, got dtype {array.dtype}")
    return array
