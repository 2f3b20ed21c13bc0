"""Sums over axes of few entries, and over one entry: the values of NumPy's reductions, and what plans make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution.few import few_added
from einsumad.planning.kernels import Layout, Window

rng = np.random.default_rng(0)
X = rng.integers(-9, 10, size=(40, 2, 300, 3)).astype(float)


def source_of(f: Any, *arguments: Any) -> str:
    return compile_plan(ea.explain(ea.compile(f), *arguments).plan).source


@pytest.mark.parametrize("axes", [(1,), (3,), (1, 3), (3, 1)])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0), (2, 1, 3, 0)])
def test_sums(axes: tuple[int, ...], order: tuple[int, ...]) -> None:
    """In any order in memory, which the result keeps."""
    x = np.ascontiguousarray(X.transpose(order)).transpose(np.argsort(order))
    found = few_added(x, axes, np.float64)
    np.testing.assert_array_equal(found, np.sum(X, axis=axes))
    np.testing.assert_array_equal(few_added(x > 0, axes, np.uint8), np.sum(X > 0, axis=axes))
    kept = [axis for axis in range(4) if axis not in axes]
    strides = [x.strides[axis] for axis in kept]
    assert np.argsort(found.strides).tolist() == np.argsort(strides).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plans_call_it(dtype: Any) -> None:
    x = X.astype(dtype)

    def f(x: Any) -> Any:
        return np.sum(np.sin(x), axis=(1, 3))

    assert "few_added" in source_of(f, x)
    found = ea.compile(f)(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.sin(X).sum(axis=(1, 3)), rtol=1e-5, atol=1e-5)


def test_counts() -> None:
    """Of ties, up to as many as are counted so, which one byte holds."""
    x = np.ones((3000, 4, 8))

    def f(x: Any) -> Any:
        return np.sum(np.max(x, axis=(1, 2)))

    assert "np.uint8" in compile_plan(ea.explain(ea.grad(f), x).plan).source
    np.testing.assert_array_equal(ea.grad(f)(x), np.full(x.shape, 1 / 32))


@pytest.mark.parametrize("axis", [0, (0, 2), (2,)])
def test_long_sums_are_numpys(axis: Any) -> None:
    assert "few_added" not in source_of(lambda x: np.sum(np.sin(x), axis=axis), X)


def test_what_is_not_finite_and_no_entries() -> None:
    x = X.copy()
    x[3, 1, 5, 2], x[4, 0, 6, 1] = np.nan, np.inf
    np.testing.assert_array_equal(ea.compile(lambda x: np.sum(x * 1.0, axis=(1, 3)))(x), x.sum(axis=(1, 3)))
    none = np.zeros((0, 2, 3))
    np.testing.assert_array_equal(ea.compile(lambda x: np.sum(np.sin(x), axis=(1, 2)))(none), np.zeros(0))


def test_a_sum_over_one_entry_is_a_view() -> None:
    x = rng.normal(size=(5, 1, 4))

    def f(x: Any) -> Any:
        return np.exp(np.sum(np.sin(x), axis=1)) + np.sin(x)[:, 0], np.sum(np.sin(x), axis=1)

    plan = ea.explain(ea.compile(f), x).plan
    assert any(isinstance(step.kernel, Window) for step in plan.steps)
    assert not any(isinstance(step.kernel, Layout) for step in plan.steps)
    first, second = ea.compile(f)(x)
    np.testing.assert_allclose(first, np.exp(np.sin(x[:, 0])) + np.sin(x[:, 0]), rtol=1e-14)
    np.testing.assert_array_equal(second, np.sin(x[:, 0]))
    found = ea.compile(lambda x: np.sum(x, axis=1))(x)
    assert not np.shares_memory(found, x)
    np.testing.assert_array_equal(found, x[:, 0])


def test_a_sum_over_one_entry_and_others_or_in_another_dtype() -> None:
    x = rng.normal(size=(5, 1, 4, 1)).astype(np.float32)
    np.testing.assert_allclose(ea.compile(lambda x: np.sum(x, axis=(1, 2)))(x), x.sum(axis=(1, 2)), rtol=1e-6)
    np.testing.assert_array_equal(ea.compile(lambda x: np.sum(x, axis=(1, 3)))(x), x[:, 0, :, 0])
    found = ea.compile(lambda x: np.sum(x, axis=1, dtype=np.float64))(x)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, x[:, 0])
