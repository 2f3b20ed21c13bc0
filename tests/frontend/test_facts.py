"""What is declared of matrices is used, changes no right value, and gives the derivative on such matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea

MODES = ("forward", "reverse", "cross-country")
GENERATOR = np.random.default_rng(0)
B = GENERATOR.normal(size=(3, 3))
POSITIVE = B @ B.T + np.eye(3)
SYMMETRIC = B + B.T
ORTHOGONAL = np.linalg.qr(B)[0]
DIAGONAL = np.diag([2.0, -1.0, 0.5])
b = np.array([1.0, -2.0, 0.5])
A, x = ea.variable("A", (3, 3)), ea.variable("x", 3)


def text(expression: Any) -> str:
    return str(ea.simplify(expression))


def test_expressions_use_what_is_declared() -> None:
    S, P = ea.declare(A, symmetric=True), ea.declare(A, positive_definite=True)
    D, Q = ea.declare(A, diagonal=True), ea.declare(A, orthogonal=True)
    assert text(S + S.T) == "2 A[i,j]  =  2 A"
    assert text(ea.diff(x @ S @ x, x)) == "2 A[i,j] x[j]  =  2 Ax"
    assert text(np.linalg.inv(S) + np.linalg.inv(S).T) == "2 inv(A)[i,j]  =  2 A⁻¹"
    assert text(S - S.T) == "0[i,j]  =  0"
    assert text(D @ x) == "A[i,i] x[i]  =  diag(A) ⊙ x"
    assert text(np.linalg.inv(Q)) == "A[j,i]  =  Aᵀ"
    assert text(Q.T @ Q @ x) == text(Q @ (Q.T @ x)) == "x[i]  =  x"
    assert text(np.linalg.solve(Q, x)) == "A[j,i] x[j]  =  Aᵀx"
    for expression in (np.linalg.inv(P), np.linalg.solve(P, x), np.linalg.slogdet(P)[1], np.log(np.linalg.det(P))):
        assert "; positive)" in text(expression)
    assert "inv" in text(np.linalg.inv(S))
    assert "positive" not in text(np.linalg.inv(S))


VALUES: dict[str, tuple[np.ndarray, Callable[[Any], Any]]] = {
    "positive_definite": (
        POSITIVE,
        lambda M: (
            np.sum(np.linalg.inv(M) ** 2) + np.linalg.slogdet(M)[1] * (b @ np.linalg.solve(M, b)) + np.trace(B @ M)
        ),
    ),
    "symmetric": (SYMMETRIC, lambda M: np.sum(np.sin(M @ M.T)) + np.trace(B @ M.T) * (b @ M @ b) + np.linalg.det(M)),
    "diagonal": (DIAGONAL, lambda M: np.sum(np.exp(M @ B @ M)) + b @ np.linalg.inv(M) @ b),
}


@pytest.mark.parametrize("fact", VALUES)
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_are_those_on_matrices_of_the_kind(fact: str, mode: Any) -> None:
    point, f = VALUES[fact]
    options: Any = {fact: True}

    def nearest(M: Any) -> Any:
        return M * np.eye(3) if fact == "diagonal" else (M + M.T) / 2

    for order in (0, 1, 2, 3):
        found = ea.derivative(lambda M: f(ea.declare(M, **options)), order=order, mode=mode)(point)
        expected = ea.derivative(lambda M: f(nearest(M)), order=order, mode=mode)(point)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.max(np.abs(expected)))
        if order == 1 and fact != "diagonal":
            np.testing.assert_allclose(found, found.T, rtol=1e-12)


def test_values_batches_dtypes() -> None:
    batch = np.stack([POSITIVE, 2 * POSITIVE + np.eye(3)]).astype(np.float32)

    def f(M: Any, right: Any) -> Any:
        return np.linalg.solve(M, right) + np.linalg.inv(M) + np.linalg.slogdet(M)[1][:, None, None]

    value, tangent = ea.jvp(
        lambda M: f(ea.declare(M, positive_definite=True), np.ones((2, 3, 3), np.float32)), (batch,), (batch,)
    )
    plain = ea.jvp(lambda M: f(M, np.ones((2, 3, 3), np.float32)), (batch,), (batch,))
    assert value.dtype == tangent.dtype == np.float32
    np.testing.assert_allclose(value, plain[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tangent, plain[1], rtol=1e-4, atol=1e-4)
    empty = ea.value_and_grad(lambda M: np.sum(np.linalg.inv(ea.declare(M, positive_definite=True))))(np.ones((0, 0)))
    assert (empty[0], empty[1].shape) == (0, (0, 0))
    missing = np.full((2, 2), np.nan)
    assert np.isnan(ea.compile(lambda M: np.linalg.inv(ea.declare(M, positive_definite=True)))(missing)).all()


def test_captured_arrays_are_constants_with_facts() -> None:
    def loss(x: Any) -> Any:
        M = ea.declare(POSITIVE, positive_definite=True)
        return x @ np.linalg.solve(M, x)

    assert "positive" in str(ea.explain(ea.grad(loss), b))
    np.testing.assert_allclose(ea.grad(loss)(b), 2 * np.linalg.solve(POSITIVE, b), rtol=1e-12)
    np.testing.assert_allclose(loss(b), b @ np.linalg.solve(POSITIVE, b))
    assert ea.declare(POSITIVE, symmetric=True) is POSITIVE


def test_a_wrong_declaration_is_that_of_the_nearest_matrix_and_found_by_the_check() -> None:
    found = ea.grad(lambda M: np.sum(ea.declare(M, symmetric=True) ** 2))(B)
    np.testing.assert_allclose(found, B + B.T)
    for options, good, bad in (
        ({"symmetric": True}, SYMMETRIC, B),
        ({"diagonal": True}, DIAGONAL, SYMMETRIC),
        ({"orthogonal": True}, ORTHOGONAL, B),
        ({"positive_definite": True}, POSITIVE, -POSITIVE),
        ({"positive_definite": True}, POSITIVE, B),
    ):

        def total(M: Any, options: Any = options) -> Any:
            return np.sum(ea.declare(M, check=True, **options))

        for kind in (np.float64, np.float32):
            assert np.isfinite(ea.compile(total)(good.astype(kind)))
            assert np.isfinite(total(good.astype(kind)))
        with pytest.raises(ea.DeclarationError, match=r"declared .* is not"):
            ea.compile(total)(bad)
        with pytest.raises(ea.DeclarationError):
            total(bad)
    with pytest.raises(ea.DeclarationError, match="positive definite is not"):
        ea.compile(lambda M: np.linalg.inv(ea.declare(M, positive_definite=True)))(-POSITIVE)


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(ea.DifferentiationError, match="declared orthogonal"):
        ea.grad(lambda M: np.sum(ea.declare(M, orthogonal=True)))(ORTHOGONAL)
    with pytest.raises(ea.ShapeError, match="square"):
        ea.declare(ea.variable("W", (2, 3)), symmetric=True)
    with pytest.raises(TypeError, match="needs a fact"):
        ea.declare(A)
    with pytest.raises(ea.TracingError, match="floats"):
        ea.declare(ea.variable("N", (2, 2), int), symmetric=True)
