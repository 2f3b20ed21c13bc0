"""The public checks: verdicts, what a report says, and what bad input gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import rosen, rosen_der, rosen_hess, rosen_hess_prod
from scipy.sparse.linalg import LinearOperator

import einsumad as ea
from einsumad.errors import DifferentiationError, ShapeError
from einsumad.testing import (
    Report,
    WrongDerivativeError,
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


def squares(x: Any) -> Any:
    return np.sum(x**2)


def squares_gradient(x: Any) -> Any:
    return 2 * x


class TestReport:
    def test_a_wrong_gradient_reads_as_a_paragraph_with_a_case(self) -> None:
        report = check_user_gradient(squares, lambda x: x, X)
        text = str(report)
        assert report.verdict == "wrong"
        assert not report
        assert "gradient, order 1" in text
        assert "At\nx[" in text or "At x[" in text
        assert "found -3.3, expected -6.6" in text
        assert report.causes[0] == "factor 1/2"
        assert "check_user_gradient(" in report.case
        assert "np.array([" in report.case
        with pytest.raises(WrongDerivativeError, match=r"found -3\.3, expected -6\.6"):
            report.raise_if_wrong()

    def test_the_small_case_is_small_and_still_wrong(self) -> None:
        report = check_user_gradient(lambda x, y: np.sum(x * y), lambda _, y: y.T, np.ones((3, 3)), A)
        assert report.verdict == "wrong"
        lines = [line for line in report.case.splitlines() if "np.array" in line]
        assert max(map(len, lines)) < 70

    def test_a_right_one_says_what_it_rests_on(self) -> None:
        report = check_user_gradient(squares, squares_gradient, X)
        assert report
        assert report.order == 1
        assert "right" in str(report)
        assert "complex step" in str(report)
        assert report.raise_if_wrong() is report

    def test_undecided_is_neither(self) -> None:
        report = check_user_gradient(lambda x: np.sum(np.floor(x)), np.zeros_like, np.array([2.0]))
        assert report.verdict == "undecided"
        assert not report
        assert report.raise_if_wrong() is report
        with pytest.raises(WrongDerivativeError, match="undecided"):
            report.raise_if_wrong(undecided=True)

    def test_several_reports_are_joined(self) -> None:
        right, wrong = (check_user_gradient(squares, lambda x, c=c: c * x, X) for c in (2, 3))
        assert right.joined([wrong]).verdict == "wrong"


class TestGradient:
    @pytest.mark.parametrize("against", ["auto", "complex step", "differences", "taylor", "einsumad", squares_gradient])
    def test_every_oracle_tells_right_from_wrong(self, against: Any) -> None:
        assert check_user_gradient(squares, squares_gradient, X, against=against).verdict == "right"
        assert check_user_gradient(squares, lambda x: 2.06 * x, X, against=against).verdict == "wrong"

    def test_whole_number_differences(self) -> None:
        x = np.array([1.0, -2.0, 3.0])
        assert check_user_gradient(squares, squares_gradient, x, against="whole-number differences").verdict == "right"
        wrong = check_user_gradient(
            squares, lambda x: 2 * x + 1e-9, x, against="whole-number differences", relative=0.0
        )
        assert wrong.findings[0].found is None or wrong.findings[0].error == 0

    def test_several_arguments_containers_and_keywords(self) -> None:
        def loss(params: Any, x: Any, *, scale: float) -> Any:
            return scale * np.sum((params["w"] @ x + params["b"]) ** 2)

        def gradient(params: Any, x: Any, *, scale: float) -> Any:
            r = 2 * scale * (params["w"] @ x + params["b"])
            return {"w": np.outer(r, x), "b": np.sum(r)}, params["w"].T @ r

        args = ({"w": A, "b": 0.3}, X)
        assert check_user_gradient(loss, gradient, *args, argnums=(0, 1), kwargs={"scale": 0.5})
        first = check_user_gradient(loss, lambda *a, **k: gradient(*a, **k)[0], *args, kwargs={"scale": 2.0})
        assert first
        wrong = check_user_gradient(
            loss, lambda *a, **k: {**gradient(*a, **k)[0], "b": 1.0}, *args, kwargs={"scale": 2.0}
        )
        assert "params['b']" in str(wrong)

    def test_value_and_gradient_in_one_function(self) -> None:
        assert check_user_gradient(lambda x: (squares(x), 2 * x), True, X)
        assert not check_user_gradient(lambda x: (squares(x), 3 * x), True, X)

    @pytest.mark.parametrize("x", [3.0, np.float32(3.0), [1.0, 2.0], np.zeros((0, 3)), np.ones((1, 1)), np.array(2.0)])
    def test_any_kind_of_argument(self, x: Any) -> None:
        assert check_user_gradient(lambda x: np.sum(np.asarray(x) ** 2), lambda x: 2 * np.asarray(x), x)

    def test_complex_arguments(self) -> None:
        z = X + 1j * X[::-1]
        assert check_user_gradient(lambda z: np.sum(np.abs(z) ** 2), lambda z: 2 * z, z)
        wrong = check_user_gradient(lambda z: np.sum(np.abs(z) ** 2), lambda z: 2 * z.conj(), z)
        assert wrong.causes[:1] == ("missing conjugate",)

    def test_float32_is_compared_in_double_precision(self) -> None:
        x = X.astype(np.float32)
        assert check_user_gradient(lambda x: np.sum(np.exp(x)), np.exp, x)
        assert check_user_gradient(lambda x: np.sum(np.exp(x)), lambda x: 1.01 * np.exp(x), x).verdict == "wrong"

    def test_functions_in_single_precision_are_compared_only_if_told(self) -> None:
        def f(x: Any) -> Any:
            return np.sum(np.float32(x) ** 2)

        report = check_user_gradient(f, squares_gradient, X)
        assert report.verdict == "undecided"
        assert "float32" in str(report)
        assert check_user_gradient(f, squares_gradient, X, single=True)
        assert check_user_gradient(f, lambda x: 2.06 * x, X, single=True).verdict == "wrong"

    def test_shape_and_dtype_are_part_of_it(self) -> None:
        assert "shape (3, 1)" in str(check_user_gradient(squares, lambda x: 2 * x[:, None], X))
        report = check_user_gradient(squares, lambda x: (2 * x).astype(np.float32), np.array([0.5, 1.0]))
        assert report.causes == ("wrong dtype",)
        assert check_user_gradient(squares, lambda _: None, X).verdict == "wrong"
        assert check_user_gradient(squares, lambda _: 2 * X.astype(np.float32).astype(float), X).causes == (
            "single precision",
        )


class TestKinks:
    def test_policies(self) -> None:
        x = np.array([1.5, 0.0, -2.0])

        def absolute(x: Any) -> Any:
            return np.sum(np.abs(x))

        def gradient(at_zero: float) -> Callable[[Any], Any]:
            return lambda x: np.where(x == 0, at_zero, np.sign(x))

        skipped = check_user_gradient(absolute, gradient(0.5), x)
        assert skipped
        assert skipped.findings[0].undecided == 1
        assert check_user_gradient(absolute, gradient(0.5), x, kink="one-sided")
        assert not check_user_gradient(absolute, gradient(1.5), x, kink="one-sided")
        assert check_user_gradient(absolute, gradient(0.0), x, kink="convention")
        assert not check_user_gradient(absolute, gradient(0.5), x, kink="convention")

    def test_far_outside_of_the_interval_is_wrong_under_every_policy(self) -> None:
        report = check_user_gradient(lambda x: np.sum(np.abs(x)), lambda x: np.sign(x) + 30 * (x == 0), np.zeros(2))
        assert report.verdict == "wrong"


class TestManifolds:
    def test_only_tangents_count(self) -> None:
        s = A @ A.T + np.eye(3)

        def logdet(s: Any) -> Any:
            return np.linalg.slogdet(s)[1]

        def doubled(s: Any) -> Any:
            inverse = np.linalg.inv(s)
            return 2 * inverse - np.diag(np.diag(inverse))

        def lower(s: Any) -> Any:
            return np.sum(np.linalg.cholesky(s) ** 2 * np.tri(3)) + logdet(s)

        assert check_user_gradient(logdet, np.linalg.inv, s, manifold="symmetric")
        assert not check_user_gradient(logdet, doubled, s, manifold="symmetric")
        assert check_user_gradient(lower, lambda s: np.eye(3) + np.linalg.inv(s), s, manifold="symmetric")

    def test_unknown_names_are_refused(self) -> None:
        with pytest.raises(ValueError, match="symmetric"):
            check_user_gradient(squares, squares_gradient, A, manifold="symetric")


class TestSecondOrder:
    def test_hessian_with_and_without_a_gradient(self) -> None:
        def f(x: Any) -> Any:
            return np.sum(np.sin(A @ x) * x)

        def h(x: Any) -> Any:
            return ea.hessian(f)(x)

        for gradient in (None, ea.grad(f)):
            assert check_hessian(f, h, X, gradient=gradient)
            assert check_hessian(f, lambda x: 1.03 * h(x), X, gradient=gradient).verdict == "wrong"
            lopsided = check_hessian(f, lambda x: np.triu(h(x)), X, gradient=gradient)
            assert {finding.claim for finding in lopsided.wrong} == {"hessian", "symmetry"}

    def test_sparse_and_operators(self) -> None:
        x = np.arange(1.0, 31)

        def cubes(x: Any) -> Any:
            return np.sum(x**3)

        def operator(x: Any) -> Any:
            return LinearOperator((30, 30), matvec=lambda v: 6 * x * v, matmat=lambda v: 6 * x[:, None] * v)

        assert check_hessian(cubes, lambda x: sparse.diags_array(6 * x), x)
        assert check_hessian(cubes, operator, x)
        assert not check_hessian(cubes, lambda x: sparse.diags_array(7 * x), x)

    def test_blocks_of_several_arguments(self) -> None:
        def f(x: Any, y: Any) -> Any:
            return np.sum(x * y**2)

        def blocks(x: Any, y: Any) -> Any:
            return ((np.zeros((2, 2)), np.diag(2 * y)), (np.diag(2 * y), np.diag(2 * x)))

        assert check_hessian(f, blocks, X[:2], X[1:], argnums=(0, 1))
        assert not check_hessian(f, lambda x, y: blocks(y, x), X[:2], X[1:], argnums=(0, 1))
        assert "4 are right" in str(check_hessian(f, lambda x, y: blocks(x, y)[0], X[:2], X[1:], argnums=(0, 1)))

    def test_hvp(self) -> None:
        def hvp(x: Any, v: Any) -> Any:
            return rosen_hess_prod(x, v)

        assert check_hvp(rosen, hvp, X)
        assert check_hvp(rosen, hvp, X, gradient=rosen_der)
        assert check_hvp(rosen, lambda x, v: hvp(x + 0.01, v), X).verdict == "wrong"
        assert check_hvp(rosen, lambda x, v: hvp(x, v)[:2], X).verdict == "wrong"

    def test_scipy_functions(self) -> None:
        assert check_scipy(rosen, X, jac=rosen_der, hess=rosen_hess, hessp=rosen_hess_prod)
        assert check_scipy(lambda x: (rosen(x), rosen_der(x)), X, jac=True)
        assert check_scipy(lambda x, c: c * rosen(x), X, args=(2.0,), jac=lambda x, c: c * rosen_der(x))
        assert check_scipy(lambda x: np.sin(x) * x[0], X, jac=ea.jacobian(lambda x: np.sin(x) * (x @ np.eye(3)[0])))
        assert not check_scipy(rosen, X, jac=rosen_der, hess=lambda x: rosen_hess(x) + np.eye(3))
        assert not check_scipy(rosen, X, jac=lambda x: 2 * rosen_der(x), hess=rosen_hess)
        with pytest.raises(TypeError, match="at least one"):
            check_scipy(rosen, X)


class TestProducts:
    def test_pushforward_and_pullback(self) -> None:
        assert check_jvp(np.sin, lambda p, t: np.cos(p[0]) * t[0], X)
        assert check_jvp(np.sin, lambda p, t: 1.01 * np.cos(p[0]) * t[0], X).verdict == "wrong"
        assert check_vjp(np.sin, lambda p, c: np.cos(p[0]) * c, X)
        assert check_vjp(np.sin, lambda _, c: c[:2], X).verdict == "wrong"
        assert check_vjp(lambda x, y: A @ x + y, lambda _, c: (A.T @ c, c), X, X, argnums=(0, 1))

    def test_a_pullback_that_is_right_for_ones_only(self) -> None:
        def normalised(x: Any) -> Any:
            return x - np.mean(x)

        assert check_vjp(normalised, lambda _, c: c - np.mean(c), X)
        assert check_vjp(normalised, lambda _, c: 0 * c, X).verdict == "wrong"

    def test_complex_values_of_real_arguments(self) -> None:
        def wave(x: Any) -> Any:
            return np.exp(1j * x)

        assert check_jvp(wave, lambda p, t: 1j * np.exp(1j * p[0]) * t[0], X)
        assert check_vjp(wave, lambda p, c: np.real(np.conj(1j * np.exp(1j * p[0])) * c), X)
        assert not check_vjp(wave, lambda p, c: np.real(1j * np.exp(1j * p[0]) * c), X)


class TestDerivatives:
    def test_all_modes_and_orders(self) -> None:
        report = check_derivatives(lambda x: np.sum(np.sin(A @ x) * x), X, order=3)
        assert report
        assert report.order == 3
        assert {finding.mode for finding in report.findings if finding.claim == "derivative"} == {
            "auto",
            "forward",
            "reverse",
            "cross-country",
        }

    def test_float32_arrays_and_trees(self) -> None:
        assert check_derivatives(lambda x, a: np.tanh(a @ x), X.astype(np.float32), A.astype(np.float32))
        assert check_derivatives(lambda p: np.sum(p["w"] ** 2 * p["b"]), {"w": X, "b": 2.0})

    def test_a_wrong_system_is_found_out(self) -> None:
        from_mode = ea.derivative

        assert check_derivatives(squares, X, modes=("reverse",), order=1)
        with pytest.raises(ValueError, match="modes"):
            check_derivatives(squares, X, modes=("sideways",))
        assert from_mode is ea.derivative


class TestBadInput:
    def test_integers_are_refused_with_the_name_of_the_argument(self) -> None:
        with pytest.raises(DifferentiationError, match="'x'"):
            check_user_gradient(squares, squares_gradient, np.arange(3))
        with pytest.raises(TypeError, match="floating"):
            check_derivatives(squares, np.arange(3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"kinks": "skip"}, "did you mean kink"),
            ({"kink": "ignore"}, "one of skip"),
            ({"against": "numbers"}, "one of auto"),
            ({"entries": -1}, "at least 0"),
            ({"directions": 0}, "at least 1"),
            ({"relative": 2.0}, "less than 1"),
        ],
    )
    def test_options(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=message):
            check_user_gradient(squares, squares_gradient, X, **options)

    def test_arguments(self) -> None:
        with pytest.raises(TypeError, match="needs the arguments"):
            check_user_gradient(squares, squares_gradient)
        with pytest.raises(TypeError, match="needs a function"):
            check_user_gradient(3, squares_gradient, X)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="has to be a function"):
            check_user_gradient(squares, X, X)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="argnums"):
            check_user_gradient(squares, squares_gradient, X, argnums=2)
        with pytest.raises(ShapeError, match="check_jacobian"):
            check_user_gradient(np.sin, np.cos, X)
        with pytest.raises(ShapeError, match="reference"):
            check_user_gradient(squares, squares_gradient, X, against=lambda x: x[0])

    def test_nothing_of_the_callers_is_changed(self) -> None:
        x, state = X.copy(), np.random.get_state()  # noqa: NPY002 (the global state is what must not change)

        def vandal(x: Any) -> Any:
            value = np.sum(x**2)
            x[...] = 0
            return value

        report = check_user_gradient(vandal, squares_gradient, x)
        assert report.verdict == "refused"
        with pytest.raises(WrongDerivativeError, match=r"chang|writ|mutat"):
            report.raise_if_wrong()
        np.testing.assert_array_equal(x, X)
        after = np.random.get_state()  # noqa: NPY002
        np.testing.assert_array_equal(state[1], after[1])  # type: ignore[index]

    def test_results_do_not_depend_on_the_run(self) -> None:
        first, second = (str(check_user_gradient(squares, lambda x: 3 * x, X)) for _ in range(2))
        assert first == second

    def test_errors_of_the_function_itself_are_the_callers(self) -> None:
        def broken(_: Any) -> Any:
            raise KeyError("w")

        with pytest.raises(KeyError):
            check_user_gradient(broken, squares_gradient, X)


def test_large_arguments_are_sampled_and_a_wrong_entry_is_located() -> None:
    rng = np.random.default_rng(0)
    big = rng.normal(size=20_000)

    def one_lost(x: Any) -> Any:
        gradient = 2 * x
        gradient[777] = 0
        return gradient

    assert check_user_gradient(squares, squares_gradient, big)
    report = check_user_gradient(squares, one_lost, big)
    assert isinstance(report, Report)
    assert report.wrong[0].index == "x[777]"


@pytest.mark.parametrize("seed", range(5))
def test_verdicts_do_not_depend_on_the_seed(seed: int) -> None:
    assert check_jacobian(
        lambda x: np.sin(x) * x[::-1],
        lambda x: np.diag(np.cos(x) * x[::-1]) + np.diag(np.sin(x))[:, ::-1],
        X,
        seed=seed,
    )
