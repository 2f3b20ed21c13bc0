"""Sums of a large term and small ones: no array as large is made of the small ones alone."""

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
