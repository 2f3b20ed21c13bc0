"""Systems with the derivatives of the cases, by every strategy that fits and by elimination, are the dense ones."""

from __future__ import annotations

import numpy as np
import pytest

import einsumad as ea
from einsumad.compressed.solving import bordered
from einsumad.errors import LinearAlgebraError
from tests.compressed.agreement import check_factorisation, check_strategies
from tests.compressed.cases import CASES, LONG
from tests.compressed.test_operations import SEVERAL, SINGLE, named

SQUARE = [case for case in SINGLE if case.kind == "hessian" or case.name == "matrix product, jacobian"]
EXPECTED = {
    "ridge": "KroneckerStrategy",
    "matrix product, jacobian": "PairStrategy",
    "sylvester": "PairStrategy",
    "two traces": "PairStrategy",
    "chain": "BandedStrategy",
    "laplacian": "BandedStrategy",
    "rosenbrock": "BandedStrategy",
    "logistic, few samples": "LowRankStrategy",
    "update of rank one": "LowRankStrategy",
    "softmax regression": "BlockStrategy",
    "independent": "IdentityStrategy",
}


@named(SQUARE)
def test_every_strategy(case):
    H = case.derivative(compressed=True)
    used = check_strategies(H, H.dense())
    assert EXPECTED.get(case.name) in {None, *used}


@named(SEVERAL)
@pytest.mark.parametrize("fewest", [0, 10**9])
def test_blocks(case, fewest, monkeypatch):
    """By elimination of one variable after the other, and as one dense matrix."""
    monkeypatch.setattr(bordered, "_FEWEST", fewest)
    monkeypatch.setattr(bordered, "_WORTH_IT", 0)
    H = case.derivative(compressed=True)
    matrix = np.asarray(H).astype(float)
    if not len(matrix):
        assert H.slogdet() == (1.0, 0.0)
        return
    largest = float(np.linalg.norm(matrix, 2))
    for damping in (0.0, largest + 1, -0.37 * largest - 0.1):
        moved = matrix + damping * np.eye(len(matrix))
        if np.linalg.cond(moved) > 1e6:
            continue
        found = H.factorise(damping=damping)
        eps = max([float(np.finfo(dtype).eps) for dtype in H.layout.dtypes])
        check_factorisation(found, moved, H.dtype, eps)
        if not damping:
            inverse, expected = np.asarray(H.inverse()), np.linalg.inv(moved)
            allowed = 1000 * eps * np.linalg.cond(moved) * np.abs(expected).max()
            np.testing.assert_allclose(inverse, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("size", [0.0, 1e-150, 1e-9, 1e-5, 1.0])
def test_a_variable_whose_block_is_nearly_singular_is_solved_with(size):
    """``x · y`` and small fourth powers: regular as a whole, whatever the blocks on the diagonal are."""
    x = size * np.where(np.arange(40) % 2, 1.0, 0.7)
    H = ea.hessian(lambda x, y: x @ y + np.sum(x**4) + np.sum(y**4), (0, 1), compressed=True)(x, x / 2)
    dense = np.asarray(H)
    right = (np.arange(40.0), np.ones(40))
    expected = np.linalg.solve(dense, np.concatenate(right))
    np.testing.assert_allclose(np.concatenate(H.solve(right)), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(np.asarray(H.inverse()), np.linalg.inv(dense), rtol=0, atol=1e-10)
    assert H.inertia() == ((40, 40, 0) if size < 1 else (80, 0, 0))


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-16, 1e-8, 1.0])
def test_an_update_of_a_nearly_singular_matrix_is_solved_with(size):
    """``diag(d) + 1 1ᵀ`` is regular with one d equal to zero, where Woodbury's formula has no digit right."""
    diagonal = np.linspace(0, 1, 60)
    diagonal[0] = size
    H = ea.hessian(lambda x: np.sum(x**3) / 6 + np.sum(x) ** 2 / 2, compressed=True)(diagonal)
    dense = np.diag(diagonal) + 1
    condition = np.linalg.cond(dense)
    right = np.arange(60.0)
    expected = np.linalg.solve(dense, right)
    np.testing.assert_allclose(H.solve(right), expected, rtol=0, atol=1e-14 * condition * np.abs(expected).max())
    np.testing.assert_allclose(H.inverse() @ right, expected, rtol=0, atol=1e-14 * condition * np.abs(expected).max())
    assert H.logdet() == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-12)
    assert H.is_positive_definite()


def test_a_singular_update_is_refused():
    H = ea.hessian(lambda x: np.sum((x - np.mean(x)) ** 2), compressed=True)(np.linspace(0, 1, 60))
    with pytest.raises(LinearAlgebraError, match="pivot"):
        H.solve(np.ones(60))
    assert H.solve(np.ones(60), damping=0.5) == pytest.approx(np.full(60, 2.0))


def test_conjugate_gradients():
    H = next(case for case in CASES if case.name == "logistic, few samples").derivative(compressed=True)
    right = LONG[: len(H.dense())]
    np.testing.assert_allclose(H.solve(right, method="cg"), H.solve(right), rtol=1e-8)
    np.testing.assert_array_equal(H.solve(0 * right, method="cg"), 0)
    with pytest.raises(LinearAlgebraError, match="curvature"):
        (-H).solve(right, method="cg")


@pytest.mark.parametrize(("ridge", "dtype"), [(1.0, np.float64), (1.0, np.float32), (-9.0, np.float64)])
def test_the_inertia_of_a_sum_whose_matrices_are_symmetric_by_their_numbers(ridge, dtype):
    def energy(x):
        return ridge * np.sum(x**2) + np.sum(np.diff(x, 2, axis=0) ** 2) + np.sum(np.diff(x, 2, axis=1) ** 2)

    H = ea.hessian(energy, compressed=True)(np.zeros((20, 25), dtype))
    values = np.linalg.eigvalsh(H.dense().reshape(500, 500))
    assert "20×20 ⊗ 25×25" in H.factorise().method
    assert H.inertia() == (np.sum(values > 0), np.sum(values < 0), 0)
    assert H.is_positive_definite() == (ridge > 0)
    assert H.factorise().dtype == dtype
