"""What a report tells the person who reads it: how a claim was called, and a small case that runs as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from einsumad.testing import (
    check_derivatives,
    check_hessian,
    check_hvp,
    check_jvp,
    check_scipy,
    check_user_gradient,
    check_vjp,
)

X = np.array([1.5, 0.5, -2.0])


def cubes(x: Any, scale: float = 1.0) -> Any:
    return scale * np.sum(x**3)


def squares(x: Any, scale: float = 1.0) -> Any:
    return scale * x**2


def cubes_and_squares(x: Any) -> Any:
    return cubes(x), squares(x)


@pytest.mark.parametrize(
    "case",
    [
        check_user_gradient(cubes, squares, X).case,
        check_user_gradient(cubes, squares, X, kwargs={"scale": 3.0}).case,
        check_user_gradient(cubes_and_squares, True, X).case,
        check_user_gradient(rosen, np.sin, X).case,
        check_scipy(rosen, X, jac=np.sin).case,
        check_user_gradient(np.linalg.det, np.cos, np.eye(2), manifold=("symmetric",)).case,
    ],
)
def test_small_cases_of_functions_with_names_run_as_they_stand(case: str) -> None:
    assert "to be defined" not in case
    with pytest.raises(AssertionError, match="is wrong"):
        exec(case, {})  # noqa: S102 - the text under test is a program


def scaled(x: Any, by: Any) -> Any:
    return np.sum(x**3) * np.sum(by)


def identity(x: Any, **_: Any) -> Any:
    return x


def flat(x: Any) -> Any:
    return np.diag(x)


def three_squares(x: Any) -> Any:
    return 3 * x**2


def test_small_cases_repeat_what_the_check_was_given() -> None:
    arrays = check_user_gradient(scaled, identity, X, kwargs={"by": np.array([1.0, 2.0])}).case
    assert "kwargs={'by': np.array([1.0, 2.0])}" in arrays
    hessian = check_hessian(cubes, flat, X, gradient=three_squares).case
    assert "gradient=three_squares" in hessian
    reference = check_user_gradient(cubes, identity, X, against=three_squares).case
    assert "against=three_squares" in reference
    for case in arrays, hessian, reference:
        assert "to be defined" not in case
        with pytest.raises(AssertionError, match="is wrong"):
            exec(case, {})  # noqa: S102 - the text under test is a program


def test_small_cases_leave_functions_without_a_name_to_the_reader() -> None:
    case = check_user_gradient(cubes, identity, X, against=lambda x: 3 * x**2).case
    assert "# to be defined: reference\n" in case
    assert "against=reference" in case
    case = check_hessian(cubes, flat, X, gradient=lambda x: 3 * x**2).case
    assert "# to be defined: " in case
    assert "gradient=" in case


def test_functions_are_imported_from_public_places() -> None:
    assert "from scipy.optimize import rosen\n" in check_user_gradient(rosen, np.cos, X).case


def test_small_cases_name_what_the_reader_has_to_define() -> None:
    assert "# to be defined: f, gradient\n" in check_user_gradient(lambda x: np.sum(x**3), lambda x: x, X).case
    case = check_user_gradient(rosen, lambda x: -rosen_der(x), X).case
    assert "# to be defined: gradient\n" in case
    bound = check_scipy(lambda x, a: np.sum(a * x), X, jac=lambda x, a: x * a + 1, args=(2.0,)).case
    assert "# to be defined: f, gradient\n" in bound


@pytest.mark.parametrize(
    ("check", "function", "claim", "told"),
    [
        (check_jvp, np.sin, lambda x, t: np.cos(x.ravel()) * t, r"jvp\(primals, tangents\)"),
        (check_vjp, np.sin, lambda x, t: np.cos(x.ravel()) * t, r"vjp\(primals, cotangent\)"),
        (check_hvp, cubes, lambda x: x, r"hvp\(\*args, v\)"),
        (check_user_gradient, cubes, lambda x, y: x * y, "arguments of the function"),
    ],
)
def test_exceptions_of_claims_say_how_they_were_called(check: Any, function: Any, claim: Any, told: str) -> None:
    with pytest.raises((AttributeError, TypeError)) as caught:
        check(function, claim, X)
    assert any(told.replace("\\", "") in note for note in caught.value.__notes__)


def test_primals_are_a_tuple() -> None:
    for check in check_jvp, check_vjp:
        report = check(np.sin, lambda primals, direction: np.cos(primals) * direction, X)
        assert "take primals[0]" in report.wrong[0].detail


def test_each_array_has_its_own_manifold() -> None:
    S, x = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])

    def energy(S: Any, x: Any) -> Any:
        return x @ np.linalg.solve(S, x)

    def gradients(S: Any, x: Any) -> Any:
        u = np.linalg.solve(S, x)
        skew = np.array([[0.0, 1.0], [-1.0, 0.0]])
        return skew - np.outer(u, u), 2 * u

    options: dict[str, Any] = {"argnums": (0, 1), "minimal": False}
    assert check_user_gradient(energy, gradients, S, x, manifold=("spd", None), **options)
    assert check_user_gradient(energy, gradients, S, x, **options).verdict == "wrong"
    halved = check_user_gradient(
        energy, lambda S, x: (gradients(S, x)[0], gradients(S, x)[1] / 2), S, x, manifold=("spd", None), **options
    )
    assert halved.verdict == "wrong"
    assert check_derivatives(energy, S, x, manifold=("spd", None), argnums=(0, 1))
    with pytest.raises(ValueError, match="names 1 sets for 2 differentiated arrays"):
        check_user_gradient(energy, gradients, S, x, manifold=("spd",), **options)
    with pytest.raises(ValueError, match="did you mean 'spd'"):
        check_user_gradient(energy, gradients, S, x, manifold=("spd", "sdp"), **options)


@pytest.mark.parametrize(("dtype", "small"), [(np.float32, 1e-20), (np.float64, 1e-200), (np.float64, 1e-310)])
def test_derivatives_that_are_too_large_for_their_dtype(dtype: Any, small: float) -> None:
    x = np.array([small, 2.0], dtype)

    def function(x: Any) -> Any:
        return np.sum(1 / x) if small > 1e-300 else np.sum(np.log(x))

    def gradient(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return -1 / x**2 if small > 1e-300 else 1 / x

    assert not np.isfinite(gradient(x)).all()
    assert check_user_gradient(function, gradient, x)
    assert check_user_gradient(function, lambda x: -gradient(x), x, minimal=False).verdict == "wrong"
    assert check_user_gradient(cubes, lambda x: np.inf * x, x, minimal=False).verdict == "wrong"


def test_nan_where_the_derivative_is_known() -> None:
    for function in (lambda x: np.linalg.norm(x) ** 2, lambda x: np.sum(x**4), lambda x: np.sum(x * np.sin(x))):
        report = check_user_gradient(function, lambda x: x * np.nan, np.zeros(2))
        assert report.causes == ("not a number",)
    for function in (np.linalg.norm, lambda x: np.sum(np.cbrt(x)), lambda x: np.sum(np.sqrt(x))):
        report = check_user_gradient(function, lambda x: x * np.nan, np.zeros(2))
        assert report.verdict == "undecided"
