"""Matrices without an inverse are refused, those with badly chosen units are not."""

import numpy as np
import pytest

import einsumad as ea

SIZES = (2, 5, 20, 50, 100, 210)


def log_of_sum(w):
    """Its Hessian has the null vector of ones."""
    return np.log(np.sum(np.exp(w)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", SIZES)
def test_a_null_vector_is_found(size, seed):
    H = ea.hessian(log_of_sum, compressed=True)(np.random.default_rng(seed).normal(size=size))
    with pytest.raises(ea.LinearAlgebraError, match=r"singular.*damping"):
        H.solve(np.ones(size))
    assert not H.is_positive_definite()
    assert H.is_positive_definite(damping=1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("missing", [1, 3])
def test_a_missing_rank_is_found(size, missing):
    rng = np.random.default_rng(size)
    X = rng.normal(size=(max(size - missing, 1), size)) * rng.lognormal(size=size)
    H = ea.hessian(lambda w: np.sum((X @ w) ** 2), compressed=True)(np.zeros(size))
    with pytest.raises(ea.LinearAlgebraError, match="singular"):
        H.logdet()


@pytest.mark.parametrize("size", SIZES)
def test_units_are_no_singularity(size):
    rng = np.random.default_rng(size)
    X, units = rng.normal(size=(2 * size, size)), 10.0 ** rng.integers(-12, 12, size)
    H = ea.hessian(lambda w: np.sum((X @ (units * w)) ** 2), compressed=True)(np.zeros(size))
    right = rng.normal(size=size)
    expected = np.linalg.solve(2 * X.T @ X, right / units) / units
    np.testing.assert_allclose(H.solve(right), expected, rtol=1e-7)


def test_an_unsymmetric_matrix_of_low_rank():
    A = np.random.default_rng(0).normal(size=(30, 30))
    A[:, 7] = A[:, :7].sum(axis=1)
    J = ea.jacobian(lambda x: A @ x, compressed=True)(np.zeros(30))
    with pytest.raises(ea.LinearAlgebraError, match="singular"):
        J.solve(np.ones(30))


def test_an_inverse_that_would_not_fit():
    n = 10**6
    H = ea.hessian(lambda x: np.sum((x[1:] - x[:-1]) ** 2) + np.sum(x**2), compressed=True)(np.zeros(n))
    with pytest.raises(ea.MemoryLimitError, match="dense"):
        H.inverse()
