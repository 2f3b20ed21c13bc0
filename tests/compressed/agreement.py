"""Checks that a structured tensor does what its dense array does, shared by the tests of cases and of random ones."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from einsumad.compressed import CompressedTensor
from einsumad.compressed.factorisations import Refined
from einsumad.compressed.solving import Strategy, choose
from einsumad.compressed.solving.choice import _best
from einsumad.compressed.solving.guarded import backward_error
from einsumad.compressed.solving.low_rank import LowRankStrategy
from einsumad.compressed.solving.strategy import product_of
from einsumad.compressed.systems import TensorSystem, damped
from einsumad.compressed.values import Structured
from einsumad.errors import LinearAlgebraError

__all__ = [
    "check_algebra",
    "check_close",
    "check_conversions",
    "check_factorisation",
    "check_parts",
    "check_products",
    "check_square",
    "check_strategies",
    "flat",
    "strategies_of",
]


def check_close(found: Any, expected: Any, scale: float = 0.0, factor: float = 100.0) -> None:
    """Of one shape and dtype, and equal up to rounding errors of numbers of this size."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    scale = max(scale, float(np.abs(expected).max(initial=1)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=factor * np.finfo(found.dtype).eps * scale)


def flat(dense: np.ndarray, rows: int) -> np.ndarray:
    """The matrix of flattened rows and columns."""
    return dense.reshape(prod(dense.shape[:rows]), prod(dense.shape[rows:]))


def random(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def check_products(H: CompressedTensor, dense: np.ndarray) -> None:
    """``H @ v`` and ``v @ H``, for one vector, for several, and for none."""
    rows = H.rows
    left, right = dense.shape[:rows], dense.shape[rows:]
    scale = float(np.abs(dense).max(initial=0)) * max(1, prod(left), prod(right))
    for extra in ((), (2,), (3, 2), (0,)):
        v = random((*right, *extra), dense.dtype)
        check_close(H @ v, np.tensordot(dense, v, len(right)).astype(dense.dtype), scale)
        u = random((*extra, *left), dense.dtype, 1)
        check_close(u @ H, np.tensordot(u, dense, rows).astype(dense.dtype), scale)


def check_algebra(H: CompressedTensor, dense: np.ndarray) -> None:
    """Transpose, sums, multiples, products of two."""
    rows, size = H.rows, float(np.abs(dense).max(initial=0))
    order = [*range(rows, dense.ndim), *range(rows)]
    check_close(H.T.dense(), dense.transpose(order))
    check_close(H.T.T.dense(), dense)
    check_close((H - H).dense(), 0 * dense, size)
    check_close((-H).dense(), -dense)
    check_close((0.5 * H + H / 4).dense(), dense * 3 / 4)
    matrix = flat(dense, rows)
    scale = size**2 * max(1, len(matrix), len(matrix.T))
    gram = H.T @ H
    assert gram.rows == dense.ndim - rows
    check_close(gram.dense(), (matrix.T @ matrix).reshape(gram.shape), scale)
    if dense.shape[:rows] == dense.shape[rows:]:
        check_close((H @ H).dense(), (matrix @ matrix).reshape(dense.shape), scale)
        check_close((H + H.T).dense(), (matrix + matrix.T).reshape(dense.shape))


def check_parts(H: CompressedTensor, dense: np.ndarray) -> None:
    """Indices and slices, forwards and backwards, some of them empty."""
    rank = dense.ndim
    indices: list[Any] = [..., (slice(None, None, -1),) * rank, (slice(1, None),) * rank, (slice(2, 1),) * min(1, rank)]
    if rank:
        indices += [(..., slice(5, None, -2)), slice(None, None, 2)]
    if dense.size:
        indices += [(-1,) * rank, *([0, (..., -1)] if rank else [])]
    for index in indices:
        check_close(H[index].dense(), dense[index])


def check_conversions(H: CompressedTensor, dense: np.ndarray) -> None:
    """Arrays, sparse matrices, operators, other numbers of rows."""
    matrix = flat(dense, H.rows)
    check_close(np.asarray(H), dense)
    assert np.asarray(H, np.float32).dtype == np.float32
    if 0 not in matrix.shape:
        sparse = H.to_sparse()
        assert scipy.sparse.issparse(sparse)
        check_close(sparse.toarray(), matrix)
        operator = H.as_linear_operator()
        scale = float(np.abs(dense).max(initial=0)) * max(matrix.shape)
        v, u = random(matrix.shape[1:], dense.dtype), random(matrix.shape[:1], dense.dtype)
        check_close(operator @ v, matrix @ v, scale)
        check_close(operator.T @ u, matrix.T @ u, scale)
    for rows in range(dense.ndim + 1):
        turned = H.with_rows(rows)
        assert (turned.rows, turned.shape) == (rows, dense.shape)
        check_close(turned.dense(), dense)
    check_close(
        H.with_rows(0) @ random((*dense.shape, 2), dense.dtype),
        np.tensordot(dense, random((*dense.shape, 2), dense.dtype), dense.ndim),
        float(np.abs(dense).max(initial=0)) * max(1, dense.size),
    )


def check_square(H: CompressedTensor, dense: np.ndarray) -> None:
    """Diagonal, trace and quadratic forms."""
    shape = dense.shape[: H.rows]
    matrix = flat(dense, H.rows)
    scale = float(np.abs(dense).max(initial=0)) * max(1, dense.size)
    check_close(H.diagonal(), np.diagonal(matrix).reshape(shape))
    check_close(H.trace(), np.trace(matrix), scale)
    for extra in ((), (2,)):
        v = random((*shape, *extra), dense.dtype)
        w = v.reshape(len(matrix), -1)
        expected = np.einsum("ik,ij,jk->k", w, matrix, w).reshape(extra)
        check_close(H.quadratic(v), expected, 10 * scale)
    assert not H.symmetric or np.abs(matrix - matrix.T).max(initial=0) <= 1e4 * np.finfo(dense.dtype).eps * max(
        1, scale
    )


def strategies_of(H: CompressedTensor) -> list[Strategy]:
    """All that would be compared for the tensor."""
    return _best(H.held.form)


def check_strategies(H: CompressedTensor, dense: np.ndarray) -> set[str]:
    """Every strategy that fits the matrix, made regular by damping; the names of the strategies."""
    matrix = flat(dense, H.rows).astype(np.float64)
    values = np.linalg.svd(matrix, compute_uv=False)
    names = set()
    largest = float(values.max(initial=0))
    for damping in (0.0, largest + 1, -0.37 * largest - 0.1):
        moved = matrix + damping * np.eye(len(matrix))
        if len(matrix) and np.linalg.cond(moved) > 1e6:
            continue
        held = damped(H.held, damping)
        if not held.form.terms:
            continue
        tensor = CompressedTensor(held)
        for strategy in (choose(held.form), *strategies_of(tensor)):
            names.add(type(strategy).__name__)
            try:
                found = strategy.factorise(held.arrays)
            except LinearAlgebraError:
                # the base of an update may be singular: a guarded strategy has another in reserve
                assert isinstance(strategy, LowRankStrategy)
                continue
            if isinstance(strategy, LowRankStrategy) and backward_error(
                found.solve, product_of(held), found.size, found.dtype
            ) > np.sqrt(np.finfo(dense.dtype).eps):
                continue
            if strategy.rough:
                found = Refined(found, TensorSystem(held, "solve").apply)
            check_factorisation(found, moved, dense.dtype)
            check_inverse(strategy, held, moved)
    return names


def check_factorisation(found: Any, matrix: np.ndarray, dtype: Any, eps: float = 0.0) -> None:
    """Solutions, determinant, inertia and roots beside those of the dense matrix, to its condition number."""
    size = len(matrix)
    condition = float(np.linalg.cond(matrix)) if size else 1.0
    allowed = 1000 * max(eps, float(np.finfo(dtype).eps)) * condition
    assert (found.size, found.dtype) == (size, dtype)
    right = random((size, 3), dtype)
    given = right.copy()
    expected = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(found.solve(right), expected, rtol=0, atol=allowed * np.abs(expected).max(initial=1))
    np.testing.assert_array_equal(right, given)
    sign, logarithm = np.linalg.slogdet(matrix)
    assert found.slogdet()[0] == sign
    assert abs(found.slogdet()[1] - logarithm) <= allowed * max(size, 1) * max(1, abs(logarithm))
    symmetric = bool(np.abs(matrix - matrix.T).max(initial=0) <= 1e-6 * np.abs(matrix).max(initial=0))
    values = np.linalg.eigvalsh(matrix) if symmetric else np.zeros(0)
    definite = bool((values > 0).all()) and symmetric
    assert symmetric or not found.symmetric
    assert definite or not found.positive_definite
    inertia = ((values > 0).sum(), (values < 0).sum(), 0)
    refusal = _refusal(lambda: found.inertia() == inertia or pytest.fail(f"{found.inertia()}, not {inertia}"))
    assert not refusal or not found.symmetric or "does not find it" in refusal
    refusal = _refusal(lambda: _check_root(found, matrix, right, allowed))
    assert not refusal or not found.positive_definite or "has no root" in refusal


def _refusal(check: Callable[[], Any]) -> str:
    """What the error says, if there is one."""
    try:
        check()
    except LinearAlgebraError as error:
        return str(error)
    return ""


def _check_root(found: Any, matrix: np.ndarray, right: np.ndarray, allowed: float) -> None:
    root = found.root(np.eye(found.size, dtype=found.dtype))
    half = found.root_solve_transposed(right)
    np.testing.assert_allclose(root @ root.T, matrix, rtol=0, atol=allowed * np.abs(matrix).max(initial=0))
    np.testing.assert_allclose(root.T @ half, right, rtol=0, atol=allowed * 10)


def check_inverse(strategy: Strategy, held: Structured, matrix: np.ndarray) -> None:
    """The inverse, as an array."""
    found = CompressedTensor(strategy.inverse(held.arrays))
    assert (found.shape, found.rows, found.dtype) == (held.form.shape, held.form.rows, held.form.dtype)
    expected = np.linalg.inv(matrix)
    allowed = 1000 * np.finfo(found.dtype).eps * float(np.linalg.cond(matrix)) if len(matrix) else 0
    np.testing.assert_allclose(
        flat(found.dense(), found.rows), expected, rtol=0, atol=allowed * np.abs(expected).max(initial=1)
    )
    assert (
        not found.symmetric
        or len(matrix) == 0
        or np.abs(expected - expected.T).max() <= allowed * np.abs(expected).max()
    )
