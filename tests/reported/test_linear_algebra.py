"""Rows L*: factorisations and matrix functions, at ties, at singular and at ill-conditioned matrices."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.scipy import linalg
from tests.reported.oracle import MODES, check, close, normal


def symmetric(a):
    return (a + np.swapaxes(a, -1, -2)) / 2


def definite(seed, size):
    root = normal(seed, size, size)
    return root @ root.T + np.eye(size)


def test_l6_the_log_determinant_through_cholesky():
    x = definite(1, 4)

    def f(x):
        return 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(x))))

    inverse = np.linalg.inv(x)
    for mode in MODES:
        close(ea.grad(f)(x), inverse, 1e-12, "gradient")
        second = -symmetric_pairs(inverse)
        close(ea.hessian(f, mode=mode)(x), second, 1e-11, mode)


def symmetric_pairs(a):
    """``(a[i,k] a[j,l] + a[i,l] a[j,k]) / 2``: minus the second derivative of log det on symmetric matrices."""
    return (np.einsum("ik,jl->ijkl", a, a) + np.einsum("il,jk->ijkl", a, a)) / 2


def test_l6_trace_of_the_inverse_through_cholesky():
    x = definite(2, 3)

    def f(x):
        return np.sum(np.linalg.inv(np.linalg.cholesky(x)) ** 2)

    close(ea.grad(f)(x), -np.linalg.inv(x) @ np.linalg.inv(x), 1e-12, "gradient")
    close(ea.hessian(f)(x), ea.hessian(lambda x: np.trace(np.linalg.inv(symmetric(x))))(x), 1e-11, "Hessian")


@pytest.mark.parametrize("upper", [False, True])
def test_l6_the_gradient_is_symmetric(upper):
    x = np.array([[4.0, 1.0], [1.0, 3.0]])
    found = ea.grad(lambda x: np.sum(np.linalg.cholesky(x, upper=upper)))(x)
    close(found, [[0.20634, 0.17462], [0.17462, 0.30151]], 1e-4, "gradient")
    check(lambda x: np.sum(np.sin(np.linalg.cholesky(symmetric(x)))), x)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_l8_sums_over_eigenvalues_at_ties(size):
    eye = np.eye(size)
    values = np.linalg.eigvalsh
    close(ea.grad(lambda a: np.sum(values(a)))(eye), eye, 1e-14, "sum")
    close(ea.grad(lambda a: np.sum(values(a) ** 2))(3 * eye), 6 * eye, 1e-14, "sum of squares")
    for mode in MODES:
        found = ea.hessian(lambda a: np.sum(values(a) ** 2), mode=mode)(eye)
        close(found, 2 * symmetric_pairs(eye), 1e-13, mode)
        found = ea.hessian(lambda a: np.sum(np.log(values(a))), mode=mode)(2 * eye)
        close(found, -symmetric_pairs(eye) / 4, 1e-13, mode)


def test_l8_some_eigenvalues_equal():
    rotation = np.linalg.qr(normal(3, 4, 4))[0]
    a = symmetric(rotation @ np.diag([1.0, 1.0, 2.0, 2.0]) @ rotation.T)
    check(lambda a: np.sum(np.exp(np.linalg.eigvalsh(symmetric(a)))), a)
    close(
        ea.derivative(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), order=3)(a),
        ea.derivative(lambda a: np.trace(symmetric(a) @ symmetric(a) @ symmetric(a)), order=3)(a),
        1e-11,
        "third order",
    )


def test_l8_an_eigenvector_of_a_degenerate_pair_has_no_derivative():
    found = ea.jacobian(lambda a: np.linalg.eigh(a)[1][:, 0])(np.eye(2))
    assert np.isnan(found).any()


def test_l10_third_derivatives_of_eigenvectors():
    a = np.array([[2.0, 0.3], [0.3, 1.0]])

    def f(a):
        values, vectors = np.linalg.eigh(a)
        return np.sum(values * np.abs(vectors) ** 3)

    found = {mode: ea.derivative(f, order=3, mode=mode)(a) for mode in ("forward", "reverse", "cross-country")}
    assert np.isfinite(found["forward"]).all()
    close(found["forward"], found["reverse"], 1e-11, "reverse")
    close(found["forward"], found["cross-country"], 1e-11, "cross-country")
    step, move = 1e-4, symmetric(normal(1, 2, 2))
    second = ea.hessian(f)
    expected = (second(a + step * move) - second(a - step * move)) / (2 * step)
    close(np.einsum("ijklmn,mn->ijkl", found["reverse"], move), expected, 1e-6, "differences")


def test_l12_the_nuclear_norm_at_the_identity():
    eye = np.eye(3)
    for norm in (lambda a: np.linalg.norm(a, "nuc"), lambda a: np.sum(np.linalg.svd(a, compute_uv=False))):
        close(ea.grad(norm)(eye), eye, 1e-13, "gradient")
        second = ea.hessian(norm)(eye)
        expected = (np.einsum("ik,jl->ijkl", eye, eye) - np.einsum("il,jk->ijkl", eye, eye)) / 2
        close(second, expected, 1e-12, "Hessian")


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_l12_functions_of_singular_values(shape):
    check(lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 3), normal(4, *shape))


def test_l12_vectors_that_complete_a_basis_have_no_derivative():
    a = normal(5, 4, 2)
    for position, argument in ((0, a), (2, a.T)):
        with pytest.raises(ea.DifferentiationError, match="full_matrices"):
            ea.jacobian(lambda a, k=position: np.linalg.svd(a, full_matrices=True)[k])(argument)
    assert np.isfinite(ea.grad(lambda a: np.sum(np.linalg.svd(a, full_matrices=True)[1]))(a)).all()


def test_l14_the_pseudo_inverse_of_an_outer_product():
    a, b = normal(6, 3), normal(7, 4)

    def f(a, b):
        return np.linalg.pinv(np.outer(a, b), rcond=1e-10)

    close(f(a, b), np.outer(b, a) / (a @ a) / (b @ b), 1e-13, "value")
    check(lambda a, b: np.sum(np.sin(f(a, b))), a, b)


def test_l16_the_exponential_of_a_multiple_of_the_identity():
    for mode in ("forward", "reverse"):
        for order in (1, 2, 3):
            found = ea.derivative(lambda t: linalg.expm(t * np.eye(2))[0, 0], order=order, mode=mode)(0.7)
            np.testing.assert_allclose(found, np.exp(0.7), rtol=1e-12)


def test_l16_at_zero():
    x = np.zeros((2, 2))

    def f(x):
        return np.sum(np.sin(linalg.expm(x)))

    close(ea.grad(f)(x), [[np.cos(1), 1], [1, np.cos(1)]], 1e-13, "gradient")
    for order in (2, 3):
        expected = ea.derivative(lambda x: np.sum(np.sin(np.eye(2) + x + x @ x / 2 + x @ x @ x / 6)), order=order)(x)
        for mode in MODES:
            close(ea.derivative(f, order=order, mode=mode)(x), expected, 1e-12, mode)


@pytest.mark.parametrize("condition", [1e1, 1e3, 1e5])
def test_l18_solving_with_ill_conditioned_matrices(condition):
    """Second derivatives of solve and inv against those of the exact formula, to the condition number."""
    rotation = np.linalg.qr(normal(8, 3, 3))[0]
    a, b = rotation @ np.diag([1.0, 0.5, 1 / condition]) @ rotation.T, normal(9, 3)
    inverse = np.linalg.inv(a)
    found = ea.hessian(lambda a: np.sum(np.linalg.solve(a, b)))(a)
    row, x = inverse.sum(0), inverse @ b
    first = np.einsum("i,jk,l->ijkl", row, inverse, x)
    close(found, first + np.einsum("ijkl->klij", first), 1e-13 * condition**2, "solve")
    check(lambda a: np.sum(np.sin(np.linalg.inv(a))), a * min(condition, 10) / 10 + np.eye(3))
