"""Matrix functions against differences of 50 digits, to third order, and at the edges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

import einsumad as ea
from einsumad.functions import general_function
from einsumad.scipy import linalg

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
MATRICES = {
    "ordinary": np.array([[1.2, -0.7], [0.4, 0.9]]),
    "identity": np.eye(2),
    "defective": np.array([[1.5, 1.0], [0.0, 1.5]]),
    "complex pair": np.array([[-1.0, 0.3], [-0.3, -1.0]]),
    "far from normal": np.array([[1.0, 1e4], [0.0, 1e-2]]),
    "zero": np.zeros((2, 2)),
    "of three": RNG.normal(size=(3, 3)) + 3 * np.eye(3),
}


def exact(name: str, matrix: Array, directions: Sequence[Array]) -> Array:
    """The mixed derivative along the directions by central differences."""
    function = {"expm": taylor, "logm": mpmath.logm, "sinm": mpmath.sinm, "cosm": mpmath.cosm, "sqrtm": mpmath.sqrtm}
    with mpmath.workdps(70):
        step = mpmath.mpf(10) ** -16 * float(np.abs(matrix).max() if name in ("logm", "sqrtm") else 1)
        total = mpmath.zeros(len(matrix))
        for signs in product((1, -1), repeat=len(directions)):
            moved = mpmath.matrix(matrix.tolist())
            for sign, direction in zip(signs, directions, strict=True):
                moved += sign * step * mpmath.matrix(direction.tolist())
            total += int(np.prod(signs)) * function[name](moved)
        total /= (2 * step) ** len(directions)
        return np.array([[float(mpmath.re(entry)) for entry in row] for row in total.tolist()])


def taylor(matrix: Any) -> Any:
    return mpmath.expm(matrix, method="taylor")


PAIRS = [pair for pair in product(("expm", "logm", "sinm", "cosm"), MATRICES) if pair != ("logm", "zero")]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(("name", "which"), PAIRS)
def test_derivatives_along_directions(name: str, which: str, order: int) -> None:
    matrix = MATRICES[which]
    if which == "far from normal" and name == "logm":
        matrix = np.array([[1.0, 1e2], [0.0, 1e-1]])
    directions = [RNG.normal(size=matrix.shape) for _ in range(order)]
    expected = exact(name, matrix, directions)
    kernel = general_function(name).kernel
    scale = max(1e-12, np.abs(expected).max())
    np.testing.assert_allclose(kernel(matrix, *directions), expected, rtol=0, atol=2e-12 * scale)
    single = kernel(*[operand.astype(np.float32) for operand in (matrix, *directions)])
    assert single.dtype == np.float32
    if which != "far from normal":
        np.testing.assert_allclose(single, expected, rtol=0, atol=3e-6 * scale)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_logarithm_does_not_depend_on_the_unit(order: int) -> None:
    """Matrices far from one, and directions as far from them: a power of two changes nothing but the exponent."""
    kernel = general_function("logm").kernel
    matrix = MATRICES["ordinary"]
    directions = [RNG.normal(size=(2, 2)) for _ in range(order)]
    expected = kernel(matrix, *directions)
    for unit in (2.0**-300, 2.0**300):
        np.testing.assert_array_equal(kernel(unit * matrix, *[unit * each for each in directions]), expected)
    np.testing.assert_array_equal(kernel(matrix, 2.0**-300 * directions[0], *directions[1:]), 2.0**-300 * expected)


@pytest.mark.parametrize("which", ["ordinary", "identity", "defective", "of three"])
def test_third_derivative_of_the_root(which: str) -> None:
    matrix = MATRICES[which]
    directions = [RNG.normal(size=matrix.shape) for _ in range(3)]
    found = ea.derivative(linalg.sqrtm, order=3)(matrix)
    for direction in reversed(directions):
        found = np.tensordot(found, direction, 2)
    expected = exact("sqrtm", matrix, directions)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_exponential_where_eigenvalues_meet() -> None:  # L16
    found = ea.grad(lambda x: np.sum(np.sin(linalg.expm(x))))(np.zeros((2, 2)))
    np.testing.assert_allclose(found, [[np.cos(1), 1], [1, np.cos(1)]], rtol=1e-15)
    for order in (1, 2, 3):
        slope = ea.derivative(lambda t: linalg.expm(t * np.eye(3))[0, 0], order=order)
        assert abs(slope(0.7) - np.exp(0.7)) < 1e-14
    assert ea.derivative(lambda t: linalg.expm(t * np.eye(2, k=1))[0, 1], order=2)(0.3) == 0


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_chains_of_matrix_functions(mode: str) -> None:
    """``log exp A = A`` near zero, and ``sin² + cos² = 1``: the Hessian of what is constant or linear is zero."""
    point = 0.4 * RNG.normal(size=(3, 3))
    weights = RNG.normal(size=(3, 3))
    hessian = ea.hessian(lambda a: np.sum(weights * linalg.logm(linalg.expm(a))), mode=mode)(point)
    np.testing.assert_allclose(hessian, np.zeros(hessian.shape), atol=1e-12)

    def constant(a: Any) -> Any:
        sine, cosine = linalg.sinm(a), linalg.cosm(a)
        return sine @ sine + cosine @ cosine

    jacobian = ea.jacobian(constant, mode=mode)(point)
    np.testing.assert_allclose(jacobian, np.zeros(jacobian.shape), atol=1e-13)
    root = ea.jacobian(lambda a: linalg.sqrtm(a) @ linalg.sqrtm(a), mode=mode)(point + 3 * np.eye(3))
    np.testing.assert_allclose(root, np.eye(9).reshape(3, 3, 3, 3), atol=1e-13)


def test_scipy_knows_the_same_derivative() -> None:
    point, direction = RNG.normal(size=(5, 5)), RNG.normal(size=(5, 5))
    value, tangent = ea.jvp(linalg.expm, (point,), (direction,))
    expected = linalg.expm_frechet(point, direction)
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(tangent, expected[1], rtol=1e-10)


def test_batches_and_edges_of_size() -> None:
    stack = RNG.normal(size=(2, 3, 3))
    found = ea.grad(lambda a: np.sum(linalg.expm(a) ** 2))(stack)
    for matrix, expected in zip(stack, found, strict=True):
        np.testing.assert_allclose(ea.grad(lambda a: np.sum(linalg.expm(a) ** 2))(matrix), expected, rtol=1e-12)
    assert ea.hessian(lambda a: np.sum(linalg.expm(a)))(np.zeros((0, 0))).shape == (0, 0, 0, 0)
    assert ea.grad(lambda a: np.sum(linalg.logm(a)))(np.zeros((0, 2, 2))).shape == (0, 2, 2)
    np.testing.assert_allclose(ea.derivative(lambda a: linalg.logm(a[None, None])[0, 0], order=3)(0.5), 16, rtol=1e-13)


def test_single_precision_stays_single() -> None:
    point = (0.2 * RNG.normal(size=(3, 3)) + np.eye(3)).astype(np.float32)
    weights = RNG.normal(size=(3, 3))

    def f(a: Any) -> Any:
        return np.sum(weights * linalg.logm(a)) + np.sum(linalg.sqrtm(a) @ linalg.expm(a))

    for transform in (ea.grad(f), ea.hessian(f)):
        found, expected = transform(point), transform(point.astype(float))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())
