"""Products of windows: the value of the whole product, some of the windows copied at a time."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import einsumad as ea
from einsumad.execution import compile_plan
from einsumad.execution.windowed import windows_dot
from einsumad.testing import check_user_gradient

rng = np.random.default_rng(0)


def views(x: Any) -> Any:
    """Windows of three by two, with the channels and the places within a window first."""
    return sliding_window_view(x, (3, 2), axis=(2, 3)).transpose(1, 4, 5, 0, 2, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("samples", [0, 1, 7, 100])
def test_values(dtype: Any, samples: int) -> None:
    """In one part, in several, and in parts that are not equally long."""
    x = rng.integers(-4, 5, size=(samples, 2, 22, 21)).astype(dtype)
    c = rng.integers(-4, 5, size=(5, samples, 20, 20)).astype(dtype)
    found = windows_dot(views(x), c, 3, 1)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.reshape(2, 3, 2, 5), np.einsum("cpqnij,onij->cpqo", views(x), c))


def test_what_is_summed_is_one_axis() -> None:
    x, c = rng.normal(size=300), rng.normal(size=(2, 3, 298))
    found = windows_dot(sliding_window_view(x, 3).T, c, 1, 2)
    np.testing.assert_allclose(
        found, np.array([[x[k : k + 298] @ c[i, j] for i in range(2) for j in range(3)] for k in range(3)])
    )


def convolved(x: Any, w: Any) -> Any:
    return np.einsum("ncijpq,ocpq->noij", sliding_window_view(x, w.shape[2:], axis=(2, 3)), w)


def test_gradients_in_kernels_copy_some_windows_at_a_time() -> None:
    x, w = rng.normal(size=(8, 3, 34, 34)), rng.normal(size=(4, 3, 5, 5))
    c = rng.normal(size=(8, 4, 30, 30))

    def f(w: Any) -> Any:
        return np.sum(c * convolved(ea.tensor(x), w) ** 2)

    y = np.einsum("ncijpq,ocpq->noij", sliding_window_view(x, (5, 5), axis=(2, 3)), w, optimize=True)
    expected = 2 * np.einsum("noij,ncijpq->ocpq", c * y, sliding_window_view(x, (5, 5), axis=(2, 3)), optimize=True)
    assert "windows_dot" in compile_plan(ea.explain(ea.grad(f), w).plan).source
    np.testing.assert_allclose(ea.grad(f)(w), expected, rtol=1e-10, atol=1e-8)
    windows = sliding_window_view(x, (5, 5), axis=(2, 3)).transpose(1, 4, 5, 0, 2, 3)
    tracemalloc.start()
    windows_dot(windows, c.transpose(1, 0, 2, 3), 3, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < windows.size * 8 / 4


def test_windows_that_do_not_overlap_are_no_copies() -> None:
    x, w = rng.normal(size=(6, 8, 8)), rng.normal(size=(3, 2, 2))

    def f(x: Any, w: Any) -> Any:
        return np.einsum("nipjq,opq->noij", x.reshape(6, 4, 2, 4, 2), w)

    plan = ea.explain(ea.compile(f), x, w).plan
    assert "windows_dot" not in compile_plan(plan).source
    np.testing.assert_allclose(ea.compile(f)(x, w), f(x, w), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("samples", [3, 32])
def test_a_long_batch_lies_last(samples: int) -> None:
    """One copy of the operand has it there for all windows of it; what comes of their products has it there too."""
    x, w = rng.normal(size=(samples, 2, 14, 12)), rng.normal(size=(3, 2, 3, 3))

    def f(x: Any, w: Any) -> Any:
        y = convolved(x, w)
        rows, columns = y.shape[2] // 2, y.shape[3] // 2
        largest = np.max(y.reshape(samples, 3, rows, 2, columns, 2), axis=(3, 5))
        return np.sum(largest**2) + np.sum(np.sin(x[:, :, ::2]))

    gradients = ea.compile(ea.grad(f, argnums=(0, 1)))
    source = compile_plan(ea.explain(gradients, x, w).plan).source
    assert source.count("np.ascontiguousarray(t0.transpose(1, 2, 3, 0))") == (samples == 32)
    check_user_gradient(f, gradients, x, w, argnums=(0, 1)).raise_if_wrong()


def test_kernels_are_not_padded_to_the_size_of_the_image() -> None:
    x, w = rng.normal(size=(32, 4, 20, 20)), rng.normal(size=(6, 4, 5, 5))
    needed = 2 * 32 * 6 * 16 * 16 * 4 * 5 * 5
    assert ea.explain(ea.compile(convolved), x, w).plan.flops < 1.1 * needed
