"""Products that are written along a selection whose places nothing else has: what is summed is summed before."""

from math import prod

import numpy as np
import pytest

import einsumad as ea

RNG = np.random.default_rng(3)
N, D, K = 400, 6, 4
INDEX = np.zeros((D, D), int)
INDEX[np.tril_indices(D, -1)] = np.arange(1, D * (D - 1) // 2 + 1)
X = RNG.normal(size=(N, D))


def loss(w):
    """``Σ exp(L x)`` with triangular L made of a row of numbers for each k."""
    L = np.concatenate([np.zeros((K, 1)), w], axis=1)[:, INDEX]
    return np.sum(np.exp(np.einsum("kij,nj->nki", L, X)))


@pytest.mark.whole_planner
def test_samples_are_summed_before_entries_are_written():
    w = 0.1 * RNG.normal(size=(K, D * (D - 1) // 2))
    L = np.zeros((K, D, D))
    rows, columns = np.tril_indices(D, -1)
    L[:, rows, columns] = w
    expected = np.einsum("nki,nj->kij", np.exp(np.einsum("kij,nj->nki", L, X)), X)[:, rows, columns]
    np.testing.assert_allclose(ea.grad(loss)(w), expected, rtol=1e-12)
    plan = ea.explain(ea.grad(loss), w).plan
    assert max(prod(step.shape) for step in plan.steps) <= N * K * D


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_with_an_index_that_is_kept(mode):
    """The sum over j is written; that over n stays, as the result has it."""
    index = RNG.integers(0, 5, 7)
    a = RNG.normal(size=(9, 7))

    def f(w):
        return np.tanh(a * w[index]) @ np.ones(7)

    w = RNG.normal(size=5)
    expected = np.zeros((9, 5))
    for j, i in enumerate(index):
        expected[:, i] += a[:, j] / np.cosh(a[:, j] * w[i]) ** 2
    np.testing.assert_allclose(ea.jacobian(f, mode=mode)(w), expected, rtol=1e-12)


@pytest.mark.whole_planner
@pytest.mark.parametrize("pick", ["along", "rows"])
def test_what_was_picked_of_each_row_is_counted_without_a_mask_of_all_rows(pick):
    """How often a row was picked from is a sum of places in it, not of all places under a mask for each row."""
    rows, classes = 50, 4
    index, z, v = RNG.integers(0, classes, rows), RNG.normal(size=(rows, classes)), RNG.normal(size=(rows, classes))

    def f(z, index):
        logs = z - np.log(np.sum(np.exp(z), axis=1))[:, None]
        return -np.sum(logs[np.arange(rows), index] if pick == "rows" else np.take_along_axis(logs, index[:, None], 1))

    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    found = ea.hvp(f)(z, index, v)
    np.testing.assert_allclose(found, p * v - p * np.sum(p * v, axis=1, keepdims=True), rtol=1e-10)
    plan = ea.explain(ea.hvp(f), z, index, v).plan
    assert max(prod(step.shape) for step in plan.steps) <= rows * classes
