"""numpy.linalg: derivatives to third order along a line, against differences of the values; and at special points."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.errors import DifferentiationError

LINALG: Any = np.linalg
MODES = ("forward", "reverse", "cross-country")
Function = Callable[[Any], Any]


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def symmetrised(a: np.ndarray) -> np.ndarray:
    return (a + np.swapaxes(a, -1, -2)) / 2


def weighed(part: Any, seed: int = 7) -> Any:
    return np.sum(part * normal(*part.shape, seed=seed))


def all_parts(result: Any) -> Any:
    return sum(weighed(part, 7 + k) for k, part in enumerate(result))


def without_signs(u: Any, s: Any, vt: Any) -> Any:
    """A function of a decomposition that does not change with the signs of the vectors."""
    return weighed(s) + weighed(u**2) + weighed(u * np.swapaxes(vt, -1, -2), 8)


def along(f: Function, point: np.ndarray, direction: np.ndarray) -> list[float]:
    """Derivatives of order one to three along a line, from a polynomial through eleven values."""
    places = np.arange(-5, 6)
    step = 0.04
    values = np.array([f(point + step * place * direction) for place in places])
    coefficients = np.linalg.solve(np.vander(places.astype(float), increasing=True), values)
    return [math.factorial(k) * coefficients[k] / step**k for k in (1, 2, 3)]


def agree(f: Function, point: np.ndarray, direction: np.ndarray, orders: int = 3) -> None:
    expected = along(f, point, direction)
    for order in range(1, orders + 1):
        tensor = ea.derivative(f, order=order, mode=MODES[(point.ndim + order) % 3])(point)
        assert tensor.shape == point.shape * order
        for _ in range(order):
            tensor = np.tensordot(tensor, direction, axes=point.ndim)
        np.testing.assert_allclose(tensor, expected[order - 1], rtol=1e-6, atol=1e-6 * max(map(abs, expected)))


SYMMETRIC: dict[str, Function] = {
    "cholesky": lambda a: weighed(LINALG.cholesky(a)),
    "cholesky upper": lambda a: weighed(LINALG.cholesky(a, upper=True)),
    "eigvalsh": lambda a: weighed(LINALG.eigvalsh(a)),
    "eigvalsh U": lambda a: weighed(LINALG.eigvalsh(a, "U") ** 3),
    "eigh": lambda a: all_parts(LINALG.eigh(a)),
    "svd hermitian": lambda a: without_signs(*LINALG.svd(a - 2.3 * np.eye(a.shape[-1]), hermitian=True)),
    "pinv hermitian": lambda a: weighed(LINALG.pinv(a, hermitian=True)),
}
GENERAL: dict[str, Function] = {
    "svd": lambda a: all_parts(LINALG.svd(a, full_matrices=False)),
    "svdvals": lambda a: weighed(LINALG.svdvals(a)),
    "values of a full one": lambda a: weighed(LINALG.svd(a)[1]),
    "qr": lambda a: all_parts(LINALG.qr(a)),
    "qr r": lambda a: weighed(LINALG.qr(a, mode="r")),
    "pinv": lambda a: weighed(LINALG.pinv(a)),
    "nuc": lambda a: np.sum(LINALG.norm(a, "nuc", axis=(-2, -1))),
    "2": lambda a: np.sum(LINALG.matrix_norm(a, ord=2) * LINALG.matrix_norm(a, ord=-2)),
    "cond": lambda a: np.sum(LINALG.cond(a)),
    "1": lambda a: np.sum(LINALG.matrix_norm(a, ord=1) * LINALG.matrix_norm(a, ord=-math.inf)),
    "3": lambda a: np.sum(LINALG.norm(a, 3, axis=-1)) + np.sum(LINALG.norm(a, -1.5, axis=-2)),
    "vector": lambda a: LINALG.vector_norm(a, ord=2.5),
    "lstsq": lambda a: all_parts(
        LINALG.lstsq(a.reshape((-1, a.shape[-1])), np.arange(a.size // a.shape[-1]) * 1.0)[:2]
    ),
}
SQUARE: dict[str, Function] = {
    "matrix_power": lambda a: weighed(LINALG.matrix_power(a, 3) + LINALG.matrix_power(a, -2)),
    "cond 1": lambda a: np.sum(LINALG.cond(a, 1)),
    "tensorsolve": lambda a: weighed(LINALG.tensorsolve(a.reshape(a.shape[-2:])[..., None], normal(a.shape[-1]))),
    "multi_dot": lambda a: weighed(LINALG.multi_dot([a.reshape(a.shape[-2:])] * 3)),
    "cross": lambda a: weighed(LINALG.cross(a[..., :1, :] ** 2, a) if a.shape[-1] == 3 else a**2),
}


@pytest.mark.parametrize("shape", [(3, 3), (1, 2, 2)], ids=str)
@pytest.mark.parametrize("name", SYMMETRIC)
def test_functions_of_symmetric_matrices(name: str, shape: tuple[int, ...]) -> None:
    point = 0.2 * symmetrised(normal(*shape)) + np.eye(shape[-1]) * np.arange(2, 2 + shape[-1])
    agree(SYMMETRIC[name], point, 0.4 * symmetrised(normal(*shape, seed=1)), 3 if shape == (1, 2, 2) else 2)
    gradient = ea.grad(SYMMETRIC[name])(point)
    np.testing.assert_allclose(gradient, np.swapaxes(gradient, -1, -2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (1, 2, 2)], ids=str)
@pytest.mark.parametrize("name", GENERAL)
def test_functions_of_matrices(name: str, shape: tuple[int, ...]) -> None:
    point = 0.2 * normal(*shape, seed=2) + np.eye(*shape[-2:]) * np.arange(1, 1 + shape[-1])
    agree(GENERAL[name], point, 0.2 * normal(*shape, seed=1), 3 if shape == (1, 2, 2) else 2)


@pytest.mark.parametrize("name", SQUARE)
def test_functions_of_square_matrices(name: str) -> None:
    size = 3 if name == "cross" else 2
    point = 0.2 * normal(size, size, seed=2) + np.diag(np.arange(1.0, 1 + size))
    agree(SQUARE[name], point, 0.2 * normal(size, size, seed=1))


@pytest.mark.parametrize("name", ["cholesky", "eigh", "svd hermitian"])
def test_products_with_vectors(name: str) -> None:
    f = {"cholesky": LINALG.cholesky, "eigh": lambda a: LINALG.eigh(a)[1], "svd hermitian": LINALG.pinv}[name]
    point = symmetrised(0.2 * normal(3, 3)) + np.diag([2.0, 3.0, 4.0])
    tangent, cotangent = symmetrised(normal(3, 3, seed=1)), normal(3, 3, seed=2)
    jacobian = ea.jacobian(f)(point)
    _, pushed = ea.jvp(f, (point,), (tangent,))
    value, pullback = ea.vjp(f, point)
    np.testing.assert_allclose(value, f(point), rtol=1e-13)
    np.testing.assert_allclose(pushed, np.tensordot(jacobian, tangent, 2), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(pullback(cotangent), np.tensordot(cotangent, jacobian, 2), rtol=1e-11, atol=1e-12)


def test_cholesky_on_symmetric_matrices() -> None:  # L6
    a = np.array([[4.0, 1.0], [1.0, 3.0]])
    gradient = ea.grad(lambda a: np.sum(LINALG.cholesky(a)))(a)
    np.testing.assert_allclose(gradient, [[0.20634, 0.17462], [0.17462, 0.30151]], atol=5e-6)
    logdet = ea.grad(lambda a: 2 * np.sum(np.log(np.diagonal(LINALG.cholesky(a)))))(a)
    np.testing.assert_allclose(logdet, np.linalg.inv(a), rtol=1e-13)

    def traced_inverse(a: Any) -> Any:
        root = LINALG.inv(LINALG.cholesky(a))
        return np.sum(root * root)

    np.testing.assert_allclose(ea.grad(traced_inverse)(a), -np.linalg.inv(a @ a), rtol=1e-12)


def test_vectors_of_third_order_for_two_by_two() -> None:  # L10
    a = np.array([[2.0, 0.3], [0.3, -1.0]])
    f = lambda a: LINALG.eigh(a)[1][0, 0]  # noqa: E731
    tensors = [ea.derivative(f, order=3, mode=mode)(a) for mode in MODES]
    assert np.isfinite(tensors[0]).all()
    for tensor in tensors[1:]:
        np.testing.assert_allclose(tensor, tensors[0], rtol=1e-10, atol=1e-12)


def test_pseudo_inverse_of_rank_one() -> None:  # L14
    a, b = np.array([1.0, -2.0, 0.5]), np.array([3.0, 1.0])
    f = lambda a, b: weighed(LINALG.pinv(np.outer(a, b)))  # noqa: E731
    exact = lambda a, b: weighed(np.outer(b, a) / ((a @ a) * (b @ b)))  # noqa: E731
    for order in (1, 2):
        found = ea.derivative(f, argnums=(0, 1), order=order)(a, b)
        expected = ea.derivative(exact, argnums=(0, 1), order=order)(a, b)
        for left, right in zip(*[np.atleast_1d(np.array(t, object)).ravel() for t in (found, expected)], strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


def test_equal_eigenvalues_share_and_vectors_are_nan() -> None:
    np.testing.assert_allclose(ea.grad(lambda a: LINALG.eigvalsh(a)[-1])(np.eye(3)), np.eye(3) / 3, atol=1e-15)
    np.testing.assert_allclose(ea.grad(lambda a: LINALG.norm(a, 2))(np.eye(2)), np.eye(2) / 2, atol=1e-15)
    rotation = np.linalg.qr(normal(3, 3))[0]
    for matrix in (np.eye(3), rotation @ rotation.T, rotation @ np.diag([1.0, 1.0, 2.0]) @ rotation.T):
        assert np.isnan(ea.grad(lambda a: LINALG.eigh(a)[1][0, 0])(matrix)).all()
        assert np.isnan(ea.hessian(lambda a: LINALG.eigvalsh(a)[0])(matrix)).any()
        assert np.isnan(ea.grad(lambda a: LINALG.svd(a)[0][0, -1])(matrix)).all()
        assert np.isnan(ea.hessian(lambda a: LINALG.svdvals(a)[-1])(matrix - 0.3 * np.eye(3))).any() or matrix[0, 0] > 1
    single = rotation @ np.diag([1.0, 1.0, 2.0]) @ rotation.T
    vectors = [ea.grad(lambda a: LINALG.eigh(a)[1][0, 2])(single), ea.grad(lambda a: LINALG.svd(a)[0][0, 0])(single)]
    assert np.isfinite(vectors).all()  # of the value that no other equals
    assert np.isnan(ea.grad(lambda a: LINALG.svd(a)[0][0, 1])(np.diag([2.0, 0.0]))).any()


def test_qr_of_dependent_columns_is_nan() -> None:
    for point in (np.ones((3, 2)), np.outer([1.0, 2.0, 3.0], [1.0, 2.0]), np.zeros((2, 2)), np.diag([1.0, 0.0])):
        assert np.isnan(ea.grad(lambda a: np.sum(LINALG.qr(a)[0]))(point)).any()
        assert np.isnan(ea.grad(lambda a: np.sum(LINALG.qr(a)[1]))(point)).any()


def test_condition_of_a_singular_matrix_has_no_finite_derivative() -> None:
    for order in (None, 1, math.inf):
        gradient = ea.grad(lambda a, order=order: LINALG.cond(a, order))(np.diag([1.0, 0.0]))
        assert not np.isfinite(gradient).all()


def test_singular_vectors_that_complete_a_basis_have_no_derivative() -> None:  # L12
    with pytest.raises(DifferentiationError, match="full_matrices=False"):
        ea.grad(lambda a: LINALG.svd(a)[0][0, 0])(normal(3, 2))
    for shape in ((4, 2), (2, 4)):
        point = normal(*shape)
        found = ea.grad(lambda a: np.sum(LINALG.svd(a)[1] ** 3))(point)
        u, s, v = np.linalg.svd(point, full_matrices=False)
        np.testing.assert_allclose(found, 3 * (u * s**2) @ v, rtol=1e-12)
    np.testing.assert_allclose(ea.grad(lambda a: LINALG.norm(a, "nuc"))(np.eye(3)), np.eye(3), atol=1e-15)


@pytest.mark.parametrize("order", [3, 1.5, 2.5, 0, None, 1, math.inf])
def test_norms_at_zero(order: Any) -> None:
    for k in (1, 2, 3):
        tensor = ea.derivative(lambda x: LINALG.norm(x, order), order=k)(np.zeros(2))
        assert not tensor.any()


def test_norms_of_vectors_with_zeros() -> None:
    point = np.array([0.0, 2.0, -1.0])
    gradient, hessian = (d(lambda x: LINALG.norm(x, 3))(point) for d in (ea.grad, ea.hessian))
    root = 9 ** (1 / 3)
    np.testing.assert_allclose(gradient, [0, 4 / root**2, -1 / root**2], rtol=1e-13)
    assert np.isfinite(hessian).all()
    assert not hessian[0].any()


def test_matrix_norms_at_zero() -> None:
    for order in ("nuc", 2, -2, "fro", 1):
        assert not ea.grad(lambda a, order=order: LINALG.norm(a, order))(np.zeros((2, 2))).any()
