"""The demos do what they promise. Their own tests are in examples/test_my_gradient.py."""

import numpy as np
import pytest

import einsumad as ea
from examples import mlp_digits, newton_logistic


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
