"""Even functions of norms and absolute values are smooth where these are 0, and so are their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import einsumad as ea
from einsumad.functions import apply
from einsumad.graph import total
from einsumad.planning.cusps import expanded

MODES: tuple[Any, ...] = ("auto", "forward", "reverse", "cross-country")
norm = np.linalg.norm
POINTS = np.random.default_rng(0).normal(size=(3, 2))


def matern(r: Any, scale: float = 1.0) -> Any:
    d = 5**0.5 * r / scale
    return (1 + d + d**2 / 3) * np.exp(-d)


EVEN = {
    "scaled square": (lambda r: (r / 0.7) ** 2, 2 / 0.49),
    "multiple, squared": (lambda r: (3 * r) ** 2, 18),
    "fourth power and square": (lambda r: (r / 2) ** 4 + r * r, 2),
    "bell": (lambda r: np.exp(-0.5 * (r / 0.3) ** 2), -1 / 0.09),
    "cosine": (np.cos, -1),
    "sinc": (lambda r: np.sinc(r / np.pi), -1 / 3),
    "Bessel": (sp.j0, -0.5),
    "Matern 3/2": (lambda r: (1 + 3**0.5 * r) * np.exp(-(3**0.5) * r), -3),
    "Matern 5/2": (matern, -5 / 3),
    "Matern 5/2, scaled": (lambda r: matern(r, 0.7), -5 / 3 / 0.49),
    "multiquadric": (lambda r: 1 / np.sqrt(1 + (2 * r) ** 2), -4),
    "logarithm": (lambda r: r * np.log1p(r), 2),
    "guarded": (lambda r: np.where(r < 1e-8, 1 - r**2 / 6, np.sin(r) / np.where(r < 1e-8, 1, r)), -1 / 3),
}
ROOTS = {
    "norm": norm,
    "hypot": lambda x: np.hypot(x[0], x[1]),
    "abs": np.abs,
    "deviation": lambda x: np.std(np.concatenate([x, -x])) * 2**0.5,
}


@pytest.mark.parametrize(
    ("root", "mode"), [*[("norm", mode) for mode in MODES[1:]], *[(root, "auto") for root in ROOTS]]
)
@pytest.mark.parametrize("name", EVEN)
def test_hessians_at_zero(name: str, root: str, mode: Any) -> None:
    f, second = EVEN[name]

    def g(x: Any) -> Any:
        return np.sum(f(ROOTS[root](x)))

    for dtype in (np.float64, np.float32) if mode == "auto" else (np.float64,):
        x = np.zeros(2, dtype)
        found = ea.hessian(g, mode=mode)(x)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, second * np.eye(2), rtol=3e-7 if dtype == np.float32 else 1e-13, atol=1e-6)
        np.testing.assert_array_equal(ea.grad(g)(x), 0)
        assert ea.value_and_grad(g)(x)[0] == pytest.approx(g(x))


@pytest.mark.parametrize("name", ["cosine", "Matern 5/2", "bell"])
def test_every_way_to_ask(name: str) -> None:
    f, second = EVEN[name]

    def g(x: Any) -> Any:
        return np.sum(f(norm(x)))

    x, v = np.zeros(3), np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(ea.hvp(g)(x, v), second * v)
    np.testing.assert_allclose(ea.hessian_diagonal(g)(x), np.full(3, second))
    np.testing.assert_allclose(ea.laplacian(g)(x), 3 * second)
    np.testing.assert_allclose(ea.jacobian(ea.grad(g))(x), second * np.eye(3))
    np.testing.assert_allclose(ea.grad(lambda x: ea.grad(g)(x) @ v)(x), second * v)
    np.testing.assert_allclose(ea.compile(ea.hessian(g))(x), second * np.eye(3))
    np.testing.assert_allclose(ea.compile(ea.jacobian(ea.grad(g)))(x), second * np.eye(3))
    np.testing.assert_array_equal(ea.derivative(g, order=3)(x), 0)


@pytest.mark.parametrize("mode", MODES)
def test_fourth_order(mode: Any) -> None:
    delta = np.eye(2)
    pairs = [np.einsum(f"{a},{b}->ijkl", delta, delta) for a, b in (("ij", "kl"), ("ik", "jl"), ("il", "jk"))]
    found = ea.derivative(lambda x: np.cos(norm(x)), order=4, mode=mode)(np.zeros(2))
    np.testing.assert_allclose(found, sum(pairs) / 3, atol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_kernels_of_all_pairs(mode: Any) -> None:
    """The distances of points to themselves are 0, whatever the points and the scales."""

    def energy(points: Any, scales: Any) -> Any:
        r = norm((points[:, None] - points[None]) / scales, axis=-1)
        return np.sum(np.arange(1.0, 10.0).reshape(3, 3) * matern(r))

    def apart(points: Any, scales: Any) -> Any:
        i, j = np.nonzero(~np.eye(3, dtype=bool))
        r = norm((points[i] - points[j]) / scales, axis=-1)
        return np.sum(np.arange(1.0, 10.0).reshape(3, 3)[i, j] * matern(r))

    scales = np.array([0.7, 1.3])
    for argnum in (0, 1):
        found = ea.hessian(energy, argnum, mode=mode)(POINTS, scales)
        np.testing.assert_allclose(found, ea.hessian(apart, argnum)(POINTS, scales), rtol=1e-10, atol=1e-12)


def test_operands_beside_the_root() -> None:
    """Mixed derivatives with what the function depends on besides; some entries at 0, some not."""

    def f(x: Any, c: Any) -> Any:
        return np.sum(c * np.exp(-((np.abs(x) / c) ** 2)))

    def smooth(x: Any, c: Any) -> Any:
        return np.sum(c * np.exp(-(x * x / c / c)))

    x, c = np.array([0.0, 0.5, -2.0, 0.0]), np.array([0.5, 1.5, 2.0, 3.0])
    for order in (1, 2, 3):
        for found, expected in zip(
            ea.derivative(f, (0, 1), order=order)(x, c), ea.derivative(smooth, (0, 1), order=order)(x, c), strict=True
        ):
            for one, other in zip(_flat(found), _flat(expected), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def _flat(tree: Any) -> list[Any]:
    return [leaf for part in tree for leaf in _flat(part)] if isinstance(tree, tuple) else [tree]


def test_residuals_that_are_solved_exactly() -> None:
    a, t = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), np.array([1.0, -1.0])
    y = a @ t
    np.testing.assert_allclose(ea.hessian(lambda t: (norm(a @ t - y) / 0.1) ** 2)(t), 2 * a.T @ a / 0.01)
    ratio = ea.hessian(lambda x: (np.std(x) / np.mean(x)) ** 2)(np.ones(2))
    np.testing.assert_allclose(ratio, [[0.5, -0.5], [-0.5, 0.5]], atol=1e-15)


@pytest.mark.parametrize(
    "f", [norm, lambda x: np.exp(-norm(x)), lambda x: np.sum(np.abs(x)), lambda x: np.sum(np.log1p(np.abs(x)))]
)
def test_what_has_a_kink_keeps_its_convention(f: Any) -> None:
    np.testing.assert_array_equal(ea.grad(f)(np.zeros(2)), 0)
    assert not np.any(ea.hessian(lambda x: f(x) - 3 * norm(x))(np.zeros(2)) > 0)


@pytest.mark.parametrize("power", [1.5, 2.5, 3, 3.5])
def test_values_are_never_changed(power: float) -> None:
    value, gradient, hessian = ea.value_grad_and_hessian(lambda x: np.sum(np.abs(x) ** power))(np.array([0.0, 2.0]))
    np.testing.assert_allclose(value, 2**power)
    np.testing.assert_allclose(gradient, [0, power * 2 ** (power - 1)])
    np.testing.assert_allclose(hessian[1, 1], power * (power - 1) * 2 ** (power - 2))
    if power > 2:
        assert hessian[0, 0] == 0
    nan = ea.value_grad_and_hessian(lambda x: np.sum(np.abs(x) ** 3 * np.log(np.abs(x))))(np.zeros(1))[0]
    assert np.isnan(nan)


def test_what_is_linear_stays_as_it_is() -> None:
    x = ea.variable("x", (3,)).node
    linear = total(apply("abs", x), x)
    assert expanded([linear], 2) == (linear,)
    assert expanded([apply("cos", apply("abs", x))], 1) == (apply("cos", apply("abs", x)),)
    assert expanded([apply("cos", apply("abs", x))], 2) != (apply("cos", apply("abs", x)),)
