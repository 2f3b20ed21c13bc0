"""Logarithms of sums of exponentials with weights, and shares of such sums, against mpmath and NumPy's own formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import einsumad as ea
from tests.calculus.oracle import MODES

W, U = np.array([0.3, 0.7, 0.2]), np.array([0.3, -0.2, 0.9])
A = np.array([[1.0, 0.5, 0.2], [0.3, 2, 1]])
KEPT = np.array([True, False, True])
Formula = Callable[[Any, Any, Any], Any]
FORMS: dict[str, Formula] = {
    "log mean": lambda e, ln, z: ln(np.mean(e(z))),
    "log weighted": lambda e, ln, z: ln(np.sum(W * e(z))),
    "log of any sign": lambda e, ln, z: ln(np.sum(U * e(z))),
    "log product": lambda e, ln, z: ln(e(z) @ W),
    "log of two": lambda e, ln, z: ln(e(z[0]) + e(z[1])),
    "log of three": lambda e, ln, z: ln(e(z[0]) + 2 * e(z[1]) + e(z[2])),
    "log of a number more": lambda e, ln, z: ln(1 + 2 * e(z[0]) + e(z[1])),
    "log of a sum more": lambda e, ln, z: ln(1 + np.sum(e(z))),
    "log of a multiple": lambda e, ln, z: ln(3 * np.sum(e(z)) / 3.7),
    "log of a traced multiple": lambda e, ln, z: ln(z[0] * z[0] * np.sum(e(z))),
    "log of matrix weights": lambda e, ln, z: np.sum(ln(A @ e(z))),
    "log of rows": lambda e, ln, z: np.sum(ln(np.sum(W * e(A * z), axis=1))),
    "log of traced weights": lambda e, ln, z: ln(np.sum(z * z * e(z))),
    "log of a mixture of two": lambda e, ln, z: ln(z[2] * z[2] * e(z[0]) + 3 * e(z[1])),
    "log of a difference": lambda e, ln, z: ln(e(z[0]) - e(z[1]) / 10),
    "log of a density": lambda e, ln, z: np.sum(ln(W * e(z))),
    "log of products": lambda e, ln, z: ln(np.sum(e(z) * e(z[::-1] * 0.5))),
    "masked": lambda e, ln, z: ln(np.sum(np.where(KEPT, e(z), 0))),
    "shares": lambda e, _, z: np.sum(A[0] * (W * e(z) / np.sum(W * e(z)))),
    "shares of any sign": lambda e, _, z: np.sum(A[0] * (U * e(z) / np.sum(U * e(z)))),
    "share of two": lambda e, _, z: (W[0] * e(z[0])) / (W[0] * e(z[0]) + W[1] * e(z[1])),
    "share of plain two": lambda e, _, z: e(z[0]) / (e(z[0]) + e(z[1])),
    "shares with one more": lambda e, _, z: np.sum(W * (e(z) / (1 + np.sum(e(z))))),
    "log of shares": lambda e, ln, z: np.sum(A[0] * ln(W * e(z) / np.sum(W * e(z)))),
}
POINTS = [[0.3, -0.2, 0.5], [1000.0, 999.0, 998.5], [-1000.0, -1000.5, -999.0], [400.0, -400.0, 10.0]]
mp_exp = np.frompyfunc(mp.exp, 1, 1)


def mp_log(x: Any) -> Any:
    return np.frompyfunc(mp.log, 1, 1)(x) if isinstance(x, np.ndarray) else mp.log(x)


def oracle(form: Formula, point: Any) -> tuple[Any, Any, Any]:
    """Value, gradient and Hessian by differences in very many digits."""
    with mp.workdps(250):
        h = mp.mpf(10) ** -60
        x = np.array([mp.mpf(v) for v in point], dtype=object)
        steps = [np.array([h if i == j else mp.mpf(0) for j in range(3)], dtype=object) for i in range(3)]

        def at(*moves: Any) -> Any:
            return mp.re(form(mp_exp, mp_log, sum(moves, x)))

        first = [float((at(a) - at(-a)) / (2 * h)) for a in steps]
        second = [[float((at(a, b) - at(a, -b) - at(-a, b) + at(-a, -b)) / (4 * h * h)) for b in steps] for a in steps]
        return float(at()), first, second


@pytest.mark.parametrize("name", FORMS)
def test_to_second_order(name: str) -> None:
    form = FORMS[name]
    for k, point in enumerate(POINTS):
        mode: Any = MODES[k % len(MODES)]
        function = lambda z: form(np.exp, np.log, z)  # noqa: E731
        gradient = ea.jacobian(function, mode=mode)
        found = [f(np.array(point)) for f in (ea.compile(function), gradient, ea.jacobian(gradient, mode=mode))]
        for value, expected in zip(found, oracle(form, point), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_nan_and_infinity_as_in_numpy(name: str) -> None:
    form = FORMS[name]
    for point in ([np.nan, 1, 2], [1, np.nan, 2], [1, np.inf, 2], [1, -np.inf, 2], [-np.inf] * 3):
        z = np.array(point)
        np.testing.assert_allclose(ea.compile(lambda z: form(np.exp, np.log, z))(z), form(np.exp, np.log, z))


@pytest.mark.parametrize(
    ("weights", "exponents"),
    [
        ([0, 1, 0], [400, -400, 10]),
        ([0, 0, 0], [1, 2, 3]),
        ([-1, -2, -3], [1, 2, 3]),
        ([1, -1, 0], [1, 1, 5]),
        ([1, 2, 0], [1, 2, np.inf]),
        ([1, 2, 0], [1, 2, np.nan]),
        ([1, 2, 1], [1, 2, np.inf]),
        ([1, np.nan, 1], [1, 2, 3]),
        ([1, 2, 1], [1, 2, -np.inf]),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_of_any_kind(weights: list[float], exponents: list[float]) -> None:
    """Value and derivatives, in the weights too, are those of NumPy's formula wherever it does not overflow."""
    w, z = np.array(weights, float), np.array(exponents, float)

    def function(w: Any, z: Any) -> Any:
        return np.log(np.sum(w * np.exp(z)))

    np.testing.assert_allclose(ea.compile(function)(w, z), function(w, z))
    sums = np.sum(w * np.exp(z))
    for found, expected in zip(
        ea.grad(function, argnums=(0, 1))(w, z), (np.exp(z) / sums, w * np.exp(z) / sums), strict=True
    ):
        np.testing.assert_allclose(found, expected)


def test_a_mixture_of_normal_distributions_far_from_its_means() -> None:
    """Responsibilities, and the gradient of the log likelihood in means and weights, where every density underflows."""
    x, means, weights = np.array([60.0, -80.0]), np.array([0.0, 1.0]), np.array([0.4, 0.6])

    def likelihood(means: Any, weights: Any) -> Any:
        densities = np.exp(-((x[:, None] - means) ** 2) / 2) / np.sqrt(2 * np.pi)
        return np.sum(np.log(densities @ weights))

    log_terms = np.log(weights) - (x[:, None] - means) ** 2 / 2 - np.log(2 * np.pi) / 2
    level = log_terms.max(axis=1, keepdims=True)
    shares = np.exp(log_terms - level) / np.exp(log_terms - level).sum(axis=1, keepdims=True)
    expected = np.sum(level[:, 0] + np.log(np.exp(log_terms - level).sum(axis=1)))
    np.testing.assert_allclose(ea.compile(likelihood)(means, weights), expected)
    in_means, in_weights = ea.grad(likelihood, argnums=(0, 1))(means, weights)
    np.testing.assert_allclose(in_means, np.sum(shares * (x[:, None] - means), axis=0), rtol=1e-10)
    np.testing.assert_allclose(in_weights, np.sum(shares / weights, axis=0), rtol=1e-10)


def test_a_branch_that_a_mask_excludes_contributes_nothing() -> None:
    for odd in (np.nan, np.inf, 5000.0):
        z = np.array([1.0, odd, 2.0])
        value, gradient = ea.value_and_grad(lambda z: np.log(np.sum(np.where(KEPT, np.exp(z), 0))))(z)
        np.testing.assert_allclose(value, np.logaddexp(1, 2))
        np.testing.assert_allclose(gradient, [1 / (1 + np.e), 0, 1 / (1 + 1 / np.e)])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_dtypes_stay(dtype: Any) -> None:
    z = np.array([0.5, -1, 0.25], dtype)
    for form in FORMS.values():
        function = lambda z, form=form: form(np.exp, np.log, z[:1].repeat(3) * 0 + z)  # noqa: E731
        assert ea.grad(lambda z, f=function: np.sum(f(z)))(z).dtype == dtype
    for simple in (lambda z: np.log(1 + np.exp(z)), lambda z: 1 / (1 + np.exp(z)), lambda z: z / np.expm1(z)):
        assert ea.compile(simple)(z).dtype == simple(z).dtype == dtype


@pytest.mark.parametrize("mode", MODES)
def test_the_exponential_of_a_logarithm(mode: Any) -> None:
    f = lambda x: np.exp(np.log(np.exp(x[0]) + np.exp(x[1])))  # noqa: E731
    np.testing.assert_allclose(ea.jacobian(f, mode=mode)(np.array([520.0, 400.0])), np.exp([520.0, 400.0]), rtol=1e-10)
