"""Riccati equations: the residual of the equation, the convention of symmetric matrices, and what has no solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import ShapeError
from einsumad.scipy import linalg
from tests.frontend.surface import data
from tests.surface.checks import MODES, same_values

A = np.array([[0.4, 1.0], [-0.3, 0.2]])
B = np.array([[1.0], [0.5]])
Q = np.array([[2.0, 0.5], [0.5, 1.0]])
R = np.array([[1.5]])
SOLVERS = (linalg.solve_continuous_are, linalg.solve_discrete_are)
WEIGHTS = data((2, 2))


def residual(solve: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    """What is zero for every a, b, q, r, so all its derivatives are."""
    x = solve(a, b, q, r)
    if solve is SOLVERS[0]:
        return a.T @ x + x @ a - x @ b @ np.linalg.solve(r, b.T @ x) + q
    return a.T @ x @ a - x - a.T @ x @ b @ np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a) + q


@pytest.mark.parametrize("solve", SOLVERS, ids=lambda f: f.__name__)
def test_all_derivatives_of_the_residual_vanish(solve: Any) -> None:
    moves = (data((2, 2), seed=1), data((2, 1), seed=1), np.array([[0.3, -0.2], [-0.2, 0.5]]), np.array([[0.4]]))

    def along(t: Any) -> Any:
        return np.sum(WEIGHTS * residual(solve, *[x + t * move for x, move in zip((A, B, Q, R), moves, strict=True)]))

    for mode in MODES:
        for order in (1, 2, 3):
            assert abs(ea.derivative(along, order=order, mode=mode)(0.0)) < 1e-11


@pytest.mark.parametrize("solve", SOLVERS, ids=lambda f: f.__name__)
def test_the_derivative_in_costs_is_that_on_symmetric_matrices(solve: Any) -> None:
    wide = np.eye(2) + B @ B.T

    def f(q: Any, r: Any) -> Any:
        return np.sum(WEIGHTS * solve(A, np.hstack([B, np.eye(2)[:, :1]]), q, r))

    for gradient in ea.grad(f, argnums=(0, 1))(Q, wide):
        np.testing.assert_allclose(gradient, gradient.T, rtol=1e-13)
    blocks = ea.hessian(f, argnums=(0, 1))(Q, wide)
    for row in (0, 1):
        for column in (0, 1):
            found, size = blocks[row][column], np.abs(blocks[row][column]).max()
            np.testing.assert_allclose(found, np.swapaxes(found, 0, 1), atol=1e-12 * size)
            np.testing.assert_allclose(found, np.swapaxes(found, 2, 3), atol=1e-12 * size)
            np.testing.assert_allclose(found, blocks[column][row].transpose(2, 3, 0, 1), atol=1e-12 * size)
    for slot in (0, 1):
        given = [Q, wide]
        given[slot] = given[slot] + np.array([[0.0, 1e-9], [0.0, 0.0]])
        for argnum in (0, 1):
            with pytest.raises(np.linalg.LinAlgError, match="not symmetric"):
                ea.grad(f, argnums=argnum)(*given)


@pytest.mark.parametrize("solve", SOLVERS, ids=lambda f: f.__name__)
def test_values(solve: Any) -> None:
    single = [x.astype(np.float32) for x in (A, B, Q, R)]
    same_values(solve, single)
    same_values(solve, [np.stack([A, A.T]), B, Q, np.stack([R, 2 * R])[:, None]])
    same_values(solve, [np.array(x) for x in (0.5, 2.0, 3.0, 1.0)])
    same_values(solve, [np.array([[2]]), np.array([[1]]), np.array([[1]]), np.array([[1]])])
    gradient = ea.grad(lambda a: np.sum(solve(a, *single[1:])))(single[0])
    assert gradient.dtype == np.float32


@pytest.mark.parametrize("solve", SOLVERS, ids=lambda f: f.__name__)
def test_what_has_no_solution_raises(solve: Any) -> None:
    def f(a: Any, b: Any = B, q: Any = Q, r: Any = R) -> Any:
        return np.sum(solve(a, b, q, r))

    with pytest.raises(np.linalg.LinAlgError):
        ea.grad(f)(2 * np.eye(2), 0 * B)
    with pytest.raises(ShapeError, match="A and Q are n by n"):
        ea.grad(f)(np.eye(3))
    with pytest.raises(ShapeError, match="at least 1"):
        ea.grad(f)(A, B[:, :0], Q, R[:0, :0])
    assert np.isnan(ea.grad(f)(np.full((2, 2), np.nan))).all()


def test_a_loop_on_the_boundary_has_no_derivative() -> None:
    """``x = sqrt(q)`` at 0, where the closed loop does not decay."""
    with pytest.raises(np.linalg.LinAlgError):
        ea.grad(lambda q: np.sum(linalg.solve_continuous_are(0.0, 1.0, q, 1.0)))(0.0)
