"""Every function of einsumad.scipy.linalg that takes traced values: tangent, gradient and Hessian product.

What they are made of is differentiated three times in every mode in the tests of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import einsumad as ea
from einsumad.frontend.scipy_linalg import FUNCTIONS
from einsumad.scipy import linalg
from tests.frontend.surface import data

SQUARE = 0.4 * data((2, 2)) + np.eye(2)
OTHER = data((2, 2), seed=1)
THREE = 0.4 * data((3, 3)) + np.eye(3)
TALL = data((3, 2)) + np.eye(3, 2)
APART = np.array([[3.0, 1.0], [1.0, 1.0]])
VECTOR, SHORT = data((3,)), data((2,), seed=2)
Example = tuple[Callable[..., Any], tuple[np.ndarray, ...]]


def spd(a: Any) -> Any:
    return a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1])


def eigenvectors(found: Any) -> Any:
    """A function of values and vectors that does not depend on the signs of the vectors."""
    values, vectors = found
    return np.concatenate([values, np.ravel(vectors[0] * vectors[-1])])


WHOLE = {
    name: (getattr(linalg, name), (SQUARE,))
    for name in (
        "expm",
        "logm",
        "sqrtm",
        "cosm",
        "sinm",
        "tanm",
        "coshm",
        "sinhm",
        "tanhm",
        "det",
        "inv",
        "norm",
    )
}
EXAMPLES: dict[str, Example] = {
    **WHOLE,
    "expm_frechet": (lambda a, e: linalg.expm_frechet(a, e, compute_expm=False), (SQUARE, OTHER)),
    "fractional_matrix_power": (linalg.fractional_matrix_power, (SQUARE, np.array(0.3))),
    "solve_triangular": (lambda a, b: linalg.solve_triangular(a, b, trans=1, lower=True), (THREE, VECTOR)),
    "cho_solve": (lambda c, b: linalg.cho_solve((c, False), b), (SQUARE, SHORT)),
    "solve_sylvester": (linalg.solve_sylvester, (SQUARE, 2 * SQUARE, OTHER)),
    "solve_continuous_lyapunov": (linalg.solve_continuous_lyapunov, (SQUARE, OTHER)),
    "solve_lyapunov": (linalg.solve_lyapunov, (SQUARE, OTHER)),
    "solve_discrete_lyapunov": (linalg.solve_discrete_lyapunov, (0.5 * SQUARE, OTHER)),
    "solve_continuous_are": (
        lambda a, b, q, r, e: linalg.solve_continuous_are(a, b, spd(q), spd(r), e, 0.1 * b, False),
        (SQUARE, SQUARE[::-1], OTHER, OTHER.T, SQUARE.T),
    ),
    "solve_discrete_are": (
        lambda a, b, q: linalg.solve_discrete_are(a, b, spd(q), spd(b)),
        (SQUARE, SQUARE[::-1], OTHER),
    ),
    "solve_toeplitz": (
        lambda c, r, b: linalg.solve_toeplitz((c, r), b),
        (SHORT + np.array([3, 0]), OTHER[0], OTHER[1]),
    ),
    "solve_circulant": (linalg.solve_circulant, (VECTOR + np.array([3, 0, 0]), VECTOR)),
    "matmul_toeplitz": (lambda c, r, x: linalg.matmul_toeplitz((c, r), x), (SHORT, VECTOR, VECTOR)),
    "solve_banded": (lambda ab, b: linalg.solve_banded((1, 0), ab, b), (data((2, 3)) + np.array([[2.0], [0]]), VECTOR)),
    "solveh_banded": (
        lambda ab, b: linalg.solveh_banded(ab, b, lower=True),
        (data((2, 3)) + np.array([[3.0], [0]]), VECTOR),
    ),
    "cho_solve_banded": (lambda c, b: linalg.cho_solve_banded((c, True), b), (data((2, 3)) + 1, VECTOR)),
    "toeplitz": (lambda c, r: linalg.toeplitz(c, r) ** 3, (VECTOR, SHORT)),
    "circulant": (lambda c: linalg.circulant(c) ** 3, (VECTOR,)),
    "hankel": (lambda c, r: linalg.hankel(c, r) ** 3, (VECTOR, SHORT)),
    "fiedler_companion": (linalg.fiedler_companion, (VECTOR,)),
    "signm": (linalg.signm, (np.array([[1.0, 2.0], [0.3, -1.0]]),)),
    "companion": (linalg.companion, (VECTOR,)),
    "leslie": (lambda f, s: linalg.leslie(f, s) ** 3, (VECTOR, SHORT)),
    "fiedler": (lambda a: linalg.fiedler(a) ** 3, (VECTOR,)),
    "convolution_matrix": (lambda a: linalg.convolution_matrix(a, 2, "same") ** 3, (VECTOR,)),
    "block_diag": (lambda a, b: linalg.block_diag(a, b, 1.0) ** 3, (data((1, 2)), SHORT)),
    "khatri_rao": (linalg.khatri_rao, (data((2, 2)), data((1, 2)))),
    "solve": (lambda a, b: linalg.solve(a, b, assume_a="sym"), (SQUARE, SHORT)),
    "cholesky": (lambda a: linalg.cholesky(spd(a)), (SQUARE,)),
    "cho_factor": (lambda a, b: linalg.cho_solve(linalg.cho_factor(spd(a), lower=True), b), (SQUARE, SHORT)),
    "eigh": (lambda a, b: eigenvectors(linalg.eigh(spd(a) * APART, spd(b))), (SQUARE, SQUARE[::-1])),
    "eigvalsh": (lambda a, b: linalg.eigvalsh(spd(a) * APART, spd(b), subset_by_index=(0, 0)), (SQUARE, SQUARE[::-1])),
    "eigh_tridiagonal": (lambda d, e: eigenvectors(linalg.eigh_tridiagonal(d, e)), (VECTOR, SHORT)),
    "eigvalsh_tridiagonal": (linalg.eigvalsh_tridiagonal, (VECTOR, SHORT)),
    "svd": (lambda a: eigenvectors(linalg.svd(a, full_matrices=False)[1::-1]), (TALL,)),
    "svdvals": (linalg.svdvals, (TALL,)),
    "diagsvd": (lambda s: linalg.diagsvd(s, 4, 3) ** 3, (VECTOR,)),
    "qr": (lambda a: linalg.qr(a, mode="economic")[1] + linalg.qr(a, mode="r")[0][:2], (TALL,)),
    "rq": (lambda a: linalg.rq(a, mode="economic")[1] + linalg.rq(a, mode="r")[:, :1], (TALL.T,)),
    "lu": (lambda a: linalg.lu(a, permute_l=True)[0] + linalg.lu(a)[2].sum(), (TALL[::-1],)),
    "lu_factor": (lambda a: linalg.lu_factor(a)[0], (THREE[::-1],)),
    "lu_solve": (lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1), (THREE[::-1], VECTOR)),
    "pinv": (linalg.pinv, (TALL,)),
    "pinvh": (lambda a: linalg.pinvh(spd(a)), (SQUARE,)),
    "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], (TALL, VECTOR)),
    "polar": (lambda a: linalg.polar(a)[0] @ linalg.polar(a.T, "left")[1], (TALL,)),
    "orthogonal_procrustes": (lambda a, b: linalg.orthogonal_procrustes(a, b)[0], (TALL, TALL[::-1] ** 2)),
}


def test_every_function_has_an_example() -> None:
    assert set(EXAMPLES) == set(FUNCTIONS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_derivatives(name: str) -> None:
    """The derivative along one line, forward and reverse, and of the gradient along it."""
    function, arguments = EXAMPLES[name]
    generator = np.random.default_rng(1)
    moves = tuple([generator.uniform(-1, 1, argument.shape) for argument in arguments])
    weights = generator.uniform(-1, 1, function(*arguments).shape)
    every = tuple(range(len(arguments)))

    def at(step: float) -> tuple[np.ndarray, ...]:
        return tuple([argument + step * move for argument, move in zip(arguments, moves, strict=True)])

    def loss(*given: Any) -> Any:
        return np.sum(weights * function(*given))

    gradient = ea.grad(loss, argnums=every)
    value, tangent = ea.jvp(function, arguments, moves)
    np.testing.assert_allclose(value, function(*arguments), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(tangent, slope(lambda step: function(*at(step))), rtol=1e-7, atol=1e-7)
    pulled = sum(np.sum(part * move) for part, move in zip(gradient(*arguments), moves, strict=True))
    np.testing.assert_allclose(pulled, np.sum(weights * tangent), rtol=1e-10, atol=1e-12)
    product = ea.jvp(gradient, arguments, moves)[1]
    for k, found in enumerate(product):
        np.testing.assert_allclose(found, slope(lambda step, k=k: gradient(*at(step))[k]), rtol=1e-6, atol=1e-6)


def slope(line: Callable[[float], Any], step: float = 1e-3) -> Any:
    """The derivative at 0 by differences of fourth order."""
    near, far = line(step) - line(-step), line(2 * step) - line(-2 * step)
    return (8 * near - far) / (12 * step)
