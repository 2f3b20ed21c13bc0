"""Every method of ``root`` and ``least_squares`` gets the Jacobian that it takes, and finds the solution with it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, root
from scipy.optimize._root import ROOT_METHODS

import einsumad as ea
from einsumad.optim.methods import LEAST_SQUARES, ROOT
from tests.optim.problems import TARGET, TREE, residuals, warnings_raise

T = np.array([[1.0, 2.0], [0.0, 1.0]])


def mildly_nonlinear(params, A):
    """As many equations as unknowns; its slope is negative, as methods of mixing need it."""
    W, b = params["W"], params["b"]
    return [A - W - 0.1 * np.sin(W), 1 - b - 0.1 * np.sum(W)]


def test_the_table_has_all_methods_of_scipy() -> None:
    assert set(ROOT_METHODS) == set(ROOT)


@pytest.mark.parametrize("method", ROOT)
def test_root(method: str) -> None:
    problem = ea.optim.root_arguments(mildly_nonlinear, TREE, TARGET, method=method)
    assert ("jac" in problem) == (method in ("hybr", "lm"))
    with warnings_raise():
        result = root(**problem)
    assert result.success
    first, second = mildly_nonlinear(problem.unflatten(result.x), TARGET)
    assert max(np.max(abs(first)), abs(second)) < 1e-4


@pytest.mark.parametrize("method", LEAST_SQUARES)
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_least_squares(method: str, dense: bool, compiled: bool) -> None:
    if method == "lm" and not dense:
        with pytest.raises(ValueError, match="'trf' and 'dogbox'"):
            ea.optim.least_squares_arguments(residuals, TREE, T, method=method, dense=dense)
        return
    problem = ea.optim.least_squares_arguments(residuals, TREE, T, method=method, dense=dense, compiled=compiled)
    with warnings_raise():
        result = least_squares(**problem)
    assert result.success
    params = problem.unflatten(result.x)
    np.testing.assert_allclose(params["W"], TARGET, atol=1e-4)
    np.testing.assert_allclose(params["b"], 3, atol=1e-4)


@pytest.mark.parametrize("compiled", [True, False])
def test_jacobians_are_those_of_the_flat_function(compiled: bool) -> None:
    vector, _ = ea.optim.flatten(TREE)

    def flat(x):
        parts = residuals({"W": x[:4].reshape(2, 2), "b": x[4]}, T)
        return np.concatenate([parts["lines"].reshape(-1), parts["rest"][0][None], parts["rest"][1].reshape(-1)])

    expected = ea.jacobian(flat)(vector)
    dense = ea.optim.least_squares_arguments(residuals, TREE, T, compiled=compiled)
    operator = ea.optim.least_squares_arguments(residuals, TREE, T, compiled=compiled, dense=False)["jac"](vector)
    np.testing.assert_allclose(dense["fun"](vector), flat(vector), rtol=1e-14)
    np.testing.assert_allclose(dense["jac"](vector), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(operator @ np.eye(5), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(operator.T @ np.eye(9), expected.T, rtol=1e-13, atol=1e-14)
    assert (operator.shape, operator.dtype) == ((9, 5), np.float64)


def test_an_operator_stays_at_its_point() -> None:
    problem = ea.optim.least_squares_arguments(lambda x: x**2, np.ones(2, np.float32), dense=False)
    x = np.array([1.0, 2.0])
    operator = problem["jac"](x)
    x[:] = 5
    for found in (operator @ [1.0, 1.0], operator.T @ [1.0, 1.0]):
        np.testing.assert_array_equal(found, [2, 4])
        assert found.dtype == np.float64


def test_the_number_of_equations() -> None:
    def f(x):
        return np.concatenate([x, x**2])

    for method in ("hybr", "krylov"):
        with pytest.raises(ea.ShapeError, match="4 numbers, but there are 2 unknowns"):
            root(**ea.optim.root_arguments(f, np.ones(2), method=method))
    assert root(**ea.optim.root_arguments(f, np.ones(2), method="lm")).success
