"""What a strategy is: a way to factorise a square matrix of a given form, and what it costs.

Owns the abstract class and the estimate. Imports forms, values and the factorisations. Invariant: a strategy holds no
numbers; cost and memory are known before anything is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.factorisations import Factorisation, Permuted, Refined
from einsumad.compressed.forms import Form, make_form, slot_of, transposed
from einsumad.compressed.terms import Term
from einsumad.compressed.values import Structured, read_only, times
from einsumad.errors import MemoryLimitError
from einsumad.graph import Labels, Shape
from einsumad.planning import Factor, physical_memory, readable_bytes
from einsumad.records import record

Arrays: TypeAlias = Sequence[Any]
_FLOPS_PER_SECOND = 5e9
_SECONDS_PER_CALL = 2e-5


@record(eq=True, repr=True)
class Effort:
    """What factorising and one solution take: operations, calls, and the bytes that are kept."""

    flops: float
    calls: int
    bytes: int

    @property
    def seconds(self) -> float:
        """The estimated time."""
        return self.flops / _FLOPS_PER_SECOND + self.calls * _SECONDS_PER_CALL

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.flops + other.flops, self.calls + other.calls, self.bytes + other.bytes)


class Strategy(ABC):
    """A way to factorise the square matrix of a form. `shape` are the axes of its rows, which are those of columns.

    Solutions of a strategy that is `rough` are improved by a step of refinement.
    """

    rough = False

    def __init__(self, form: Form, effort: Effort) -> None:
        self.form = form
        self.effort = effort

    @property
    def shape(self) -> Shape:
        """The axes of the rows."""
        return self.form.shape[: self.form.rows]

    @abstractmethod
    def factorise(self, arrays: Arrays) -> Factorisation:
        """The factorisation for the arrays of the form's slots, on rows in C order."""

    def inverse(self, arrays: Arrays) -> Structured:
        """The inverse in its structure; without any it is dense."""
        needed, limit = 2 * prod(self.shape) ** 2 * self.form.dtype.itemsize, physical_memory()
        if needed > limit:
            raise MemoryLimitError(
                f"the inverse of the matrix of shape {self.form.shape} is dense and would need "
                f"{readable_bytes(needed)}, over the limit of {readable_bytes(limit)}: use solve or "
                "sqrt_solve instead"
            )
        factorisation = self.factorise(arrays)
        if self.rough:
            factorisation = Refined(factorisation, product_of(Structured(self.form, tuple(arrays))))
        array = factorisation.solve(np.eye(prod(self.shape), dtype=self.form.dtype)).reshape((*self.shape, *self.shape))
        return of_array(array, tuple(range(2 * len(self.shape))), len(self.shape), factorisation.symmetric)


def product_of(held: Structured) -> Callable[[np.ndarray], np.ndarray]:
    """The square matrix times arrays of shape (N, m)."""
    columns = held.form.shape[held.form.rows :]
    return lambda flat: times(held, flat.reshape((*columns, flat.shape[1]))).reshape(flat.shape)


def of_array(array: np.ndarray, axes: Labels, rows: int, symmetric: bool) -> Structured:
    """The tensor of one stored array, whose axes have the labels 0, 1, ...; a label that comes twice is a delta."""
    leaf = slot_of(0, array.shape, array.dtype)
    sizes = dict(enumerate(array.shape))
    term = Term(1, (Factor(leaf, tuple(range(array.ndim))),), (), axes, sizes, array.dtype)
    form = make_form([term], tuple([sizes[label] for label in axes]), array.dtype, rows, symmetric)
    return Structured(form, (read_only(array),))


def is_symmetric(form: Form) -> bool:
    """Whether the matrix equals its transpose, as it is known or as the indices show."""
    return form.symmetric or transposed(form).node is form.node


def in_order(inner: Factorisation, shape: Shape, order: Sequence[int]) -> Factorisation:
    """The factorisation on axes of this shape, of one on the axes transposed by `order`."""
    return inner if list(order) == sorted(order) else Permuted(inner, shape, order)
