"""Autograd as a system: rules of users, and functions that have no forward rule."""

from typing import Any

import numpy as np
import pytest

from einsumad.testing.systems import AUTOGRAD

pytest.importorskip("autograd")
anp = pytest.importorskip("autograd.numpy")
extend = pytest.importorskip("autograd.extend")


@extend.primitive
def cube(x: Any) -> Any:
    return x**3


extend.defvjp(cube, lambda ans, x: lambda u: 3 * x**2 * u)  # noqa: ARG005  autograd's signature


def test_functions_without_a_forward_rule() -> None:
    x = np.array([1.0, 2.0])
    for mode in ("auto", "reverse"):
        (jacobian,) = AUTOGRAD.derivative(cube, [x], 1, mode)
        ((hessian,),) = AUTOGRAD.derivative(cube, [x], 2, mode)
        np.testing.assert_allclose(jacobian, np.diag(3 * x**2))
        np.testing.assert_allclose(np.einsum("iii->i", hessian), 6 * x)
    np.testing.assert_allclose(AUTOGRAD.hvp(lambda v: anp.sum(cube(v)), [x], [x])[0], 6 * x * x)
    with pytest.raises(NotImplementedError) as caught:
        AUTOGRAD.derivative(cube, [x], 1, "forward")
    assert any("autograd.numpy" in note for note in caught.value.__notes__)


def test_cotangents_that_a_rule_keeps_are_copied() -> None:
    u = np.array([1.0, 2.0])
    _, (first, second) = AUTOGRAD.vjp(lambda a, b: a + b, [u, u], u)
    first[0] = 9.0
    assert second.tolist() == [1.0, 2.0]
    assert u.tolist() == [1.0, 2.0]
