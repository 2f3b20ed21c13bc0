"""Faults of gradient testing tools (rows T2 to T16), reduced from public reports: the toolkit has none of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from einsumad.testing import check_derivatives, check_jvp, check_user_gradient, check_vjp

RNG = np.random.default_rng(0)
X = RNG.normal(size=4)


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x: Any) -> Any:
    g = np.zeros_like(x)
    g[:-1] = -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    g[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return g


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9])
def test_no_step_has_to_be_chosen_t2(scale: float) -> None:
    """tesseract-core#740: a right gradient failed at one step and passed at another."""

    def f(x: Any) -> Any:
        return rosenbrock(x / scale)

    def right(x: Any) -> Any:
        return rosenbrock_gradient(x / scale) / scale

    for against in ("auto", "differences", "taylor"):
        assert check_user_gradient(f, right, scale * X, against=against).verdict == "right"
        assert check_user_gradient(f, lambda x: 1.03 * right(x), scale * X, against=against).verdict == "wrong"


@pytest.mark.parametrize("size", [10, 1000, 1_000_000])
def test_tolerances_do_not_grow_with_the_array_t4(size: int) -> None:
    """jax-ml/jax#3130: the error allowed was multiplied by the number of entries."""
    x = RNG.normal(size=size)

    def off_by_a_little(x: Any) -> Any:
        return 2 * x * (1 + 1e-5)

    assert check_user_gradient(lambda x: np.sum(x**2), lambda x: 2 * x, x).verdict == "right"
    assert check_user_gradient(lambda x: np.sum(x**2), off_by_a_little, x, minimal=False).verdict == "wrong"


def test_several_directions_and_seeds_t6() -> None:
    """A gradient that is right along the one direction of one seed is wrong along the others."""
    seed = np.random.RandomState(0)
    size = 200
    x, fixed = RNG.normal(size=size), seed.normal(size=size)
    normal = RNG.normal(size=size)
    normal -= fixed * (normal @ fixed) / (fixed @ fixed)

    def blind(x: Any) -> Any:
        return 2 * x + normal

    assert abs((blind(x) - 2 * x) @ fixed) < 1e-10
    for chosen in range(5):
        report = check_user_gradient(lambda x: np.sum(x**2), blind, x, seed=chosen, minimal=False)
        assert report.verdict == "wrong"


def test_symmetric_and_triangular_arguments_t8() -> None:
    """pytorch/pytorch#19116, #54914: perturbing one triangle alone leaves the set that the function is defined on."""
    root = RNG.normal(size=(3, 3))
    spd = root @ root.T + 3 * np.eye(3)

    def half_log_det(s: Any) -> Any:
        return np.sum(np.log(np.diag(np.linalg.cholesky(s))))

    def gradient(s: Any) -> Any:
        return np.linalg.inv(s) / 2

    assert check_user_gradient(half_log_det, gradient, spd, manifold="symmetric").verdict == "right"
    assert check_user_gradient(half_log_det, lambda s: 2 * gradient(s), spd, manifold="symmetric").verdict == "wrong"
    lower = np.linalg.cholesky(spd)

    def of_factor(f: Any) -> Any:
        return np.sum((np.tril(f) @ np.tril(f).T) ** 2)

    full = 4 * lower @ lower.T @ lower
    assert check_user_gradient(of_factor, lambda _: full, lower, manifold="lower").verdict == "right"
    assert check_user_gradient(of_factor, lambda _: full, lower).verdict == "wrong"


def test_a_function_with_random_numbers_is_refused_by_name_t10() -> None:
    """pytorch/pytorch#114333: dropout made the differences meaningless, and the message did not say so."""
    generator = np.random.default_rng(1)

    def dropout(x: Any) -> Any:
        return np.sum(x * (generator.random(x.shape) > 0.5))

    report = check_user_gradient(dropout, np.ones_like, X)
    assert report.verdict == "refused"
    assert "nondeterministic" in str(report)
    with pytest.raises(AssertionError):
        report.raise_if_wrong()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_arguments_are_checked_for_their_shape_t12(shape: tuple[int, ...]) -> None:
    """pytorch/pytorch#53407: the checker itself failed on arrays without entries."""
    empty = np.zeros(shape)
    assert check_user_gradient(lambda x: np.sum(x**2), lambda x: 2 * x, empty).verdict == "right"
    wrong = check_user_gradient(lambda x: np.sum(x**2), lambda x: np.zeros((*x.shape, 1)), empty)
    assert wrong.verdict == "wrong"
    assert "shape" in str(wrong)
    assert check_derivatives(lambda x: np.sum(x**2), empty).verdict == "right"


@pytest.mark.parametrize("tangent_dtype", [float, complex])
def test_complex_functions_of_real_arguments_t14(tangent_dtype: type) -> None:
    """ChainRulesTestUtils' test_scalar: a real argument may be moved by 1 or by 1 + 0j, with one result."""

    def f(x: Any) -> Any:
        return np.exp(1j * x) * x

    def slope(x: Any) -> Any:
        return 1j * np.exp(1j * x) * x + np.exp(1j * x)

    def jvp(primals: Any, tangents: Any) -> Any:
        return slope(primals[0]) * tangents[0].astype(tangent_dtype)

    def vjp(primals: Any, cotangent: Any) -> Any:
        return np.real(np.conj(slope(primals[0])) * cotangent).astype(tangent_dtype)

    assert check_jvp(f, jvp, X).verdict == "right"
    assert check_vjp(f, vjp, X).verdict == "right"
    assert check_vjp(f, lambda p, c: np.real(slope(p[0]) * c), X).verdict == "wrong"


def test_a_module_with_running_statistics_is_noticed_t16() -> None:
    """torch/nn#744: the differences themselves changed the running statistics that the next value depended on."""

    class Normalisation:
        mean = 0.0

        def __call__(self, x: Any) -> Any:
            self.mean = 0.9 * self.mean + 0.1 * float(np.mean(x))
            return np.sum((x - self.mean) ** 2)

    report = check_user_gradient(Normalisation(), lambda x: 2 * x, X)
    assert report.verdict == "refused"
    assert "stateful" in str(report) or "nondeterministic" in str(report)
