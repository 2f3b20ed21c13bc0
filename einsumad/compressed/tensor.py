"""Tensors that are kept in their structure.

Owns :class:`CompressedTensor`. Imports the operations, their values, what square matrices can do, and how tensors are
shown. Invariant: its arrays are private and read-only; no method changes it.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from einsumad.compressed import algebra
from einsumad.compressed.indexing import places_of
from einsumad.compressed.loading import solving
from einsumad.compressed.matrix import SquareMatrix
from einsumad.compressed.shown import Shown
from einsumad.compressed.sparse import linear_operator, sparse_matrix
from einsumad.compressed.systems import TensorSystem, real_array
from einsumad.compressed.text import structure_text
from einsumad.compressed.values import Structured, read_only, times
from einsumad.errors import ShapeError
from einsumad.graph import structural_key
from einsumad.planning import checked_limit


class CompressedTensor(SquareMatrix, Shown):
    """A tensor as a sum of products of small arrays, deltas and index maps, such as a Hessian has.

    It is returned by the transforms with ``compressed=True``. The axes of the output are its rows, those of the input
    its columns: ``H @ v`` sums over the columns, and `v` has their shape. What needs a square matrix needs rows and
    columns of one shape. Nothing is multiplied out but by :meth:`dense` and :func:`numpy.asarray`.

    >>> import numpy as np, einsumad as ea
    >>> H = ea.hessian(lambda x: np.sum(x**3), compressed=True)(np.array([1.0, 2.0]))
    >>> print(H.structure)
    H[i,j] = 6 A[i] δ[i,j]
      A  2 float64  16 bytes
    stored 16 bytes, dense 2×2 32 bytes
    >>> H @ np.ones(2)
    array([ 6., 12.])
    >>> H.solve(np.ones(2)) * 6
    array([1. , 0.5])

    Source: S. Laue, M. Mitterreiter, J. Giesen, A Simple and Efficient Tensor Calculus, AAAI 2020, section 4.
    """

    __array_ufunc__ = None

    def __init__(self, structured: Structured) -> None:
        super().__init__()
        for array in structured.arrays:
            read_only(array)
        self.held = structured

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return self.held.form.shape

    @property
    def rows(self) -> int:
        """How many axes, from the first on, are those of the output."""
        return self.held.form.rows

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the entries."""
        return self.held.form.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays that are stored; numbers are written into the structure."""
        return sum([array.nbytes for array in self.held.arrays if array.shape])

    @property
    def structure(self) -> str:
        """The structure in index notation, the stored arrays, and the size of both forms."""
        return structure_text(self.held.form, self.held.arrays)

    @property
    def T(self) -> CompressedTensor:  # noqa: N802 (NumPy's name)
        """The tensor with the columns as rows."""
        return CompressedTensor(algebra.transpose(self.held))

    def dense(self, *, memory_limit: int | None = None) -> np.ndarray:
        """The tensor as an array; over the limit (default: the machine's memory) :class:`MemoryLimitError`."""
        (result,) = self.held.compute([self.held.form.node], checked_limit(memory_limit))
        return result

    def inverse(self, *, memory_limit: int | None = None) -> CompressedTensor:
        """The inverse, in its structure where it has one (blocks, Kronecker products), otherwise dense.

        Raises :class:`LinearAlgebraError` for a singular matrix.
        """
        self._system("inverse")
        return CompressedTensor(solving().choose(self.held.form, checked_limit(memory_limit)).inverse(self.held.arrays))

    def to_sparse(self) -> Any:
        """The matrix of flattened rows and columns as a sparse array of SciPy: what is not zero by the structure."""
        return sparse_matrix(self.held.form, self.held.arrays)

    def as_linear_operator(self) -> Any:
        """The matrix of flattened rows and columns as a :class:`scipy.sparse.linalg.LinearOperator`."""
        rows, columns, turned = self.shape[: self.rows], self.shape[self.rows :], algebra.transpose(self.held)
        return linear_operator(
            (prod(rows), prod(columns)),
            self.dtype,
            lambda v: times(self.held, v.reshape((*columns, *v.shape[1:]))).reshape((prod(rows), *v.shape[1:])),
            lambda v: times(turned, v.reshape((*rows, *v.shape[1:]))).reshape((prod(columns), *v.shape[1:])),
        )

    def with_rows(self, rows: int) -> CompressedTensor:
        """The same tensor, of which the first `rows` axes are the rows."""
        if rows not in range(len(self.shape) + 1) or isinstance(rows, bool):
            raise ShapeError(f"rows must be a number of axes from 0 to {len(self.shape)}, got {rows!r}")
        return CompressedTensor(algebra.with_rows(self.held, int(rows)))

    def same_structure(self, other: CompressedTensor) -> bool:
        """Whether both are the same sum of products over arrays of the same shapes, whatever the values."""
        if not isinstance(other, CompressedTensor):
            raise TypeError(f"same_structure needs a CompressedTensor, got a {type(other).__name__}")
        mine, theirs = self.held.form, other.held.form
        return mine.rows == theirs.rows and structural_key([mine.node])[0] == structural_key([theirs.node])[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a compressed tensor has no dense array to share: let NumPy copy")
        return np.asarray(self.dense()).astype(self.dtype if dtype is None else dtype, copy=False)

    def __repr__(self) -> str:
        return f"<CompressedTensor {self.shape} {self.dtype}>\n{self.structure}"

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, CompressedTensor):
            return times(self.held, real_array(other, "H @ v")) if _is_array(other) else NotImplemented
        columns, rows = self.shape[self.rows :], other.shape[: other.rows]
        if columns != rows:
            raise ShapeError(f"the columns {columns} of the left do not meet the rows {rows} of the right")
        return CompressedTensor(algebra.multiply(self.held, other.held))

    def __rmatmul__(self, other: Any) -> Any:
        if not _is_array(other):
            return NotImplemented
        array, rows = real_array(other, "v @ H"), self.shape[: self.rows]
        width = array.ndim - self.rows
        if width < 0 or array.shape[width:] != rows:
            raise ShapeError(f"v @ H needs last axes {rows}, those of the rows, got shape {array.shape}")
        result = times(algebra.transpose(self.held), array.transpose([*range(width, array.ndim), *range(width)]))
        columns = result.ndim - width
        return result.transpose([*range(columns, result.ndim), *range(columns)])

    @property
    def symmetric(self) -> bool:
        """Whether the matrix is known to be symmetric: a Hessian, or one whose indices show it."""
        return bool(solving().is_symmetric(self.held.form))

    def _system(self, what: str) -> TensorSystem:
        return TensorSystem(self.held, what)

    def blocks(self) -> dict[tuple[int, int], Structured]:
        """The form and arrays, as those of the only block."""
        return {(0, 0): self.held}

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a tensor without axes")
        return self.shape[0]

    def __add__(self, other: Any) -> CompressedTensor:
        if not isinstance(other, CompressedTensor):
            raise not_added(other)
        if (self.shape, self.rows) != (other.shape, other.rows):
            raise ShapeError(
                f"tensors of shapes {self.shape} and {other.shape}, with {self.rows} and {other.rows} axes of rows, "
                "cannot be added"
            )
        return CompressedTensor(algebra.add(self.held, other.held))

    def __radd__(self, other: Any) -> CompressedTensor:
        raise not_added(other)

    __rsub__ = __radd__

    def __neg__(self) -> CompressedTensor:
        return CompressedTensor(algebra.scale(self.held, -1))

    def __sub__(self, other: Any) -> CompressedTensor:
        return self + -other if isinstance(other, CompressedTensor) else self + other

    def __mul__(self, other: Any) -> CompressedTensor:
        return CompressedTensor(algebra.scale(self.held, float(other))) if is_number(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> CompressedTensor:
        return CompressedTensor(algebra.scale(self.held, 1 / float(other))) if is_number(other) else NotImplemented

    def __getitem__(self, index: Any) -> CompressedTensor:
        return CompressedTensor(algebra.restrict(self.held, places_of(index, self.shape)))


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, int, float, list, tuple))


def not_added(other: Any) -> TypeError:
    """The error for what cannot be added to a structured tensor."""
    return TypeError(
        f"a {type(other).__name__} cannot be added to a tensor that is kept in its structure: add it to dense(), or "
        "use damping= for a multiple of the identity"
    )


def is_number(value: Any) -> bool:
    """Whether a tensor can be multiplied by the value."""
    if not isinstance(value, (int, float, np.ndarray, np.generic)):
        return False
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in "fiu"
