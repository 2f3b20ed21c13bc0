"""The three problems of the paper's experiments: logistic regression, matrix factorisation, networks.

Source: Laue, Mitterreiter, Giesen, AAAI 2020, section "Experiments".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data
from benchmark.cases import networks


def logistic_data(n: int) -> Data:
    """X of shape (2n, n), labels of both signs."""
    rng = np.random.default_rng(n)
    return make_data(
        n,
        (rng.normal(size=n) / np.sqrt(n),),
        X=rng.normal(size=(2 * n, n)),
        y=np.sign(rng.normal(size=2 * n)),
    )


def logistic(xp: Any, c: Any, w: Any) -> Any:
    """``Σ log(exp(−y ⊙ (X w)) + 1)``."""
    return xp.sum(xp.log(xp.exp(-c.y * (c.X @ w)) + 1))


def logistic_value(c: Any, w: np.ndarray) -> Any:
    return np.sum(np.log1p(np.exp(-c.y * (c.X @ w))))


def logistic_gradient(c: Any, w: np.ndarray) -> np.ndarray:
    return c.X.T @ (-c.y / (1 + np.exp(c.y * (c.X @ w))))


def logistic_value_and_gradient(c: Any, w: np.ndarray) -> tuple[Any, np.ndarray]:
    e = np.exp(-c.y * (c.X @ w))
    return np.sum(np.log1p(e)), c.X.T @ (-c.y * (e / (1 + e)))


def logistic_hessian(c: Any, w: np.ndarray) -> np.ndarray:
    s = 1 / (1 + np.exp(c.X @ w))
    return (c.X.T * (s * (1 - s))) @ c.X


def logistic_product(c: Any, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    s = 1 / (1 + np.exp(c.X @ w))
    return c.X.T @ (s * (1 - s) * (c.X @ v))


def factorisation_data(n: int) -> Data:
    """T of shape (n, n), of which a random half is known; factors of rank 5."""
    rng = np.random.default_rng(n)
    return make_data(
        n,
        (rng.normal(size=(n, 5)), rng.normal(size=(n, 5))),
        T=rng.normal(size=(n, n)),
        O=(rng.random((n, n)) < 0.5).astype(float),
    )


def factorisation(xp: Any, c: Any, U: Any, V: Any) -> Any:
    """``‖O ⊙ (T − U Vᵀ)‖²``."""
    return xp.sum((c.O * (c.T - U @ V.T)) ** 2)


def _error(c: Any, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    error = U @ V.T
    error -= c.T
    error *= c.O
    return error


def factorisation_value(c: Any, U: np.ndarray, V: np.ndarray) -> Any:
    error = _error(c, U, V).ravel()
    return error @ error


def factorisation_gradient(c: Any, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    return 2 * (_error(c, U, V) @ V)


def factorisation_value_and_gradient(c: Any, U: np.ndarray, V: np.ndarray) -> tuple[Any, np.ndarray]:
    error = _error(c, U, V)
    return error.ravel() @ error.ravel(), 2 * (error @ V)


def factorisation_blocks(c: Any, _: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The n blocks of the Hessian in U; a mask is its own square."""
    n, k = V.shape
    return 2 * (c.O @ (V[:, :, None] * V[:, None, :]).reshape(n, k * k)).reshape(-1, k, k)


def factorisation_hessian(c: Any, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    n, k = U.shape
    result = np.zeros((n, k, n, k))
    rows = np.arange(n)
    result[rows, :, rows, :] = factorisation_blocks(c, U, V)
    return result


def factorisation_mixed(c: Any, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """``∂²/∂U∂V``: ``2 O[i,j] V[j,a] U[i,b] + 2 error[i,j] δ[a,b]``."""
    k = U.shape[1]
    result = (2 * U)[:, None, None, :] * (c.O[:, None, :] * V.T)[..., None]
    diagonal = np.arange(k)
    result[:, diagonal, :, diagonal] += 2 * _error(c, U, V)
    return result


def _blocks_times(_: Any, blocks: np.ndarray, v: np.ndarray, *_others: np.ndarray) -> np.ndarray:
    return np.matmul(blocks, v[:, :, None])[:, :, 0]


CASES = (
    Case(
        "logistic",
        "logistic regression, X of shape (2n, n)",
        logistic_data,
        logistic,
        (
            Job("function", logistic_value),
            Job("gradient", logistic_gradient),
            Job("value+gradient", logistic_value_and_gradient),
            Job("hessian", logistic_hessian),
            Job("compressed", logistic_hessian, product=lambda _, H, v: H @ v),
            Job("hvp", logistic_product),
        ),
        sizes=(10, 30, 100, 300, 1000),
        quick=(100,),
        headline=True,
    ),
    Case(
        "factorisation",
        "matrix factorisation with missing entries, rank 5",
        factorisation_data,
        factorisation,
        (
            Job("function", factorisation_value),
            Job("gradient", factorisation_gradient),
            Job("value+gradient", factorisation_value_and_gradient),
            Job("hessian", factorisation_hessian, sizes=(20, 50, 100, 200, 500)),
            Job("compressed", factorisation_blocks, product=_blocks_times),
            Job("mixed", factorisation_mixed, argnums=(0, 1), sizes=(20, 50, 100, 200, 500)),
        ),
        sizes=(20, 50, 100, 200, 500, 1000),
        quick=(50,),
        headline=True,
    ),
    networks.RELU,
    networks.TANH,
)
