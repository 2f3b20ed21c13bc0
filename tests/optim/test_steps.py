"""Newton's method and that of Levenberg and Marquardt end at minima, say so, and say what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize

import einsumad as ea
from tests.optim.problems import TARGET, TREE, convex, residuals, rosenbrock, warnings_raise

RNG = np.random.default_rng(0)
TIMES = np.linspace(0, 2, 40)
DECAY = 3 * np.exp(-0.5 * TIMES) + 0.05 * np.random.default_rng(1).normal(size=40)
MATRIX = RNG.normal(size=(12, 2)) @ RNG.normal(size=(2, 9)) + 0.1 * RNG.normal(size=(12, 9))
KNOWN = (RNG.random((12, 9)) < 0.6).astype(float)


def factorisation(U, V, ridge):
    return 0.5 * np.sum(KNOWN * (MATRIX - U @ V.T) ** 2) + 0.5 * ridge * (np.sum(U**2) + np.sum(V**2))


def decay(params):
    return params["a"] * np.exp(-params["k"] * TIMES) - DECAY


def gauge(params):
    """Only the product of a and c matters, so that JᵀJ is singular everywhere."""
    return params["a"] * params["c"] * np.exp(-params["k"] * TIMES) - DECAY


def values(result: Any) -> list[float]:
    return [record.value for record in result.history]


def test_a_banded_chain() -> None:
    start = np.full(200, 0.5)
    assert "band" in ea.hessian(rosenbrock, compressed=True)(start).factorise().method
    with warnings_raise():
        result = ea.optim.newton(rosenbrock, start)
    assert result.success
    np.testing.assert_allclose(result.x, 1, atol=1e-8)
    assert len(result.history) == result.steps + 1 <= 40
    assert (np.diff(values(result)) < 0).all()
    norms = [record.gradient_norm for record in result.history]
    assert norms[-1] < norms[-2] ** 1.5  # quadratic convergence, once damping is gone
    assert result.history[-1].damping == 0


@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_indefinite_hessians_on_the_way(scale: float) -> None:
    rng = np.random.default_rng(2)
    start = scale * rng.normal(size=(12, 2)), scale * rng.normal(size=(9, 2))
    hessian = ea.hessian(factorisation, argnums=(0, 1), compressed=True)
    assert not hessian(*start, 0.1).is_positive_definite()
    result = ea.optim.newton(factorisation, *start, 0.1, argnums=(0, 1))
    assert result.success
    assert result.history[1].damping > 0
    assert (np.diff(values(result)) < 1e-12).all()
    arguments = ea.optim.minimize_arguments(factorisation, *start, 0.1, argnums=(0, 1), method="trust-exact")
    np.testing.assert_allclose(result.value, minimize(**arguments).fun, rtol=1e-8)


def test_a_singular_minimum() -> None:
    """Without the ridge, U A and V A⁻ᵀ are as good as U and V."""
    rng = np.random.default_rng(3)
    start = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    result = ea.optim.newton(lambda U, V: np.sum((MATRIX - U @ V.T) ** 2), *start, argnums=(0, 1))
    assert result.success
    np.testing.assert_allclose(result.value, np.sum(np.linalg.svd(MATRIX)[1][2:] ** 2), rtol=1e-10)


def test_logistic_regression() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 3)), np.sign(rng.normal(size=50))

    def loss(w):
        return np.sum(np.log(1 + np.exp(-y * (x @ w)))) + w @ w / 2

    result = ea.optim.newton(loss, np.zeros(3))
    expected = minimize(**ea.optim.minimize_arguments(loss, np.zeros(3), method="BFGS"), tol=1e-10)
    np.testing.assert_allclose(result.x, expected.x, atol=1e-7)
    assert result.steps <= 8


def test_one_step_is_the_dense_one() -> None:
    gradient, hessian = ea.grad(factorisation)(MATRIX[:, :2], MATRIX[:9, 2:4], 0.5), ea.hessian(factorisation)
    found = ea.optim.newton_step(factorisation, MATRIX[:, :2], MATRIX[:9, 2:4], 0.5, damping=0.25)
    dense = hessian(MATRIX[:, :2], MATRIX[:9, 2:4], 0.5).reshape(24, 24) + 0.25 * np.eye(24)
    step = -np.linalg.solve(dense, gradient.reshape(24))
    np.testing.assert_allclose(found.x, MATRIX[:, :2] + step.reshape(12, 2), rtol=1e-10)
    model = gradient.reshape(24) @ step + step @ (dense - 0.25 * np.eye(24)) @ step / 2
    np.testing.assert_allclose(found.predicted, -model, rtol=1e-10)
    assert (found.damping, found.gradient_norm) == (0.25, np.max(np.abs(gradient)))
    np.testing.assert_allclose(found.value, factorisation(MATRIX[:, :2], MATRIX[:9, 2:4], 0.5), rtol=1e-14)


def test_a_step_is_damped_until_it_descends() -> None:
    def hill(x):
        return np.sum(np.cos(x)) + np.sum(x[1:] * x[:-1]) / 10

    step = ea.optim.newton_step(hill, np.full(5, 0.3))
    assert step.damping > 0.5
    assert step.predicted > 0
    assert hill(step.x) < step.value


@pytest.mark.parametrize("f", [decay, gauge])
def test_curves_are_fitted(f: Any) -> None:
    start = {"a": 1.0, "k": 1.0} | ({"c": 2.0} if f is gauge else {})
    result = ea.optim.levenberg_marquardt(f, start)
    arguments = ea.optim.least_squares_arguments(decay, {"a": 1.0, "k": 1.0})
    expected = least_squares(**arguments, xtol=1e-12, ftol=1e-12, gtol=1e-12)
    assert result.success
    np.testing.assert_allclose(result.value, expected.cost, rtol=1e-12)
    np.testing.assert_allclose([result.x["a"] * result.x.get("c", 1.0), result.x["k"]], expected.x, rtol=1e-6)


def test_trees_of_residuals() -> None:
    t = np.array([[1.0, 2.0], [0.0, 1.0]])
    result = ea.optim.levenberg_marquardt(residuals, TREE, t)
    assert result.success
    np.testing.assert_allclose(result.x["W"], TARGET, atol=1e-8)
    np.testing.assert_allclose(result.x["b"], 3, atol=1e-8)
    newton = ea.optim.newton(convex, TREE)
    np.testing.assert_allclose(newton.x["W"], TARGET, atol=1e-8)


def test_one_gauss_newton_step_solves_linear_equations() -> None:
    A, b = np.random.default_rng(5).normal(size=(6, 3)), np.arange(6.0)
    step = ea.optim.gauss_newton_step(lambda x, A: A @ x - b, np.ones(3), A)
    np.testing.assert_allclose(step.x, np.linalg.lstsq(A, b)[0], rtol=1e-10)
    assert step.damping == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_dtypes_and_empty_leaves(dtype: Any) -> None:
    start = {"number": dtype(2.0), "empty": np.zeros((0, 3), dtype), "one": np.full((1, 1), 2, dtype)}

    def f(p):
        return np.sum((p["one"] - p["number"]) ** 2) + (p["number"] - 1) ** 4 + np.sum(p["empty"] ** 2)

    result = ea.optim.newton(f, start)
    assert result.success
    assert {part.dtype for part in result.x.values()} == {np.dtype(dtype)}
    assert {name: part.shape for name, part in result.x.items()} == {"number": (), "empty": (0, 3), "one": (1, 1)}
    np.testing.assert_allclose(result.x["number"], 1, atol=0.1)
    root = ea.optim.levenberg_marquardt(lambda x: x * x - 2, dtype(1.0))
    np.testing.assert_allclose(root.x, np.sqrt(2), rtol=1e-4 if dtype == np.float32 else 1e-8)


def test_large_values_end_at_what_rounding_allows() -> None:
    result = ea.optim.newton(lambda x: 1e9 * np.sum(np.cosh(x - 1 / 3)) + 1e12, np.array([2.0, -1.0]))
    assert result.success
    np.testing.assert_allclose(result.x, 1 / 3, atol=1e-7)


@pytest.mark.parametrize(
    ("f", "start", "words"),
    [
        (lambda x: np.sum(x[0] ** 2 - x[1] ** 2), np.zeros(2), "saddle or a maximum"),
        (lambda x: np.sum(np.cos(x)), np.zeros(2), "saddle or a maximum"),
        (lambda x: np.sum(3 * x), np.ones(2), "maxiter=7"),
        (lambda x: -np.sum(x**2), np.ones(2), "maxiter=7"),
    ],
)
def test_what_is_no_minimum_is_not_called_one(f: Any, start: np.ndarray, words: str) -> None:
    with warnings_raise():
        result = ea.optim.newton(f, start, maxiter=7)
    assert not result.success
    assert words in result.message


def test_a_domain_that_steps_leave() -> None:
    """The first full step goes to negative numbers, where the logarithm is NaN."""
    with warnings_raise():
        result = ea.optim.newton(lambda x: np.sum(x - np.log(x)), np.array([20.0, 0.1]))
    assert result.success
    np.testing.assert_allclose(result.x, 1, rtol=1e-7)


def test_nothing_is_remembered() -> None:
    start = np.array([1.3, 1.5])
    first = ea.optim.newton(rosenbrock, start)
    again = ea.optim.newton(rosenbrock, start)
    np.testing.assert_array_equal(start, [1.3, 1.5])
    np.testing.assert_array_equal(first.x, again.x)
    assert values(first) == values(again)
    assert "history" not in repr(first)


@pytest.mark.parametrize("run", [ea.optim.newton, ea.optim.newton_step, ea.optim.levenberg_marquardt])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_no_search_can_start(run: Any) -> None:
    with pytest.raises(ValueError, match="the value at the start is nan"):
        run(lambda x: np.log(-x), 1.0)
    with pytest.raises(ValueError, match="gradient at the start has 1 of 1 entries that are not finite"):
        run(np.sqrt, 0.0) if run is not ea.optim.levenberg_marquardt else run(lambda x: 1 + np.sqrt(x), 0.0)
    with pytest.raises(ea.ShapeError, match="argument 0 has no entries"):
        run(np.sum, np.zeros((0, 2)))
    with pytest.raises(ea.DifferentiationError, match="int64"):
        run(np.sum, np.arange(2))
    for damping in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="damping must be a finite number of at least 0"):
            run(lambda x: x * x, 1.0, damping=damping)


def test_arguments_that_are_refused() -> None:
    with pytest.raises(ea.DifferentiationError, match="sum it"):
        ea.optim.newton(lambda x: x**2, np.ones(2))
    for gtol in (-1.0, np.nan):
        with pytest.raises(ValueError, match="gtol must be"):
            ea.optim.newton(rosenbrock, np.ones(2), gtol=gtol)
    for maxiter in (-1, 1.5, True):
        with pytest.raises(ValueError, match="maxiter must be"):
            ea.optim.levenberg_marquardt(decay, TREE, maxiter=maxiter)
    with pytest.raises(TypeError, match="pass x0"):
        ea.optim.newton(rosenbrock)


def test_a_loss_of_the_residuals():
    """Logistic regression: the Gauss–Newton matrix of the loss of the logits is the Hessian, so steps are Newton's."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)

    def logits(w):
        return {"samples": X @ w, "penalty": w}

    def loss(z):
        return np.sum(np.logaddexp(0, z["samples"]) - y * z["samples"]) + np.sum(z["penalty"] ** 2)

    step = ea.optim.gauss_newton_step(logits, np.zeros(4), loss=loss)
    np.testing.assert_allclose(step.x, ea.optim.newton_step(lambda w: loss(logits(w)), np.zeros(4)).x, rtol=1e-12)
    found = ea.optim.levenberg_marquardt(logits, np.zeros(4), loss=loss)
    best = ea.optim.newton(lambda w: loss(logits(w)), np.zeros(4))
    assert found.success
    np.testing.assert_allclose(found.x, best.x, rtol=1e-6)
    np.testing.assert_allclose(found.value, best.value, rtol=1e-10)
