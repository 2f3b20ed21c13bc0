"""Special functions where formulas break: zeros, poles, infinities, removable singularities, large arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import einsumad as ea
from tests.functions.test_edges import INF, derivatives, mixed


def exact(function: Callable[[Any], Any], place: float, order: int) -> float:
    with mp.workdps(60):
        x = mp.mpf(place)
        return float(mp.re(mp.diff(function, x, order) if order else function(x)))


SCALED: list[tuple[str, tuple[float, ...], Callable[[Any], Any], list[float]]] = [
    ("erfcx", (0,), lambda x: mp.exp(x * x) * mp.erfc(x), [-3.0, 0.5, 5.9, 6.1, 1e4]),
    ("x_over_expm1", (0,), lambda x: x / mp.expm1(x), [1e-9, -1e-4, 2.999, 3.001, -3.001, 40.0, -40.0, 800.0, -800.0]),
    ("dawson", (), lambda x: mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2, [0.0, 3.0, 50.0]),
    ("bessel_ie", (2.5, 0), lambda x: mp.besseli(2.5, x) * mp.exp(-x), [0.5, 24.9, 25.1, 1e3]),
    ("bessel_ie", (0, 0), lambda x: mp.besseli(0, x) * mp.exp(-x), [3.0, 24.9, 25.1]),
    ("bessel_ke", (3.5, 0), lambda x: mp.besselk(3.5, x) * mp.exp(x), [0.5, 24.9, 25.1, 1e3]),
    ("log_ndtr", (), lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), [-50.0, -5.0, 0.0, 5.0]),
    ("ellipk", (), mp.ellipk, [0.0, 1e-9, 0.49, 0.51, 0.999999, -0.99, -1.01, -1e5]),
    ("ellipe", (), mp.ellipe, [0.0, 1e-9, 0.49, 0.51, 0.999999, -0.99, -1.01]),
    ("ellipkm1", (), lambda p: mp.ellipk(1 - p), [1.0, 1e-20, 0.49, 0.51]),
    ("rgamma", (), mp.rgamma, [0.0, -1.0, -5.0, -2.5, 0.5, 0.4999, 20.0]),
    ("exprel", (), lambda x: mp.expm1(x) / x, [1e-12, 1e-5, -200.0]),
    ("spence", (), lambda z: mp.polylog(2, 1 - z), [1 + 1e-9, 0.01, 1000.0]),
]


@pytest.mark.parametrize(
    ("name", "params", "function", "places"), SCALED, ids=lambda x: x if isinstance(x, str) else ""
)
def test_no_cancellation(name: str, params: Any, function: Any, places: list[float]) -> None:
    for order in range(4):
        found = derivatives(name, places, order, params=params)
        np.testing.assert_allclose(found, [exact(function, x, order) for x in places], rtol=1e-9, atol=1e-300)


def series(name: str, params: Any = (), place: float = 0.0) -> list[float]:
    return [float(derivatives(name, [place], order, params=params)[0]) for order in range(4)]


def test_removable_singularities() -> None:
    np.testing.assert_allclose(series("exprel"), [1, 1 / 2, 1 / 3, 1 / 4], rtol=1e-15)
    np.testing.assert_allclose(series("spence", place=1.0), [0, -1, 1 / 2, -2 / 3], rtol=1e-15)
    np.testing.assert_allclose(series("integral_of_quotient", (2,)), [0, 1, 0, -1 / 3], atol=1e-15)
    np.testing.assert_allclose(series("integral_of_quotient", (0,)), [0, 1, 0, 1 / 3], atol=1e-15)
    np.testing.assert_allclose(series("spherical_j", (1,)), [0, 1 / 3, 0, -1 / 5], atol=1e-15)
    np.testing.assert_allclose(series("kelvin", (1, 0)), [0, 0, 1 / 2, 0], atol=1e-15)
    np.testing.assert_allclose(series("struve", (0,)), [0, 2 / np.pi, 0, -4 / (3 * np.pi)], atol=1e-15)
    np.testing.assert_allclose(series("bessel_ie", (0, 0)), [1, 0, 1.5, 0], atol=1e-15)
    np.testing.assert_allclose(mixed("elliprc", [(1.0, 1.0)], "0"), -1 / 6)
    np.testing.assert_allclose(mixed("elliprc", [(1.0, 1.0)], "1"), -1 / 3)


@pytest.mark.parametrize("which", ["", "1", "11", "111"])
def test_box_cox_at_exponent_zero(which: str) -> None:
    """``log(x)^(k+1)/(k + 1)`` for the k-th derivative in the exponent, on both sides of where the formula changes."""
    k, log = len(which), np.log(2.5)
    np.testing.assert_allclose(mixed("boxcox", [(2.5, 0.0), (2.5, 1e-12)], which), log ** (k + 1) / (k + 1), rtol=1e-11)
    with mp.workdps(40):
        places = [1.09, 1.0914, 5.0, -3.0]
        expected = [float(mp.diff(lambda p: (mp.mpf(2.5) ** p - 1) / p, mp.mpf(p), k)) for p in places]
        np.testing.assert_allclose(mixed("boxcox", [(2.5, p) for p in places], which), expected, rtol=1e-12)
        at = mp.mpf("1e-15")
        inverse = float(mp.diff(lambda p: (1 + p * mp.mpf(0.7)) ** (1 / p), at, k)) if k < 3 else None
    if inverse is not None:
        np.testing.assert_allclose(mixed("inv_boxcox", [(0.7, 0.0)], which), inverse, rtol=1e-12)


def test_box_cox_at_zero() -> None:
    np.testing.assert_array_equal(mixed("boxcox", [(0.0, 2.0), (0.0, 1.0)], "0"), [0, 1])
    np.testing.assert_array_equal(mixed("boxcox", [(0.0, 2.0), (0.0, 1.0)], "1"), [0.25, 1])


def test_zeros_of_quotients_of_gamma_functions() -> None:
    """``poch(z, 5)`` is a polynomial in z with the root -3, and ``binom(n, 7)`` one in n with the root 5."""
    roots = np.poly1d([0.0, -1, -2, -3, -4], r=True)
    falling = np.poly1d(range(7), r=True) / 5040
    for order in (0, 1, 2):
        slope = np.polyder(roots, order) if order else roots
        np.testing.assert_allclose(
            mixed("poch", [(-3.0, 5.0), (-2.5, 5.0)], "0" * order), slope([-3, -2.5]), atol=1e-13
        )
        slope = np.polyder(falling, order) if order else falling
        np.testing.assert_allclose(mixed("binom", [(5.0, 7.0), (9.0, 7.0)], "0" * order), slope([5, 9]), atol=1e-13)


def test_densities_at_the_ends() -> None:
    """``1 - exp(-x)`` and ``12 of x (1-x)^2`` to third order, at zero, at one and at infinity."""
    places = [(1.0, 0.0), (3.0, 0.0), (3.0, INF), (1.0, 50.0)]
    for which, expected in (("1", [1, 0, 0]), ("11", [-1, 0, 0]), ("111", [1, 1, 0])):
        np.testing.assert_allclose(mixed("gammainc", places, which)[:3], expected)
        np.testing.assert_allclose(mixed("gammainc", places, which)[3], -((-1) ** len(which)) * np.exp(-50.0))


@pytest.mark.parametrize("name", ["erfcx", "bessel_ie", "bessel_ke", "exp1", "rgamma", "integral_bessel"])
def test_decay_at_infinity(name: str) -> None:
    params = {"erfcx": (0,), "bessel_ie": (1, 0), "bessel_ke": (0, 0), "integral_bessel": (3,)}.get(name, ())
    for order in (1, 2):
        assert derivatives(name, [INF], order, params=params)[0] == 0
        assert derivatives(name, [INF], order, np.float32, params)[0] == 0


def test_distributions_outside_of_their_support() -> None:
    np.testing.assert_array_equal(mixed("tklmbda", [(5.0, 0.5), (0.6, 2.0), (-3.0, 1.0)], "0"), [0, 0, 0])
    np.testing.assert_allclose(mixed("tklmbda", [(0.3, 0.0)], "0"), 1 / (2 + 2 * np.cosh(0.3)), rtol=1e-14)


def test_degree_zero_has_no_derivative() -> None:
    assert derivatives("jacobi", [0.3], 1, params=(0, 0.5, 0.5))[0] == 0
    assert derivatives("chebyshev", [1.0, -1.0], 1, params=(3,)).tolist() == [9, 9]
    assert derivatives("gegenbauer", [1.0], 2, params=(3, 0.5))[0] == 15


def test_kinks_of_the_huber_loss() -> None:
    places = [(1.0, 1.0), (1.0, 0.0), (1.0, -3.0)]
    np.testing.assert_array_equal(mixed("huber", places, "1"), [1, 0, -1])
    np.testing.assert_array_equal(mixed("huber", places, "0"), [0, 0, 2])
    np.testing.assert_array_equal(mixed("pseudo_huber", [(0.0, 1.0)], "0"), [1])
    np.testing.assert_array_equal(mixed("pseudo_huber", [(0.0, 1.0)], "1"), [0])


@pytest.mark.parametrize("x", [1e-10, 1e-6, 1e-4, 0.3])
def test_third_derivatives_near_zero_do_not_cancel(x: float) -> None:
    """``(x)_1 = x`` and ``(x)_2 = x + x^2``; kei'' = ker - kei'/x, and so on (DLMF 10.61.3)."""
    for m, expected in ((1.0, [1, 0, 0]), (2.0, [1 + 2 * x, 2, 0])):
        found = [ea.derivative(lambda x, m=m: special.poch(x, m), order=k)(x) for k in (1, 2, 3)]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    found = [ea.derivative(lambda x: special.binom(x, 1.0), order=k)(x) for k in (1, 2, 3)]
    np.testing.assert_allclose(found, [1, 0, 0], rtol=0, atol=1e-13)
    second = special.ker(x) - special.keip(x) / x
    third = special.kerp(x) - second / x + special.keip(x) / x**2
    found = [ea.derivative(special.kei, order=k)(x) for k in (2, 3)]
    np.testing.assert_allclose(found, [second, third], rtol=1e-12)


def test_binomials_of_large_numbers() -> None:
    """Where gamma overflows the differences of digamma functions remain."""
    slope = ea.grad(lambda k: special.binom(300.0, k))(300.8)
    step = 1e-5
    expected = (special.binom(300.0, 300.8 + step) - special.binom(300.0, 300.8 - step)) / (2 * step)
    np.testing.assert_allclose(slope, expected, rtol=1e-7)
