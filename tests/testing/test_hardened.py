"""What was found by trying to make the checks err: each stays mended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der, rosen_hess

import einsumad as ea
from einsumad.testing import (
    check_derivatives,
    check_hessian,
    check_hvp,
    check_jacobian,
    check_jvp,
    check_scipy,
    check_user_gradient,
    check_vjp,
)

X = np.array([1.1, 2.2, -3.3])
A = np.array([[2.0, 1.0, 0.0], [0.5, -1.0, 3.0], [1.0, 1.0, 1.0]])


def sines(x: Any) -> Any:
    return np.sum(np.sin(x))


@pytest.mark.parametrize("scale", [100.0, 1e3, 1e4])
@pytest.mark.parametrize("seed", range(8))
def test_periodic_functions_are_not_met_at_one_phase_only(scale: float, seed: int) -> None:
    x = np.random.default_rng(seed).uniform(1, 10, 3)
    assert check_user_gradient(lambda x: np.sum(np.sin(scale * x)), lambda x: scale * np.cos(scale * x), x)
    assert check_user_gradient(sines, np.cos, scale + x)


@pytest.mark.parametrize("x", [1e-3, 1e-4, 1e-5, 1e-6])
def test_the_plateau_between_two_roundings_is_no_slope(x: float) -> None:
    report = check_user_gradient(lambda x: (1 - np.cos(x)) / x**2, lambda x: -x / 12 + x**3 / 180, np.float64(x))
    assert report.verdict != "wrong"


@pytest.mark.parametrize("distance", [1e-12, 1e-10, 1e-8, 1e-6])
def test_the_edge_of_the_domain(distance: float) -> None:
    report = check_user_gradient(np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)), np.float64(1 - distance))
    assert report.verdict != "wrong"


def test_one_wrong_entry_of_a_large_hessian() -> None:
    size = 60
    root = np.random.default_rng(0).standard_normal((size, size))
    matrix, x = root + root.T, np.random.default_rng(1).standard_normal(size)

    def hessian(_: Any) -> Any:
        wrong = matrix.copy()
        wrong[3, 50] = wrong[50, 3] = 100
        return wrong

    def form(x: Any) -> Any:
        return x @ matrix @ x / 2

    assert check_hessian(form, lambda _: matrix, x)
    assert check_hessian(form, hessian, x, minimal=False).verdict == "wrong"
    assert check_hvp(form, lambda x, v: hessian(x) @ v, x, minimal=False).verdict == "wrong"


def test_products_have_to_be_linear() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.exp(A @ x))

    def hvp(x: Any, v: Any) -> Any:
        return A.T @ (np.exp(A @ x) * (A @ v))

    x = X / 4
    assert check_hvp(f, hvp, x)
    assert check_hvp(f, lambda x, v: hvp(x, np.abs(v)), x).verdict == "wrong"
    assert check_jvp(np.sin, lambda p, t: np.cos(p[0]) * np.abs(t[0]), x).verdict == "wrong"
    bent = check_vjp(np.sin, lambda p, c: np.cos(p[0]) * np.where(np.abs(c) > 10, 2 * c, c), x)
    assert bent.verdict == "wrong"


def test_tiny_functions_are_compared_relatively() -> None:
    for scale in (1e-200, 1e-290):
        f = lambda x, scale=scale: scale * sines(x)  # noqa: E731
        assert check_user_gradient(f, lambda x, scale=scale: scale * np.cos(x), X)
        assert check_user_gradient(f, lambda x, scale=scale: 1.01 * scale * np.cos(x), X).verdict == "wrong"


def test_what_noise_hides_is_undecided() -> None:
    report = check_user_gradient(lambda x: 1e13 + sines(x), lambda x: 1.02 * np.cos(x), X)
    assert report.verdict == "undecided"


def test_claims_that_are_no_functions_are_refused() -> None:
    rng = np.random.default_rng(0)
    noisy = check_user_gradient(sines, lambda x: np.cos(x) + rng.random(3), X)
    assert noisy.verdict == "refused"
    assert "nondeterministic" in str(noisy)
    writing = check_user_gradient(sines, lambda x: np.cos(x, out=x), X)
    assert writing.verdict == "refused"
    assert "mutation" in str(writing)


def test_a_hessian_is_not_to_blame_for_the_gradient() -> None:
    report = check_scipy(rosen, X, jac=lambda x: 1.01 * rosen_der(x), hess=rosen_hess)
    assert {finding.claim for finding in report.wrong} == {"gradient"}


def test_forgiven_errors_do_not_count_as_noise() -> None:
    assert check_user_gradient(sines, np.cos, X, relative=0.1)
    assert check_user_gradient(sines, lambda x: 1.05 * np.cos(x), X, relative=0.1)
    assert check_user_gradient(sines, lambda x: 1.15 * np.cos(x), X, relative=0.1).verdict == "wrong"
    saturated, x = lambda x: np.expm1(np.tanh(x**3)), np.array(1.75, np.float32)  # 1 - tanh**2 has half of its digits
    assert check_derivatives(saturated, x, relative=2e-3)


def test_single_precision_is_told_from_infinities_and_zeros() -> None:
    edge = check_user_gradient(lambda x: np.sum(np.sqrt(x)), lambda _: np.array([np.inf, 0.5]), np.array([0.0, 1]))
    assert edge.verdict != "wrong"
    zero = check_user_gradient(sines, np.zeros_like, X, against="whole-number differences")
    assert zero.verdict == "undecided"
    narrow = check_jacobian(np.sin, lambda x: np.cos(x)[:, None] * np.eye(3), X.astype(np.float32))
    assert narrow.verdict == "right"


def test_requests_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="twice"):
        check_user_gradient(lambda x, y: np.sum(x * y), lambda x, y: (y, x), X, X, argnums=(0, -2))
    with pytest.raises(ValueError, match="no argument"):
        check_user_gradient(sines, lambda _: (), X, argnums=())
    with pytest.raises(TypeError, match="value and gradient"):
        check_user_gradient(sines, True, X)
    with pytest.raises(TypeError, match="jac has to be a function"):
        check_scipy(rosen, X, jac="2-point")  # type: ignore[arg-type]
    with pytest.raises(ea.TracingError, match="kink='convention'"):
        check_user_gradient(
            lambda x: np.sum(np.abs(np.nextafter(x, 2))), np.zeros_like, np.array([0.0, 1]), kink="convention"
        )


def test_scipy_takes_what_scipy_takes() -> None:
    assert check_scipy(lambda x, c: c * rosen(x), [1, 2, 3], args=2.0, jac=lambda x, c: c * rosen_der(x))
