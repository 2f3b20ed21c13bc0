"""A request over the memory limit is refused before anything is allocated, quickly, and says what to do."""

from __future__ import annotations

import re
import time
import tracemalloc

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend import cache

N = 300_000


def f(x):
    return np.sum(np.exp(x) * np.sin(x))


def refused(compute):
    """The error, the time it took and the memory that was allocated on the way."""
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(ea.MemoryLimitError) as caught:
        compute()
    elapsed = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return str(caught.value), elapsed, peak


def test_a_hessian_that_no_machine_holds():
    x = np.linspace(0, 1, N)
    message, _, peak = refused(lambda: ea.hessian(f)(x))
    assert f"({N}, {N})" in message
    assert "720 GB" in message
    assert re.search(r"t\d+\[i,j\] = ", message)
    assert "hvp" in message
    assert "memory_limit=" in message
    assert peak < 10 * x.nbytes
    assert isinstance(message, str)


def test_it_is_refused_in_under_50_ms():
    x = np.linspace(0, 1, N)
    refused(lambda: ea.hessian(f)(x))
    times = []
    for _ in range(5):
        cache.clear()
        start = time.perf_counter()
        with pytest.raises(ea.MemoryLimitError):
            ea.hessian(f)(x)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.05


def test_a_limit_of_ones_own():
    x = np.ones(100)
    limited = ea.hessian(f, memory_limit=50_000)
    message, _, peak = refused(lambda: limited(x))
    assert "(100, 100)" in message
    assert "80 kB" in message
    assert "50 kB" in message
    assert peak < 400_000
    assert ea.hessian(f, memory_limit=500_000)(x).shape == (100, 100)
    needed = int(re.search(r"memory_limit=(\d+)", message)[1])
    assert ea.hessian(f, memory_limit=needed)(x).shape == (100, 100)
    with pytest.raises(ea.MemoryLimitError):
        ea.hessian(f, memory_limit=needed - 1)(x)


def test_the_remedy_works_where_the_whole_is_refused():
    x = np.linspace(0, 1, N)
    v = np.ones(N)
    second = 2 * np.exp(x) * np.cos(x)
    np.testing.assert_allclose(ea.hvp(f, memory_limit=20 * x.nbytes)(x, v), second, rtol=1e-12)
    np.testing.assert_allclose(ea.hessian_diagonal(f, memory_limit=20 * x.nbytes)(x), second, rtol=1e-12)


@pytest.mark.parametrize(
    "transform",
    [
        lambda limit: ea.jacobian(np.exp, memory_limit=limit),
        lambda limit: ea.derivative(f, order=2, memory_limit=limit),
        lambda limit: ea.value_grad_and_hessian(f, memory_limit=limit),
        lambda limit: ea.compile(ea.hessian(f), memory_limit=limit),
        lambda limit: ea.compile(lambda x: np.outer(x, x), memory_limit=limit),
    ],
)
def test_every_transform_has_the_limit(transform):
    with pytest.raises(ea.MemoryLimitError, match=r"\(200, 200\)"):
        transform(100_000)(np.ones(200))
    transform(None)(np.ones(200))


def test_a_limited_call_does_not_depend_on_an_earlier_one_without_a_limit():
    x = np.ones(120)
    assert ea.hessian(f)(x).shape == (120, 120)
    with pytest.raises(ea.MemoryLimitError):
        ea.hessian(f, memory_limit=1000)(x)


def test_an_intermediate_result_that_is_too_large_is_named():
    """The result is small, but a step on the way is not."""
    a = np.ones((2000, 50))

    def g(a):
        return np.sum(np.exp(np.einsum("ik,jk->ij", a, a)))

    with pytest.raises(ea.MemoryLimitError, match=r"\(2000, 2000\)"):
        ea.grad(g, memory_limit=10**7)(a)
