"""Structured tensors as sparse matrices and linear operators of SciPy.

Owns these conversions. Imports the enumeration of entries; SciPy is loaded when it is asked for. Invariant: entries
that several terms have are added; what is zero by structure is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from einsumad.compressed.entries import entries
from einsumad.compressed.forms import Form
from einsumad.compressed.libraries import sparse_linear_algebra, sparse_matrices

Product: TypeAlias = Callable[[np.ndarray], np.ndarray]


def sparse_matrix(form: Form, arrays: Sequence[Any]) -> Any:
    """The matrix of flattened rows and columns, in compressed sparse column format."""
    found = entries(form, arrays)
    shape = (prod(form.shape[: form.rows]), prod(form.shape[form.rows :]))
    sparse = sparse_matrices()
    index = np.int32 if max(*shape, len(found.values)) < np.iinfo(np.int32).max else np.int64
    places = (found.rows.astype(index), found.columns.astype(index))
    return sparse.coo_array((found.values, places), shape).tocsc()


def block_sparse(blocks: Sequence[Sequence[Any]]) -> Any:
    """Sparse matrices side by side and one above the other as one."""
    return sparse_matrices().block_array(blocks, format="csc")


def linear_operator(shape: tuple[int, int], dtype: np.dtype, times: Product, transposed: Product) -> Any:
    """A linear operator of SciPy on flat vectors and on matrices of columns."""
    library = sparse_linear_algebra()
    forth, back = _of_real(times), _of_real(transposed)
    return library.LinearOperator(shape, forth, back, forth, dtype, back)


def _of_real(product: Product) -> Product:
    def checked(v: np.ndarray) -> np.ndarray:
        if v.dtype.kind not in "fiub":
            raise TypeError(f"the operator needs real numbers, got dtype {v.dtype}")
        return product(v)

    return checked
