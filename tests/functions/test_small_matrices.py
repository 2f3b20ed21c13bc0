"""Stacks of 2 × 2 and 3 × 3 matrices: as right as LAPACK, against numbers of more digits."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import einsumad as ea
from einsumad.functions.general import kernels

RNG = np.random.default_rng(8)


def exact(matrix):
    """Determinant and adjugate in rational numbers."""
    n = len(matrix)
    a = [[Fraction(float(x)) for x in row] for row in matrix]

    def det(rows, columns):
        total = Fraction(0)
        for order in permutations(range(len(rows))):
            sign = (-1) ** sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))
            term = Fraction(sign)
            for i, j in enumerate(order):
                term *= a[rows[i]][columns[j]]
            total += term
        return total

    every = range(n)
    minors = [
        [(-1) ** (i + j) * det([r for r in every if r != j], [c for c in every if c != i]) for j in every]
        for i in every
    ]
    return det(every, every), minors


def stacks(n):
    """Well conditioned, and with singular values over twelve orders of magnitude, and badly scaled."""
    u, v = (np.linalg.qr(RNG.normal(size=(250, n, n)))[0] for _ in range(2))
    graded = u @ (10.0 ** -RNG.uniform(0, 12, size=(250, n, 1)) * v)
    scales = 10.0 ** RNG.uniform(-8, 8, size=(250, n, 1))
    return [np.eye(n) + 0.2 * RNG.normal(size=(250, n, n)), graded, scales * RNG.normal(size=(250, n, n))]


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_errors_are_those_of_lapack(n, kind):
    a = stacks(n)[kind]
    found, lapack = kernels.inverse(a), np.linalg.inv(a)
    values, lapack_values = kernels.determinant(a), np.linalg.det(a)
    for k, matrix in enumerate(a):
        det, minors = exact(matrix)
        inverse = np.array([[float(entry / det) for entry in row] for row in minors])
        size = np.linalg.norm(inverse)
        allowed = 8 * np.linalg.norm(lapack[k] - inverse) / size + 1e-14
        assert np.linalg.norm(found[k] - inverse) / size <= allowed
        allowed = 8 * abs(float(Fraction(float(lapack_values[k])) / det - 1)) + 1e-14
        assert abs(float(Fraction(float(values[k])) / det - 1)) <= allowed


@pytest.mark.parametrize("n", [2, 3])
def test_logarithms_and_signs(n):
    a = RNG.normal(size=(4, 100, n, n))
    sign, value = np.linalg.slogdet(a)
    np.testing.assert_array_equal(kernels.sign_determinant(a), sign)
    np.testing.assert_allclose(kernels.log_absolute_determinant(a), value, rtol=1e-12, atol=1e-14)
    expected = np.where(sign < 0, np.nan, value)
    np.testing.assert_allclose(kernels.log_determinant(a), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernels.inverse(a) @ a, np.broadcast_to(np.eye(n), a.shape), atol=1e-9)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("n", [2, 3])
def test_singular_matrices_are_met_as_before(n):
    a = np.eye(n) + 0.1 * RNG.normal(size=(250, n, n))
    a[7] = 0
    a[8] = 1
    a[9, 0, 0] = np.nan
    with pytest.raises(np.linalg.LinAlgError):
        kernels.inverse(a)
    found = kernels.inverse(a, 1)
    assert np.isnan(found[7:9]).all()
    assert np.isnan(found[9]).any()
    rest = np.delete(np.arange(250), [7, 8, 9])
    np.testing.assert_allclose(found[rest], np.linalg.inv(a[rest]), rtol=1e-12, atol=1e-14)
    values = kernels.determinant(a)
    assert (values[7], values[8]) == (0, 0)
    assert np.isnan(values[9])
    logarithms = kernels.log_determinant(a)
    assert (logarithms[7], logarithms[8]) == (-np.inf, -np.inf)


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("size", [1e-150, 1e150, 1e-200, 1e200])
def test_very_small_and_very_large_entries(n, size):
    a = size * (np.eye(n) + 0.1 * RNG.normal(size=(240, n, n)))
    np.testing.assert_allclose(kernels.inverse(a) * size, np.linalg.inv(a / size), rtol=1e-12, atol=1e-14)
    expected = np.linalg.slogdet(a / size)[1] + n * np.log(size)
    np.testing.assert_allclose(kernels.log_absolute_determinant(a), expected, rtol=1e-12)


def test_dtype_layout_and_derivatives():
    a = (np.eye(3)[..., None] + 0.1 * RNG.normal(size=(3, 3, 9000))).astype(np.float32).T
    found = kernels.inverse(a)
    assert (found.shape, found.dtype) == (a.shape, a.dtype)
    np.testing.assert_allclose(found, np.linalg.inv(a), rtol=1e-4, atol=1e-5)
    whole = np.array([[[2.0, 1], [7, 4]]] * 300)
    np.testing.assert_array_equal(kernels.determinant(whole), np.ones(300))
    wide = a.astype(float)
    gradient = ea.grad(lambda a: np.sum(np.linalg.slogdet(a)[1] ** 2))(wide)
    expected = 2 * np.linalg.slogdet(wide)[1][:, None, None] * np.linalg.inv(wide).transpose(0, 2, 1)
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-13)
