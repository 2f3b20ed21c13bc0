"""Every method of ``scipy.optimize.minimize`` gets what it takes, and reaches the minimum with it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der, rosen_hess, rosen_hess_prod
from scipy.optimize._minimize import MINIMIZE_METHODS

import einsumad as ea
from einsumad.optim.methods import MINIMIZE
from einsumad.testing import check_scipy
from tests.optim.problems import TARGET, TREE, convex, rosenbrock, warnings_raise

METHODS = [name for name in MINIMIZE if name.lower() in MINIMIZE_METHODS]
WITH_CHOICE = [name for name, takes in MINIMIZE.items() if takes.product]


def test_the_table_has_all_methods_of_scipy() -> None:
    assert set(MINIMIZE_METHODS) <= {name.lower() for name in MINIMIZE}


@pytest.mark.parametrize("method", METHODS)
def test_scipy_ignores_what_the_table_leaves_out(method: str) -> None:
    """All derivatives are handed over; SciPy warns about those that it does not use."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        derivatives = {"jac": rosen_der, "hess": rosen_hess, "hessp": rosen_hess_prod}
        minimize(rosen, np.array([1.1, 1.2]), method=method, options={"maxiter": 20}, **derivatives)
    said = " ".join(str(warning.message) for warning in caught)
    takes = MINIMIZE[method]
    texts = ("gradient information", "Hessian information", "Hessian-vector product")
    assert [f"not use {text}" not in said for text in texts] == [takes.first, takes.matrix, takes.product]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "COBYLA"])
def test_rosenbrock(method: str) -> None:
    """COBYLA is left out: its linear models do not follow the valley within thousands of steps."""
    problem = ea.optim.minimize_arguments(rosenbrock, np.array([1.3, 1.5]), method=method, compiled=True)
    with warnings_raise():
        result = minimize(**problem)
    assert result.success
    np.testing.assert_allclose(result.x, 1, atol=2e-3)


@pytest.mark.parametrize("method", [*METHODS, None])
def test_a_tree(method: str | None) -> None:
    problem = ea.optim.minimize_arguments(convex, TREE, method=method)
    assert set(problem) <= {"fun", "x0", "method", "jac", "hess", "hessp"}
    with warnings_raise():
        result = minimize(**problem)
    params = problem.unflatten(result.x)
    np.testing.assert_allclose(params["W"], TARGET, atol=2e-3)
    np.testing.assert_allclose(params["b"], 3, atol=2e-3)


@pytest.mark.parametrize("compiled", [False, True])
def test_derivatives_are_those_of_the_flat_function(compiled: bool) -> None:
    vector, _ = ea.optim.flatten(TREE)
    gradient, hessian = ea.grad(convex)(TREE), np.zeros((5, 5))
    blocks = ea.hessian(convex)(TREE)
    hessian[:4, :4] = blocks["W"]["W"].reshape(4, 4)
    hessian[:4, 4] = blocks["W"]["b"].reshape(4)
    hessian[4, :4] = blocks["b"]["W"].reshape(4)
    hessian[4, 4] = blocks["b"]["b"]
    with_matrix = ea.optim.minimize_arguments(convex, TREE, method="trust-exact", compiled=compiled)
    with_product = ea.optim.minimize_arguments(convex, TREE, method="newton-cg", compiled=compiled)
    for problem in (with_matrix, with_product):
        value, slope = problem["fun"](vector)
        assert (type(value), slope.dtype, problem["jac"]) == (float, np.float64, True)
        np.testing.assert_allclose(value, convex(TREE), rtol=1e-14)
        np.testing.assert_allclose(slope, [*gradient["W"].ravel(), gradient["b"]], rtol=1e-14)
    found = with_matrix["hess"](vector)
    np.testing.assert_allclose(found, hessian, rtol=1e-14)
    np.testing.assert_array_equal(found, found.T)
    p = np.arange(1.0, 6.0)
    np.testing.assert_allclose(with_product["hessp"](vector, p), hessian @ p, rtol=1e-13)
    flat = ea.optim.minimize_arguments(lambda x: convex({"W": x[:4].reshape(2, 2), "b": x[4]}), vector, method="dogleg")
    np.testing.assert_allclose(flat["hess"](vector), hessian, rtol=1e-13)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-exact"])
def test_the_checks_of_the_testing_package_agree(method: str) -> None:
    problem = dict(ea.optim.minimize_arguments(convex, TREE, method=method))
    del problem["method"]
    assert check_scipy(problem.pop("fun"), problem.pop("x0"), **problem)


@pytest.mark.parametrize("method", WITH_CHOICE)
def test_the_form_of_the_hessian_can_be_chosen(method: str) -> None:
    for dense, key in ((None, "hessp"), (False, "hessp"), (True, "hess")):
        problem = ea.optim.minimize_arguments(rosenbrock, np.array([1.2, 1.2]), method=method, dense=dense)
        assert set(problem) == {"fun", "x0", "method", "jac", key}
    with warnings_raise():
        np.testing.assert_allclose(minimize(**problem).x, 1, atol=1e-3)


def test_a_method_of_the_users_own_gets_everything() -> None:
    def newton(fun, x0, *, jac, hess, hessp, **options):
        assert fun(x0) == 3 + 3 * np.sin(1.0)
        assert not set(options) - {"args", "bounds", "callback", "constraints"}
        step = np.linalg.solve(hess(x0), jac(x0))
        np.testing.assert_allclose(hessp(x0, step), jac(x0))
        return x0 - step

    problem = ea.optim.minimize_arguments(lambda x: np.sum(x**2 + np.sin(x)), np.ones(3), method=newton)
    np.testing.assert_allclose(minimize(**problem), 1 - (2 + np.cos(1.0)) / (2 - np.sin(1.0)))


def test_other_arguments_captured_arrays_and_several_arguments() -> None:
    scale = np.array([1.0, 4.0])

    def loss(shift, x, y, power):
        return np.sum(scale * (x - shift) ** power) + (y - 1) ** 2

    shift = np.array([2.0, -1.0])
    problem = ea.optim.minimize_arguments(loss, shift, np.zeros(2), 0.0, 2, argnums=(1, -2), method="trust-exact")
    x, y = problem.unflatten(minimize(**problem).x)
    np.testing.assert_allclose(x, shift, atol=1e-7)
    assert isinstance(y, np.float64)
    np.testing.assert_allclose(problem["hess"](problem["x0"]), np.diag([2.0, 8.0, 2.0]))
    scale *= 10
    np.testing.assert_allclose(problem["hess"](problem["x0"]), np.diag([20.0, 80.0, 2.0]))


def test_control_flow_on_values_needs_tracing_at_every_point() -> None:
    def f(x):
        return np.sum(x**2) if x[0] > 0 else np.sum(3 * x**2)

    plain = ea.optim.minimize_arguments(f, np.ones(2))
    np.testing.assert_array_equal(plain["fun"](-np.ones(2))[1], [-6, -6])
    with pytest.raises(ea.TracingError):
        ea.optim.minimize_arguments(f, np.ones(2), compiled=True)["fun"](np.ones(2))


def test_single_precision_goes_through_scipys_double() -> None:
    seen = []

    def f(params):
        seen.append({key: value.dtype for key, value in params.items()})
        return np.sum((params["a"] - 2) ** 2) + np.sum(params["b"] ** 2)

    start = {"a": np.ones(2, np.float32), "b": np.ones(1)}
    problem = ea.optim.minimize_arguments(f, start, method="trust-exact")
    result = minimize(**problem, tol=1e-5)
    assert all(dtypes == {"a": np.float32, "b": np.float64} for dtypes in seen)
    assert (
        {problem[key](result.x).dtype for key in ("hess",)} == {problem["fun"](result.x)[1].dtype} == {result.x.dtype}
    )
    found = problem.unflatten(result.x)
    assert (found["a"].dtype, found["b"].dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(found["a"], 2, atol=1e-5)


def test_numbers_empty_leaves_and_one_entry() -> None:
    for start in (0.5, np.float64(0.5), np.array(0.5), np.array([[0.5]]), [np.zeros((0, 2)), 0.5]):
        problem = ea.optim.minimize_arguments(
            lambda x: np.sum((x[1] if isinstance(x, list) else x) ** 2 - 1), start, method="dogleg"
        )
        assert problem["x0"].shape == (1,)
        np.testing.assert_allclose(problem["hess"](problem["x0"]), [[2.0]])
        np.testing.assert_allclose(minimize(**problem).x, [0], atol=1e-8)


def test_nothing_is_shared_with_scipy() -> None:
    start = np.ones(2)
    problem = ea.optim.minimize_arguments(rosenbrock, start)
    problem["x0"][:] = 7
    start[:] = 8
    np.testing.assert_array_equal(problem["x0"], [1, 1])
    vector = np.array([3.0, 4.0])
    problem.unflatten(vector)[:] = 0
    np.testing.assert_array_equal(vector, [3, 4])
