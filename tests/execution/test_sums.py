"""Sums of a large term and small ones, and of products: nothing as large is made on the way."""

import tracemalloc

import numpy as np
import pytest

import einsumad as ea

RNG = np.random.default_rng(2)
ROWS, COLUMNS = 500, 400


def distances(a, b):
    return np.sum(a * a, axis=1)[:, None] - 2 * a @ b.T + np.sum(b * b, axis=1)


def test_values_and_memory():
    a, b = RNG.normal(size=(ROWS, 3)), RNG.normal(size=(COLUMNS, 3))
    compiled = ea.compile(distances)
    expected = ((a[:, None] - b) ** 2).sum(axis=2)
    np.testing.assert_allclose(compiled(a, b), expected, rtol=1e-10, atol=1e-12)
    tracemalloc.start()
    compiled(a, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 8 * ROWS * COLUMNS


@pytest.mark.parametrize("signs", [(1, 1, 1), (-1, 1, 1), (1, -1, -1), (-1, -1, 2), (2, 1, -1)])
def test_signs(signs):
    large, row, column = RNG.normal(size=(5, 4)), RNG.normal(size=4), RNG.normal(size=(5, 1))
    p, q, r = signs

    def f(x, u, v):
        return p * np.exp(x) + (q * u + r * v) + 1

    expected = [[p * np.exp(large[i, j]) + q * row[j] + r * column[i, 0] + 1 for j in range(4)] for i in range(5)]
    np.testing.assert_allclose(ea.compile(f)(large, row, column), expected, rtol=1e-14, atol=1e-14)


def test_products_that_are_summed_over_their_first_index_are_not_stored():
    a, b = RNG.normal(size=(2, 4000, 5, 4))
    compiled = ea.compile(lambda a, b: np.einsum("ijk,ijk->kj", a, b))
    expected = sum(a[i].T * b[i].T for i in range(4000))
    np.testing.assert_allclose(compiled(a, b), expected, rtol=1e-11, atol=1e-11)
    tracemalloc.start()
    compiled(a, b)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < a.nbytes / 2
    single = compiled(a.astype(np.float32), b.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-3, atol=1e-2)
    whole = RNG.integers(-9, 9, size=(2, 30, 3, 2))
    found = ea.compile(lambda a, b: np.einsum("ijk,ijk->jk", a, b))(*whole)
    np.testing.assert_array_equal(found, (whole[0] * whole[1]).sum(axis=0))
