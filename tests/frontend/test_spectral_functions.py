"""Functions of eigenvalues and singular values: derivatives where these are equal, against differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import einsumad as ea
from einsumad.rewriting import normalise
from tests.frontend.test_factorisation_derivatives import along, normal, symmetrised, weighed

LINALG: Any = np.linalg
Function = Callable[[Any], Any]
ROTATION = np.linalg.qr(normal(3, 3, seed=2))[0]
SYMMETRIC_POINTS = {
    "identity": np.eye(3),
    "identity to rounding": ROTATION @ ROTATION.T,
    "two equal": ROTATION @ np.diag([1.0, 1.0, 2.0]) @ ROTATION.T,
    "close": np.diag([1.0, 1.0 + 1e-9, 1.001]),
    "both signs": np.diag([1.0, 1.0, -1.0]),
}
POINTS = {
    "identity": np.eye(2),
    "orthogonal": np.linalg.qr(normal(2, 2))[0],
    "tall": ROTATION[:, :2],
    "wide": np.eye(2, 4) * 1.5,
    "two equal": ROTATION @ np.diag([2.0, 1.0, 1.0]),
    "different": normal(3, 2),
}


def of_matrix(h: Function) -> Function:
    def function(a: Any) -> Any:
        w, v = LINALG.eigh(a)
        return weighed((v * h(w)) @ v.T)

    return function


def thermal(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    return weighed(v @ np.diag(np.exp(-2 * w) / np.sum(np.exp(-2 * w))) @ v.T)


def quadratic_form(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    return np.sum(np.exp(w) * (v.T @ np.arange(3.0)) ** 2)


def of_root(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    root = v * np.exp(0.3 * w)
    return weighed(root @ root.T)


def descending(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    w, v = w[::-1], v[:, ::-1]
    return weighed((v * np.exp(w)) @ v.T)


def in_order(a: Any) -> Any:
    w, v = LINALG.eigh(a)
    order = w.argsort()[::-1]
    w, v = w[order], v[:, order]
    return weighed(v @ np.diag(np.exp(w)) @ v.T) + np.sum(np.sin(w))


SYMMETRIC: dict[str, Function] = {
    "squares": lambda a: np.sum(LINALG.eigvalsh(a) ** 2),
    "exponentials": lambda a: np.sum(np.exp(1.3 * LINALG.eigvalsh(a))),
    "absolute": lambda a: np.sum(np.abs(LINALG.eigvalsh(a))),
    "sum of sums": lambda a: np.mean(LINALG.eigvalsh(a) + np.sin(LINALG.eigvalsh(a)) * np.exp(-LINALG.eigvalsh(a) / 3)),
    "logsumexp": lambda a: np.log(np.sum(np.exp(1.7 * LINALG.eigvalsh(a)))),
    "norm": lambda a: LINALG.norm(LINALG.eigvalsh(a)),
    "product": lambda a: np.prod(LINALG.eigvalsh(a)),
    "square root": of_matrix(lambda w: np.sqrt(w + 3)),
    "inverse": of_matrix(lambda w: 1 / (w + 0.3)),
    "thermal": thermal,
    "quadratic form": quadratic_form,
    "root": of_root,
    "positive part": of_matrix(lambda w: np.maximum(w, 0)),
    "cut off": of_matrix(lambda w: np.where(w > 0.5, 1 / w, 0)),
    "clipped": lambda a: np.sum(np.clip(LINALG.eigvalsh(a), -0.5, 1.7) ** 2),
    "reversed": lambda a: np.sum(np.exp(LINALG.eigvalsh(a)[::-1])),
    "sorted": lambda a: np.sum(np.sort(LINALG.eigvalsh(a)) ** 3) + np.sum(np.sort(LINALG.eigvalsh(a))[::-1] ** 4),
    "descending": descending,
    "in order": in_order,
    "shifted": lambda a: np.sum(np.maximum(LINALG.eigvalsh(a) - 0.7, 0) ** 3 + np.abs(0.4 - 2 * LINALG.eigvalsh(a))),
    "counted": lambda a: np.sum((LINALG.eigvalsh(a) > 0.5) * np.exp(LINALG.eigvalsh(a))),
}


def of_values(h: Function) -> Function:
    def function(a: Any) -> Any:
        u, s, vt = LINALG.svd(a, full_matrices=False)
        return weighed((u * h(s)) @ vt)

    return function


def whitening(a: Any) -> Any:
    u, s, _ = LINALG.svd(a, full_matrices=False)
    return weighed((u / s) @ u.T)


def gram(a: Any) -> Any:
    _, s, vt = LINALG.svd(a, full_matrices=False)
    return weighed((vt.T * np.exp(-s)) @ vt) + weighed(vt.T @ np.diag(1 / (s * s)) @ vt)


GENERAL: dict[str, Function] = {
    "nuclear norm": lambda a: LINALG.norm(a, "nuc"),
    "cubes": lambda a: np.sum(LINALG.svd(a)[1] ** 3),
    "logarithms": lambda a: np.sum(np.log(LINALG.svdvals(a))),
    "exponentials": lambda a: np.sum(np.exp(0.7 * LINALG.svdvals(a))),
    "polar factor": of_values(np.ones_like),
    "shrunk": of_values(lambda s: s / (s + 0.5)),
    "inverse": of_values(lambda s: 1 / s),
    "whitening": whitening,
    "gram": gram,
    "reversed": lambda a: np.sum(LINALG.svdvals(a)[::-1] ** 3),
    "sorted": lambda a: np.sum(np.exp(np.sort(LINALG.svdvals(a)))),
}


def check(f: Function, point: np.ndarray, direction: np.ndarray, orders: tuple[int, ...]) -> None:
    expected = along(f, point, direction)
    for order in orders:
        tensor = ea.derivative(f, order=order)(point)
        for _ in range(order):
            tensor = np.tensordot(tensor, direction, axes=2)
        np.testing.assert_allclose(tensor, expected[order - 1], rtol=2e-6, atol=2e-6 * max(1e-6, *map(abs, expected)))


@pytest.mark.parametrize("name", SYMMETRIC)
def test_functions_of_eigenvalues(name: str) -> None:
    direction = 0.4 * symmetrised(normal(3, 3, seed=1))
    for place, point in SYMMETRIC_POINTS.items():
        orders = (1, 2, 3) if place == "two equal" and name in ("exponentials", "square root", "absolute") else (1, 2)
        check(SYMMETRIC[name], point, direction, orders)


@pytest.mark.parametrize("name", GENERAL)
def test_functions_of_singular_values(name: str) -> None:
    for place, point in POINTS.items():
        orders = (1, 2, 3) if place == "tall" and name == "nuclear norm" else (1, 2)
        check(GENERAL[name], point, 0.2 * normal(*point.shape, seed=1), orders)


def test_known_values() -> None:  # L8, L12
    a = symmetrised(normal(3, 3))
    np.testing.assert_array_equal(ea.grad(lambda a: np.sum(LINALG.eigvalsh(a)))(np.eye(3)), np.eye(3))
    assert not ea.hessian(lambda a: np.sum(LINALG.eigvalsh(a)))(np.eye(3)).any()
    np.testing.assert_allclose(ea.grad(SYMMETRIC["squares"])(a), 2 * a, atol=1e-14)
    np.testing.assert_allclose(ea.grad(lambda a: LINALG.norm(a, "nuc"))(np.eye(3)), np.eye(3), atol=1e-15)
    determinant = ea.hessian(SYMMETRIC["product"])(np.diag([0.0, 0.0, 2.0]))
    assert determinant[0, 0, 1, 1] == 2
    assert np.isfinite(determinant).all()


@pytest.mark.parametrize("mode", ["forward", "reverse", "cross-country"])
def test_modes_agree(mode: Any) -> None:
    for f, point in ((SYMMETRIC["square root"], np.eye(3)), (GENERAL["shrunk"], np.eye(2, 3))):
        np.testing.assert_allclose(ea.hessian(f, mode=mode)(point), ea.hessian(f)(point), rtol=1e-11, atol=1e-12)


def test_parameters_and_batches() -> None:
    f = lambda a, c: np.sum(np.exp(c * LINALG.eigvalsh(a)))  # noqa: E731
    gradient = ea.grad(f, argnums=(0, 1))(np.eye(3), 0.5)
    np.testing.assert_allclose(gradient[0], 0.5 * np.exp(0.5) * np.eye(3), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(gradient[1], 3 * np.exp(0.5))
    mixed = ea.hessian(f, argnums=(0, 1))(np.eye(3), 0.5)[1][0]
    np.testing.assert_allclose(mixed, 1.5 * np.exp(0.5) * np.eye(3), rtol=1e-14, atol=1e-15)
    batch = np.stack([np.eye(3), np.diag([1.0, 2.0, 2.0])])
    rates = np.array([0.5, 2.0])
    hessian = ea.hessian(lambda a: np.sum(np.exp(rates[:, None] * LINALG.eigvalsh(a))))(batch)
    for k in range(2):
        alone = ea.hessian(f)(batch[k], rates[k])
        np.testing.assert_allclose(hessian[k, :, :, k], alone, rtol=1e-12, atol=1e-13)
        assert not hessian[k, :, :, 1 - k].any()


def test_nested_transforms_dtypes_and_no_rows() -> None:
    inner = lambda t: np.sum(ea.grad(lambda a: np.sum(np.exp(t * LINALG.eigvalsh(a))))(np.eye(3)))  # noqa: E731
    np.testing.assert_allclose(ea.grad(inner)(0.5), 4.5 * np.exp(0.5))
    f = SYMMETRIC["exponentials"]
    assert ea.hessian(f)(np.eye(2, dtype="f4")).dtype == np.float32
    assert ea.grad(f)(np.zeros((0, 0))).shape == (0, 0)
    np.testing.assert_allclose(ea.hessian(f)(np.ones((1, 1))), 1.69 * np.exp(1.3))
    np.testing.assert_allclose(ea.compile(ea.hessian(f))(np.eye(3)), ea.hessian(f)(np.eye(3)))


def test_large_eigenvalues_do_not_overflow() -> None:
    f = lambda a: np.log(np.sum(np.exp(LINALG.eigvalsh(a))))  # noqa: E731
    np.testing.assert_allclose(ea.grad(f)(1000 * np.eye(3)), np.eye(3) / 3, atol=1e-15)
    assert np.isfinite(ea.hessian(f)(1000 * np.eye(3))).all()
    assert np.isfinite(ea.hessian(thermal)(-800 * np.eye(3))).all()


UNEQUAL: dict[str, Function] = {
    "weights": lambda a: np.sum(LINALG.eigvalsh(a) ** 2 * np.arange(3.0)),
    "largest": lambda a: np.max(LINALG.eigvalsh(a)),
    "one": lambda a: LINALG.eigvalsh(a)[1] ** 2,
    "pairs": lambda a: np.sum(np.diff(LINALG.eigvalsh(a)) ** 2),
    "running": lambda a: np.cumsum(LINALG.eigvalsh(a))[1],
    "part in reverse": lambda a: np.sum(LINALG.eigvalsh(a)[:0:-1] ** 2),
    "twice the same": lambda a: np.sum(LINALG.eigvalsh(a)[np.array([2, 2, 0])] ** 2),
    "two orders": lambda a: np.sum(LINALG.eigvalsh(a) * LINALG.eigvalsh(a)[::-1]),
    "by another order": lambda a: np.sum(LINALG.eigvalsh(a)[np.argsort(a[0])[:2]] ** 2),
}


@pytest.mark.parametrize("name", UNEQUAL)
def test_functions_that_tell_eigenvalues_apart(name: str) -> None:
    """Nothing is taken for a sum over all of them: equal ones share the first derivative, the second is NaN."""
    f = UNEQUAL[name]
    assert not any(
        node in str(ea.Tensor(*normalise([f(ea.variable("a", (3, 3))).node]))) for node in ("spectral", "tr ")
    )
    gradient = ea.grad(f)(np.eye(3))
    np.testing.assert_allclose(gradient, gradient[0, 0] * np.eye(3), atol=1e-15)
    for point in (np.eye(3), ROTATION @ np.diag([1.0, 1.0, 1.0 + 1e-15]) @ ROTATION.T):
        assert np.isnan(ea.hessian(f)(point)).any()
    apart = np.diag([0.5, 1.0, 2.0]) + 0.1 * symmetrised(normal(3, 3))
    check(f, apart, 0.1 * symmetrised(normal(3, 3, seed=1)), (1, 2))


def test_functions_of_vectors_at_equal_eigenvalues_are_nan() -> None:
    for f in (
        lambda a: LINALG.eigh(a)[1][0, 0],
        lambda a: np.sum(LINALG.eigh(a)[1]),
        lambda a: weighed((LINALG.eigh(a)[1] * np.arange(3.0)) @ LINALG.eigh(a)[1].T),
        lambda a: np.sum(LINALG.svd(a)[0] * LINALG.svd(a)[2]),
    ):
        assert np.isnan(ea.grad(f)(np.eye(3))).any()


def test_kinks_next_to_zero_are_not_guessed() -> None:
    """A value that is 0 to rounding may lie on either side; one that is 0 counts as 0, with derivative 0."""
    f = lambda a: np.sum(np.abs(LINALG.eigvalsh(a)))  # noqa: E731
    assert np.isnan(ea.hessian(f)(np.diag([1.0, 1e-17]))).any()
    np.testing.assert_allclose(ea.grad(f)(np.diag([1.0, 0.0])), np.diag([1.0, 0.0]), atol=1e-15)
    assert np.isfinite(ea.hessian(f)(np.diag([1.0, 0.0]))).all()


@pytest.mark.parametrize("point", [np.diag([1.0, 0.0]), np.outer([1.0, 2.0], [1.0, -1.0]), np.zeros((2, 3))], ids=str)
def test_singular_values_that_are_zero(point: np.ndarray) -> None:
    """Even functions are smooth there; of others the first derivative is 0 and the second NaN, never another number."""
    direction = 0.3 * normal(*point.shape)
    for f in (lambda a: np.sum(LINALG.svdvals(a) ** 4), lambda a: np.sum(np.cosh(LINALG.svdvals(a)))):
        check(f, point, direction, (1, 2))
    for f in (
        lambda a: LINALG.norm(a, "nuc"),
        lambda a: np.sum(np.exp(LINALG.svdvals(a)) + np.exp(-LINALG.svdvals(a))),
        lambda a: np.sum(LINALG.svdvals(a) ** 2 + LINALG.svdvals(a) ** 3),
    ):
        assert np.isfinite(ea.grad(f)(point)).all()
        assert np.isnan(ea.hessian(f)(point)).any() or np.isinf(ea.hessian(f)(point)).any()
    logarithms = ea.grad(lambda a: np.sum(np.log(LINALG.svdvals(a))))(np.diag([1.0, 0.0]))
    assert not np.isfinite(logarithms).all()


SPECTRA = st.lists(st.sampled_from([-1.0, 0.5, 0.5 + 1e-12, 0.50001, 2.0]), min_size=3, max_size=3)
KINDS = ("exponentials", "sum of sums", "logsumexp", "square root", "quadratic form", "root")


@pytest.mark.fuzz
@settings(max_examples=6 if settings().max_examples <= 100 else settings().max_examples)
@given(st.sampled_from(KINDS), SPECTRA, st.integers(0, 1000))
def test_random_spectra(name: str, spectrum: list[float], seed: int) -> None:
    rotation = np.linalg.qr(normal(3, 3, seed=seed))[0]
    point = symmetrised(rotation @ np.diag(spectrum) @ rotation.T)
    check(SYMMETRIC[name], point, 0.4 * symmetrised(normal(3, 3, seed=seed + 1)), (1, 2))
