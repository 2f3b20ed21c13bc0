"""The demos do what they promise. Their own tests are in examples/test_my_gradient.py."""

from pathlib import Path

import numpy as np
import pytest

import einsumad as ea
from examples import (
    bundle_adjustment,
    laplace_poisson,
    mlp_digits,
    newton_factorisation,
    newton_logistic,
    own_function,
)


def test_newton_finds_the_minimum() -> None:
    newton_logistic.main()
    weights = newton_logistic.newton(np.zeros(newton_logistic.X.shape[1]))
    peer = newton_logistic.LogisticRegression(
        C=1 / newton_logistic.LAM, fit_intercept=False, solver="newton-cholesky", tol=1e-12
    )
    solution = peer.fit(newton_logistic.X, newton_logistic.y).coef_[0]
    np.testing.assert_allclose(weights, solution, rtol=1e-9, atol=1e-12)


@pytest.mark.whole_planner
def test_newton_shows_the_hessian_as_one_product(capsys: pytest.CaptureFixture[str]) -> None:
    newton_logistic.main()
    assert "Xᵀ diag(" in capsys.readouterr().out


def test_compiled_hessian_agrees_with_the_one_written_by_hand() -> None:
    w = np.linspace(-1, 1, newton_logistic.X.shape[1])
    hessian = newton_logistic.ea.hessian(newton_logistic.loss)
    np.testing.assert_allclose(hessian(w), newton_logistic.hessian_by_hand(w), rtol=1e-10, atol=1e-10)
    assert np.isfinite(hessian(1000 * w)).all()


def test_digits_are_learnt_and_nothing_is_derived_twice() -> None:
    x_train, x_test, digits_train, digits_test = mlp_digits.load_data()
    parameters, after_first_step = mlp_digits.train(x_train, digits_train, epochs=6)
    assert after_first_step == (0, 0)
    assert all(parameter.dtype == np.float32 for parameter in parameters)
    assert mlp_digits.accuracy(parameters, x_test, digits_test) >= 0.94
    assert ea.statistics().found > 200


def test_an_orbit_is_found_through_a_solver(capsys: pytest.CaptureFixture[str]) -> None:
    own_function.main()
    assert "by hand: True" in capsys.readouterr().out
    orbit, norms = own_function.fit(np.array([1.3, 0.3, 0.2]), own_function.OBSERVATIONS)
    np.testing.assert_allclose(orbit, own_function.ORBIT, atol=0.02)
    assert norms[-1] < 1e-12  # quadratic convergence: the Hessian is right
    for mode in ("forward", "reverse", "cross-country"):
        found = ea.hessian(own_function.loss, mode=mode)(own_function.ORBIT, *own_function.OBSERVATIONS)
        step = 1e-5 * np.eye(3)
        gradient = ea.grad(own_function.loss)
        seen = [gradient(own_function.ORBIT + h, *own_function.OBSERVATIONS) for h in (*step, *-step)]
        np.testing.assert_allclose(found, (np.array(seen[:3]) - np.array(seen[3:])) / 2e-5, rtol=1e-6, atol=1e-6)


def test_both_ways_of_newton_factorise_like_l_bfgs(capsys: pytest.CaptureFixture[str]) -> None:
    runs = newton_factorisation.main(40, 2)
    assert "A[i,j,l] δ[i,k]" in capsys.readouterr().out
    losses = {name: run[-1] for name, (_, run) in runs.items()}
    assert set(losses) == {"alternating Newton", "joint Newton", "L-BFGS"}
    np.testing.assert_allclose(list(losses.values()), losses["joint Newton"], rtol=1e-6)
    problem = newton_factorisation.make_problem(12, 3)
    U, V = newton_factorisation.balanced(problem.U, problem.V)
    np.testing.assert_allclose(U @ V.T, problem.U @ problem.V.T, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(U.T @ U, V.T @ V, rtol=1e-10, atol=1e-10)


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    newton_factorisation.draw({"a method": ([0.0, 1.0], [2.0, 1.0])}, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_laplaces_approximation_agrees_with_quadrature(capsys: pytest.CaptureFixture[str]) -> None:
    """Given the effects the groups are independent, and each integral over an intercept is one-dimensional."""
    scale, log_marginal, found, hessian = laplace_poisson.main(30)
    printed = capsys.readouterr().out
    assert "A[i] δ[i,j]" in printed
    assert 0.3 < scale < 1.0
    data = laplace_poisson.make_data(30, np.random.default_rng(0))
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    at = scale * nodes
    x, group, counts = data
    predictor = (x @ found.x["effects"])[:, None] + at
    terms = counts[:, None] * predictor - np.exp(predictor)
    each = np.log(np.exp(np.array([terms[group == g].sum(axis=0) for g in range(30)])) @ (weights / weights.sum()))
    effects = hessian.inverse()["effects", "effects"].dense()
    prior = -np.sum((found.x["effects"] / laplace_poisson.WIDE) ** 2) / 2 - 3 * np.log(laplace_poisson.WIDE)
    np.testing.assert_allclose(log_marginal, each.sum() + prior + np.linalg.slogdet(effects)[1] / 2, atol=0.1)


def test_bundles_are_adjusted() -> None:
    result, error, expected = bundle_adjustment.main(5, 60)
    assert result.success
    np.testing.assert_allclose(error, expected, rtol=0.1)
    at_rest = ea.jacobian(bundle_adjustment.rotated)(np.zeros((1, 3)), np.array([[1.0, 2.0, 3.0]]))
    np.testing.assert_allclose(at_rest[0, :, 0], [[0, 3, -2], [-3, 0, 1], [2, -1, 0]], atol=1e-15)


@pytest.mark.whole_planner
def test_bundles_are_adjusted_by_a_schur_complement(capsys: pytest.CaptureFixture[str]) -> None:
    bundle_adjustment.main(5, 60)
    assert "Schur complement" in capsys.readouterr().out
