"""LU: values and dtypes of SciPy's, factors that give solutions and determinants, and matrices that are singular."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import ShapeError
from einsumad.scipy import linalg
from tests.frontend.surface import data
from tests.surface.checks import MODES, same_values

A = data((3, 3))[::-1] + np.diag([0.0, 0.0, 2.0])
B = data((3,), seed=1)
LAST_PIVOT_ZERO = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 1.0], [1.0, 3.0, 4.0]])
EARLIER_PIVOT_ZERO = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0], [3.0, 6.0, 11.0]])
SHAPES = [(3, 3), (4, 2), (2, 4), (1, 1), (2, 2, 3), (2, 1, 1), (3, 0), (0, 3), (2, 3, 0), (0, 3, 3)]


def determinant(a: Any) -> Any:
    """By the factors: the product of the pivots, with a sign for each exchange."""
    factors, pivots = linalg.lu_factor(a)
    signs = 1 - 2 * (pivots != np.arange(pivots.shape[-1]))
    return np.prod(signs) * np.prod(np.diagonal(factors))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(shape: tuple[int, ...], dtype: str) -> None:
    a = data(shape, dtype)
    a = np.where(np.arange(a.size).reshape(shape) % 2, a, -2 * a).astype(dtype)
    for permute_l in (False, True):
        for p_indices in (False, True):
            if a.size or dtype != "i8":
                options = {"permute_l": permute_l, "p_indices": p_indices}
                same_values(lambda a, options=options: tuple(linalg.lu(a, **options)), [a])
    if a.size:
        same_values(lambda a: tuple(linalg.lu_factor(a)), [a])


@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (4, 1, 3, 2)], ids=str)
def test_solutions_of_batches(shape: tuple[int, ...], trans: int) -> None:
    a, b = np.stack([A, A.T]), data(shape, seed=2)
    factors, pivots = linalg.lu_factor(a)
    same_values(lambda factors, b: linalg.lu_solve((factors, pivots), b, trans), [factors, b])
    same_values(lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans), [a, b])


@pytest.mark.parametrize("mode", MODES)
def test_solutions_have_the_derivatives_of_solve(mode: Any) -> None:
    for trans in (0, 1):
        for order in (1, 2, 3):
            found, expected = (
                ea.derivative(lambda a, f=f: np.sum(np.sin(f(a))), order=order, mode=mode)(A)
                for f in (
                    lambda a, trans=trans: linalg.lu_solve(linalg.lu_factor(a), B, trans),
                    lambda a, trans=trans: np.linalg.solve(a.T if trans else a, B),
                )
            )
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_determinants() -> None:
    for a in (A, LAST_PIVOT_ZERO, np.diag([1.0, 1e-20, 1e-30]), np.array([[3.0]])):
        for order in (1, 2):
            found, expected = (ea.derivative(f, order=order)(a) for f in (determinant, np.linalg.det))
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_factors_multiply_to_the_matrix() -> None:
    """For each shape and form the product is the matrix, so its derivative is the identity, and the second zero."""
    for shape in ((3, 3), (4, 2), (2, 3)):
        a = data(shape, seed=4)[::-1]

        def product(a: Any) -> Any:
            p, lower, upper = linalg.lu(a)
            rows, _, _ = linalg.lu(a, p_indices=True)
            moved, _ = linalg.lu(a, permute_l=True)
            return p @ lower @ upper + lower[rows] @ upper + moved @ upper

        np.testing.assert_allclose(
            ea.jacobian(product)(a).reshape(a.size, a.size), 3 * np.eye(a.size), rtol=0, atol=1e-12
        )
        second = ea.derivative(lambda a: np.sum(product(a) ** 2), order=2)(a)
        np.testing.assert_allclose(second.reshape(a.size, a.size), 18 * np.eye(a.size), rtol=0, atol=1e-11)


def test_pivots_are_known_integers() -> None:
    factors, pivots = linalg.lu_factor(ea.tensor(A))
    np.testing.assert_array_equal(pivots.numpy(), linalg.lu_factor(A)[1])
    assert pivots.dtype == np.int32
    assert [int(row) for row in pivots.numpy()] == [1, 2, 2]
    assert factors.shape == (3, 3)
    compiled = ea.compile(ea.grad(lambda a: np.sum(linalg.lu_solve(linalg.lu_factor(a), B))))
    for a in (A, A[::-1]):
        np.testing.assert_allclose(compiled(a), ea.grad(lambda a: np.sum(np.linalg.solve(a, B)))(a), rtol=1e-11)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_what_a_zero_pivot_divides_has_no_derivative(dtype: str) -> None:
    for a in (EARLIER_PIVOT_ZERO, np.ones((3, 3)), np.zeros((2, 2)), np.ones((3, 2))):
        assert np.isnan(ea.grad(lambda a: np.sum(linalg.lu_factor(a)[0]))(a.astype(dtype))).all()
    both = np.stack([EARLIER_PIVOT_ZERO, A]).astype(dtype)
    found = ea.grad(lambda a: np.sum(linalg.lu_factor(a)[0]))(both)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


def test_singular_systems_and_values_that_are_not_finite() -> None:
    def solved(a: Any) -> Any:
        return np.sum(linalg.lu_solve(linalg.lu_factor(a), B))

    for a in (LAST_PIVOT_ZERO, np.zeros((3, 3)), np.full((3, 3), np.nan), np.full((3, 3), np.inf)):
        value, gradient = ea.value_and_grad(solved)(a)
        assert np.isnan(value)
        assert np.isnan(gradient).all()


def test_shapes_are_checked() -> None:
    factors, pivots = linalg.lu_factor(A)
    traced = ea.tensor(factors)
    for right in (np.ones(2), np.float64(1), np.ones((2, 3))):
        with pytest.raises(ShapeError, match="3 rows"):
            linalg.lu_solve((traced, pivots), right)
    with pytest.raises(ShapeError, match="3 integers"):
        linalg.lu_solve((traced, pivots[:2]), B)
    with pytest.raises(ShapeError, match="3 integers"):
        linalg.lu_solve((traced, pivots.astype(float)), B)
    with pytest.raises(ValueError, match="trans=3"):
        linalg.lu_solve((traced, pivots), B, 3)
    with pytest.raises(ShapeError, match="last two axes"):
        linalg.lu(traced[0])


def test_one_factorisation_serves_all_parts() -> None:
    text = str(ea.explain(ea.value_and_grad(lambda a: np.sum(linalg.lu_solve(linalg.lu_factor(a), B))), A))
    plan = text.partition("\norder")[2]
    assert plan.count("= lu(") == 1
    assert plan.count("pivots(") == 1
