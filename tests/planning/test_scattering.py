"""Axes of a result that selections give from the same places are written at once."""

import numpy as np
import pytest

import einsumad as ea

RNG = np.random.default_rng(0)
N, ROWS, COLUMNS = 5000, 400, 300
FIRST, SECOND = RNG.integers(0, ROWS, N), RNG.integers(0, COLUMNS, N)
WEIGHTS = RNG.normal(size=N)


def mixed(u, v):
    return np.sum(WEIGHTS * np.exp(u[FIRST] + v[SECOND]))


def expected(u, v):
    result = np.zeros((ROWS, COLUMNS))
    np.add.at(result, (FIRST, SECOND), WEIGHTS * np.exp(u[FIRST] + v[SECOND]))
    return result


@pytest.mark.whole_planner
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse", "cross-country"])
def test_a_mixed_derivative_takes_no_more_than_places_and_result(mode):
    u, v = RNG.normal(size=ROWS), RNG.normal(size=COLUMNS)
    given = 10 * (ROWS * COLUMNS + N) * 8
    found = ea.hessian(mixed, (0, 1), mode=mode, memory_limit=given + ROWS * ROWS * 8 + COLUMNS * COLUMNS * 8)(u, v)
    np.testing.assert_allclose(found[0][1], expected(u, v), rtol=1e-12)
    np.testing.assert_allclose(found[1][0], expected(u, v).T, rtol=1e-12)


def test_three_axes_are_written_at_once():
    third = RNG.integers(0, 7, N)

    def f(a, b, c):
        return np.sum(a[FIRST % 11] * b[SECOND % 13] * c[third])

    a, b, c = RNG.normal(size=11), RNG.normal(size=13), RNG.normal(size=7)
    found = ea.derivative(f, (0, 1, 2), order=3)(a, b, c)[0][1][2]
    counts = np.zeros((11, 13, 7))
    np.add.at(counts, (FIRST % 11, SECOND % 13, third), 1.0)
    np.testing.assert_array_equal(found, counts)


def test_an_axis_that_a_factor_has_is_left_alone():
    matrix = RNG.normal(size=(ROWS, COLUMNS))

    def f(u, v):
        return np.sum(np.outer(u, v)[FIRST, SECOND] * matrix[FIRST, SECOND])

    found = ea.hessian(f, (0, 1))(np.ones(ROWS), np.ones(COLUMNS))[0][1]
    counts = np.zeros((ROWS, COLUMNS))
    np.add.at(counts, (FIRST, SECOND), 1.0)
    np.testing.assert_allclose(found, counts * matrix, rtol=1e-12)


def test_float32_and_no_places():
    u, v = np.ones(3, np.float32), np.ones(2, np.float32)
    none = np.zeros(0, int)
    found = ea.hessian(lambda u, v: np.sum(u[none] * v[none]), (0, 1))(u, v)[0][1]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.zeros((3, 2)))
    some = np.array([2, 2, 0])
    found = ea.hessian(lambda u, v: np.sum(u[some] * v[some % 2]), (0, 1))(u, v)[0][1]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[1, 0], [0, 0], [2, 0]])
