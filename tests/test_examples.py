"""The demos do what they promise. Their own tests are in examples/test_my_gradient.py."""

import numpy as np
import pytest

import einsumad as ea
from examples import mlp_digits, newton_logistic, own_function


def test_newton_finds_the_minimum(capsys: pytest.CaptureFixture[str]) -> None:
    newton_logistic.main()
    printed = capsys.readouterr().out
    assert "Xᵀ diag(" in printed
    weights = newton_logistic.newton(np.zeros(newton_logistic.X.shape[1]))
    peer = newton_logistic.LogisticRegression(
        C=1 / newton_logistic.LAM, fit_intercept=False, solver="newton-cholesky", tol=1e-12
    )
    solution = peer.fit(newton_logistic.X, newton_logistic.y).coef_[0]
    np.testing.assert_allclose(weights, solution, rtol=1e-9, atol=1e-12)


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
