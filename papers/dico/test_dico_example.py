"""``f(x1, x2) = cos(x1·x2)·ln(x2)`` at (3, 4): the trace, forward and reverse mode."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.testing import check_user_gradient

AT = (np.float64(3), np.float64(4))


def steps(x1, x2):
    """The intermediate values of the trace."""
    product = x1 * x2
    cosine = np.cos(product)
    logarithm = np.log(x2)
    return product, cosine, logarithm, cosine * logarithm


def f(x1, x2):
    return steps(x1, x2)[-1]


BY_X1 = -np.sin(12) * 4 * np.log(4)
BY_X2 = -np.sin(12) * 3 * np.log(4) + np.cos(12) / 4


def test_trace():
    np.testing.assert_allclose(ea.compile(steps)(*AT), [12, 0.84, 1.39, 1.17], atol=5e-3)


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country", "auto"])
def test_derivatives(mode):
    by_x1, by_x2 = ea.jacobian(f, (0, 1), mode=mode)(*AT)
    np.testing.assert_allclose(by_x1, BY_X1, rtol=1e-14)
    np.testing.assert_allclose(by_x2, BY_X2, rtol=1e-14)
    np.testing.assert_allclose(by_x1, 2.98, atol=5e-3)


def test_forward_table():
    """Table 3: the tangents along x1."""
    value, tangent = ea.jvp(steps, AT, (np.float64(1), np.float64(0)))
    np.testing.assert_allclose(value[-1], 1.17, atol=5e-3)
    np.testing.assert_allclose(tangent, [4, -4 * np.sin(12), 0, BY_X1], rtol=1e-14)


def test_reverse_table():
    """Table 4, with the second adjoint corrected: see ERRATA.md."""
    _, pullback = ea.vjp(f, *AT)
    x1_bar, x2_bar = pullback(np.float64(1))
    np.testing.assert_allclose(x1_bar, 2.98, atol=5e-3)
    np.testing.assert_allclose(x2_bar, 0.211 + 2.232, atol=1e-3)
    assert abs(x2_bar - 3.16) > 0.7


def test_the_corrected_adjoint_is_right_and_the_printed_one_wrong():
    assert check_user_gradient(f, lambda *_: (BY_X1, BY_X2), *AT, argnums=(0, 1)).verdict == "right"
    assert check_user_gradient(f, lambda *_: (BY_X1, 3.16), *AT, argnums=(0, 1)).verdict == "wrong"


def test_adjoints_of_the_intermediate_values():
    product, cosine, logarithm, _ = steps(*AT)
    np.testing.assert_allclose(ea.grad(lambda c, n: c * n, (0, 1))(cosine, logarithm), [logarithm, cosine], rtol=1e-15)
    through = ea.grad(lambda p: np.cos(p) * logarithm)(product)
    np.testing.assert_allclose(through, -np.sin(12) * np.log(4), rtol=1e-14)
    np.testing.assert_allclose([through * 3, cosine / 4], [2.232, 0.211], atol=1e-3)


def test_second_derivatives():
    hessian = np.array(ea.hessian(f, (0, 1))(*AT))
    c, s, n = np.cos(12), np.sin(12), np.log(4)
    by_hand = [
        [-16 * c * n, -s * n - 12 * c * n - s],
        [-s * n - 12 * c * n - s, -9 * c * n - 6 * s / 4 - c / 16],
    ]
    np.testing.assert_allclose(hessian, by_hand, rtol=1e-12)
