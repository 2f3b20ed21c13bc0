"""Where nothing can be told nothing is told: right derivatives that looked wrong, and wrong ones that looked right."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special
from scipy.optimize import fsolve

from einsumad.testing import (
    check_derivatives,
    check_hessian,
    check_hvp,
    check_scipy,
    check_user_gradient,
    check_vjp,
)
from einsumad.testing.comparison import Claimed, Scales, compare
from einsumad.testing.oracles.estimate import single

B = np.array([1.0, 0.0, 0.0])
M = np.diag([1.0, 2.0, 3.0])
ON_SPHERE = np.array([0.6, 0.8, 0.0])


class Pair(NamedTuple):
    a: float
    b: float


def drag(v: Any) -> Any:
    return np.sum(v * np.abs(v))


def cross_entropy(z: Any) -> Any:
    return -(z - special.logsumexp(z, 1, keepdims=True))[np.arange(2), [0, 1]].mean()


def cross_entropy_gradient(z: Any) -> Any:
    return (special.softmax(z, 1) - np.eye(3, dtype=z.dtype)[[0, 1]]) / z.dtype.type(2)


def only_double(x: Any) -> Any:
    assert x.dtype == np.float64
    return np.sum(np.sin(x))


def diverging(x: Any) -> Any:
    if x < 0:
        raise RuntimeError("did not converge")
    return x**1.5


def table(x: Any) -> Any:
    k = int(np.floor(x[0] * 4))
    known = [0.0, 1.0, 4.0, 9.0, 16.0]
    return known[k] + (known[k + 1] - known[k]) * (x[0] * 4 - k) + 1e-3 * np.sqrt(abs(x[1]))


def root(a: Any) -> Any:
    return fsolve(lambda x: x**3 + x - a, 1.0, xtol=1e-14)[0]


RIGHT = [
    ("Huber, small", lambda r: np.sum(np.sqrt(1 + r**2) - 1), lambda r: r / np.sqrt(1 + r**2), [1e-9, 1e-6, 1e-4]),
    ("Cauchy, small", lambda r: np.sum(np.log(1 + r**2)), lambda r: 2 * r / (1 + r**2), [1e-8, 1e-3]),
    ("1 - cos", lambda r: np.sum(1 - np.cos(r)), np.sin, [1e-9, 1e-5]),
    (
        "cross-entropy, absorbed",
        lambda z: -(z - np.log(np.sum(np.exp(z))))[0],
        lambda z: np.exp(z) / np.sum(np.exp(z)) - B,
        [30.0, 0.0, -10.0],
    ),
    (
        "cosine distance",
        lambda x: 1 - x @ B / np.linalg.norm(x),
        lambda x: -(B / np.linalg.norm(x) - x[0] * x / np.linalg.norm(x) ** 3),
        [1.0, 1e-7, 1e-10],
    ),
    (
        "softplus, naive",
        lambda w: np.sum(np.log(1 + np.exp(-w))),
        lambda w: -np.exp(-w) / (1 + np.exp(-w)),
        [38.0, 30.0],
    ),
    ("wave on a line, far", lambda x: x + np.sin(x), lambda x: 1 + np.cos(x), 5e4),
    ("wave on a parabola, far", lambda x: x**2 + np.sin(x), lambda x: 2 * x + np.cos(x), 5e4),
    (
        "small fast wave",
        lambda x: x**2 + 1e-6 * np.sin(1e4 * x),
        lambda x: 2 * x + 1e-2 * np.cos(1e4 * x),
        1.2345,
    ),
    ("chirp", lambda x: np.cos(x**2), lambda x: -2 * x * np.sin(x**2), 1704.0),
    ("fast chirp", lambda x: np.sin(np.exp(x)), lambda x: np.exp(x) * np.cos(np.exp(x)), 18.2),
    ("drag, not analytic", lambda v: 1e3 + drag(v), lambda v: 2 * np.abs(v), [2.0, -1e-5]),
    ("cube of a size", lambda x: 1 + x * x * np.abs(x), lambda x: 3 * x * np.abs(x), 5e-5),
    (
        "norm, not analytic",
        lambda v: np.sum(v) * np.linalg.norm(v),
        lambda v: np.linalg.norm(v) + np.sum(v) * v / np.linalg.norm(v),
        [2.0, -1e-6],
    ),
    ("only double precision", only_double, np.cos, [1.0, 1e-3]),
    ("raises beside the point", diverging, lambda x: 1.5 * np.sqrt(x), 0.0),
    ("a table of values", table, lambda x: np.array([28.0, 0.5e-3 / np.sqrt(x[1])]), [0.9999, 0.3]),
    ("an implicit function", root, lambda a: 1 / (3 * root(a) ** 2 + 1), 2.5),
]


@pytest.mark.parametrize(("function", "gradient", "x"), [case[1:] for case in RIGHT], ids=[case[0] for case in RIGHT])
def test_no_false_alarm(function: Any, gradient: Any, x: Any) -> None:
    at = np.asarray(x)[()] if np.ndim(x) == 0 else np.array(x)
    assert check_user_gradient(function, gradient, at, minimal=False).verdict != "wrong"


def test_no_false_alarm_in_single_precision() -> None:
    z = np.array([[12, 0, -10], [-3, 18, -1]], np.float32)
    assert check_user_gradient(cross_entropy, cross_entropy_gradient, z, minimal=False).verdict != "wrong"


def test_no_false_alarm_where_long_steps_do_not_resolve_what_is_computed_coarsely() -> None:
    x = np.array([-0.56282334, 0.58883494, 0.0421181, -1.57090052, 1.00165475])

    def waves(x: Any) -> Any:
        return np.sum(np.sin(x.astype(np.float32)))

    for seed in range(40):
        report = check_user_gradient(waves, np.cos, x, single=True, seed=seed, minimal=False)
        assert report.verdict != "wrong"
        assert check_user_gradient(waves, np.sin, x, single=True, seed=seed, minimal=False).verdict == "wrong"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "right"), (1.03, "wrong")])
def test_claims_in_single_precision_are_decided_if_asked(dtype: Any, factor: float, verdict: str) -> None:
    def waves(x: Any) -> Any:
        return np.sum(np.sin(x.astype(np.float32)))

    def gradient(x: Any) -> Any:
        return (factor * np.cos(x)).astype(dtype)

    def pulled(x: Any, cotangent: Any) -> Any:
        return cotangent * gradient(x[0])

    x = np.array([0.3, -0.9, 1.2])
    assert check_user_gradient(waves, gradient, x, single=True, minimal=False).verdict == verdict
    assert check_vjp(waves, pulled, x, single=True, minimal=False).verdict == verdict


def test_no_false_alarm_of_the_library() -> None:
    assert check_derivatives(lambda x: np.sum(np.sqrt(1 + x**2) - 1), np.array([1e-9, 1e-4]), order=1)


def test_a_small_wave_on_a_large_power() -> None:
    def function(v: Any) -> Any:
        return np.sqrt(v[0] ** 6 + np.cos(v[1]) ** 2 + 0.01)

    def hessian(v: Any) -> Any:
        f, x, c, s = function(v), v[0], np.cos(v[1]), np.sin(v[1])
        gx, gy = 3 * x**5 / f, -c * s / f
        xx, yy = 15 * x**4 / f - gx * gx / f, (s * s - c * c) / f - gy * gy / f
        return np.array([[xx, -gx * gy / f], [-gx * gy / f, yy]])

    assert check_hessian(function, hessian, np.array([74.4097, -91.945]), minimal=False).verdict != "wrong"


def test_curved_manifolds_need_a_gradient_for_second_derivatives() -> None:
    def form(x: Any) -> Any:
        return x @ M @ x

    for report in (
        check_hessian(form, lambda x: 2 * M + 0 * x[0], ON_SPHERE, manifold="sphere"),
        check_hvp(form, lambda x, v: 2 * M @ v + 0 * x, ON_SPHERE, manifold="sphere"),
    ):
        assert report.verdict == "undecided"
        assert "pass gradient=" in " ".join(str(report).split())
    assert check_hessian(form, lambda x: 2 * M + 0 * x[0], ON_SPHERE, manifold="sphere", gradient=lambda x: 2 * M @ x)
    assert check_derivatives(form, ON_SPHERE, manifold="sphere")


@pytest.mark.parametrize("entry", [0, 5, 15])
def test_every_entry_of_a_hessian_on_a_manifold_takes_part(entry: int) -> None:
    rng = np.random.default_rng(0)
    S, c = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    S, c = S + S.T, c + c.T

    def hessian(S: Any, factor: float) -> Any:
        diagonal = (6 * c * S).ravel()
        diagonal[entry] *= factor
        return np.diag(diagonal).reshape(4, 4, 4, 4)

    def cubes(S: Any) -> Any:
        return np.sum(c * S**3)

    assert check_hessian(cubes, lambda S: hessian(S, 1.0), S, manifold="symmetric")
    report = check_hessian(cubes, lambda S: hessian(S, 3.0), S, manifold="symmetric", minimal=False)
    assert report.verdict == "wrong"


class TestRightNeedsADerivative:
    """A report is not right because of symmetry, dtypes or identities alone."""

    def test_a_hessian_at_kinks(self) -> None:
        report = check_hessian(lambda x: np.sum(np.abs(x)), lambda x: 17 * np.eye(2) + 0 * x[0], np.zeros(2))
        assert report.verdict == "undecided"

    def test_a_function_in_single_precision(self) -> None:
        def coarse(x: Any) -> Any:
            return np.sum(np.tanh(np.asarray(x, np.float32)), dtype=np.float32)

        x = np.array([0.3, 1.0, -0.5])
        report = check_scipy(coarse, x, jac=lambda x: 17 * np.ones_like(x), hessp=lambda x, v: 0 * x * v)
        assert report.verdict == "undecided"

    def test_a_zero_in_single_precision_that_is_known_to_a_thousandth(self) -> None:
        one = np.ones(1)
        claimed = Claimed(np.zeros(1), lambda: np.zeros(1), float(np.finfo(np.float32).eps))
        for error, undecided in ((1e-4, True), (1e-7, False)):
            found = compare(claimed, single(1e-7 * one, error * one, "differences"), Scales(one, one))
            assert not found.wrong.any()
            assert found.undecided.tolist() == [undecided]

    def test_underflow(self) -> None:
        report = check_user_gradient(lambda x: np.sum(x**2), lambda x: -7 * x, np.array([1e-160, 2e-160]))
        assert report.verdict == "undecided"


def test_named_tuples_stay_what_they_are() -> None:
    assert check_user_gradient(lambda q: q.a * q.b, lambda q: Pair(q.b, q.a), Pair(2.0, 3.0))


def test_all_gradients_where_one_was_asked_for() -> None:
    def gradients(w: Any, b: Any) -> Any:
        return 2 * (w + b), np.sum(2 * (w + b))

    report = check_user_gradient(lambda w, b: np.sum((w + b) ** 2), gradients, np.ones(3), 0.3, minimal=False)
    assert "name all arguments in argnums=(0, 1, ...)" in report.wrong[0].detail
    with pytest.raises(TypeError, match="fun has to return value and gradient"):
        check_scipy(np.sum, np.ones(2), jac=True)
