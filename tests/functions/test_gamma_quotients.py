"""Quotients of gamma functions at and beside the poles of their factors, and where the factors overflow.

Expected values are derivatives of the same quotient by mpmath, in 80 digits, also at the poles: there by their limits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import einsumad as ea
from tests.functions.test_edges import mixed

QUOTIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "binom": lambda n, k: mp.gamma(n + 1) * mp.rgamma(k + 1) * mp.rgamma(n - k + 1),
    "poch": lambda z, m: mp.gamma(z + m) * mp.rgamma(z),
    "beta": lambda a, b: mp.gamma(a) * mp.gamma(b) * mp.rgamma(a + b),
}
PLACES: dict[str, list[tuple[float, float]]] = {
    "binom": [
        *[(5.5, 6.5), (5.5, 6.5 + 1e-10), (3.0, 5.0), (3.0, 5.0 - 1e-7), (3.0, -1.0), (3.0, -3.0), (0.0, 3.0)],
        *[(-3.5, 2.0), (-3.5, -2.0), (-3.5, -2.0 + 1e-9), (-0.5, 4.5), (5.0, 180.0), (2.5, 171.0), (300.0, 301.0)],
        *[(1000.0, -1.0), (180.0, 190.5)],
    ],
    "poch": [(0.0, 2.5), (-1.0, 3.0), (-2.0, 5.5), (-2.0 + 1e-10, 3.0), (2.5, -3.0), (-1.5, 1.25), (0.25, 165.0)],
    "beta": [
        *[(0.5, -0.5), (0.5, -0.5 + 1e-10), (2.5, -3.5), (2.5, -3.5 - 1e-6), (-0.5, -1.5), (-0.3, 0.2), (-1.5, 3.0)],
        *[(200.0, -199.7), (-0.4, 0.4)],
    ],
}


@pytest.mark.parametrize("name", QUOTIENTS)
@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_derivatives_at_poles_of_factors(name: str, order: int) -> None:
    places = PLACES[name]
    for which in combinations_with_replacement((0, 1), order):
        orders = (which.count(0), which.count(1))
        with mp.workdps(80):
            exact = [mp.diff(QUOTIENTS[name], tuple(map(mp.mpf, place)), orders) for place in places]
            expected = np.array([float(mp.re(value)) for value in exact])
        found = mixed(name, places, "".join(map(str, which)))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-13, err_msg=str(orders))


def test_whole_exponents_of_a_pochhammer_symbol_make_polynomials() -> None:
    """``poch(z, 3) = z (z + 1) (z + 2)`` and ``beta(z, 2) = 1/(z (z + 1))``, also where two gammas have poles."""
    places = np.array([-7.0, -4.0, -3.0, -3.0 + 1e-9, -2.5, -2.0, 0.0, 1.5])
    polynomial = np.poly1d([0.0, -1, -2], r=True)
    for mode in ("forward", "reverse"):
        for order in (1, 2, 3):
            found = ea.derivative(lambda z: special.poch(z, 3.0), order=order, mode=mode)
            slope = np.polyder(polynomial, order)
            np.testing.assert_allclose([found(z) for z in places], slope(places), rtol=1e-7, atol=1e-12)
    z = np.array([-7.0, -4.0, -2.0])
    for order, sign in ((1, -1), (2, 2), (3, -6)):
        expected = sign * (z ** -(order + 1.0) - (z + 1) ** -(order + 1.0))
        found = [float(ea.derivative(lambda z: special.beta(z, 2.0), order=order)(place)) for place in z]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_where_no_derivative_exists_there_is_none() -> None:
    """At z = -2, m = 2 the quotient depends on the direction: no derivative in m, and no mixed one."""
    for which in ("1", "01", "11", "011"):
        assert not np.isfinite(mixed("poch", [(-2.0, 2.0)], which)).any()
    assert not np.isfinite(mixed("beta", [(0.0, 2.0), (-1.0, 0.5)], "0")).any()
