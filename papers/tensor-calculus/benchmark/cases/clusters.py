"""Gaussian mixtures as ADBench defines them, and k-means.

Source of the objective: F. Šrajer, Z. Kukelova, A. Fitzgibbon, *A Benchmark of Selected Algorithmic Differentiation
Tools on Some Problems in Computer Vision and Machine Learning*, 2018, section "Gaussian mixture model".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data

D, K = 10, 10
"""Dimensions and components."""


def mixture_data(n: int) -> Data:
    """N points; weights, means and the factors of the precisions: D logarithms of a diagonal, then what is below it."""
    rng = np.random.default_rng(n)
    index = np.zeros((D, D), dtype=int)
    rows, columns = np.tril_indices(D, -1)
    order = np.lexsort((rows, columns))
    index[rows[order], columns[order]] = np.arange(1, len(rows) + 1)
    gamma, m = 1.0, 0
    degrees = D + m + 1
    lgammas = sum([math.lgamma(0.5 * degrees + (1 - j) / 2) for j in range(1, D + 1)])
    prior = degrees * D * math.log(gamma / math.sqrt(2)) - (lgammas + 0.25 * D * (D - 1) * math.log(math.pi))
    return make_data(
        n,
        (rng.normal(size=K), rng.normal(size=(K, D)), 0.3 * rng.normal(size=(K, D + D * (D - 1) // 2))),
        X=rng.normal(size=(n, D)),
        zeros=np.zeros((K, 1)),
        index=index,
        gamma=gamma,
        m=m,
        offset=-n * D * 0.5 * math.log(2 * math.pi) - K * prior,
    )


def mixture(xp: Any, c: Any, alphas: Any, means: Any, factors: Any) -> Any:
    """Log-posterior of the points, with Wishart prior on the precisions."""
    logs = factors[:, :D]
    L = xp.concatenate([c.zeros, factors[:, D:]], axis=1)[:, c.index]
    centred = c.X[:, None, :] - means
    scaled = xp.exp(logs) * centred + xp.einsum("kij,nkj->nki", L, centred)
    sums = xp.sum(logs, axis=1)
    inner = alphas + sums - 0.5 * xp.sum(scaled**2, axis=2)
    prior = 0.5 * c.gamma**2 * (xp.sum(xp.exp(logs) ** 2) + xp.sum(factors[:, D:] ** 2)) - c.m * xp.sum(sums)
    likelihood = xp.sum(xp.logsumexp(inner, axis=1)) - len(c.X) * xp.logsumexp(alphas, axis=0)
    return c.offset + likelihood + prior


def _responsibilities(c: Any, alphas: np.ndarray, means: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, ...]:
    """Triangular factors, points mapped by them (component first), responsibilities, and logarithms of their sums."""
    diagonal = np.exp(factors[:, :D])
    L = np.concatenate([c.zeros, factors[:, D:]], axis=1)[:, c.index]
    L[:, np.arange(D), np.arange(D)] = diagonal
    mapped = np.matmul(c.X, L.transpose(0, 2, 1))
    mapped -= np.matmul(L, means[:, :, None]).transpose(0, 2, 1)
    p = np.einsum("kni,kni->kn", mapped, mapped)
    p *= -0.5
    p += (alphas + np.sum(factors[:, :D], axis=1))[:, None]
    largest = np.max(p, axis=0)
    p -= largest
    np.exp(p, out=p)
    total = np.sum(p, axis=0)
    p /= total
    np.log(total, out=total)
    total += largest
    return L, diagonal, mapped, p, total


def _softmax(alphas: np.ndarray) -> tuple[np.ndarray, float]:
    p = np.exp(alphas - np.max(alphas))
    total = np.sum(p)
    return p / total, np.log(total) + np.max(alphas)


def mixture_value(c: Any, alphas: np.ndarray, means: np.ndarray, factors: np.ndarray) -> Any:
    diagonal, total = _responsibilities(c, alphas, means, factors)[1::3]
    below = factors[:, D:].ravel()
    prior = 0.5 * c.gamma**2 * (np.sum(diagonal**2) + below @ below) - c.m * np.sum(factors[:, :D])
    return c.offset + np.sum(total) - len(c.X) * _softmax(alphas)[1] + prior


def mixture_gradient(c: Any, alphas: np.ndarray, means: np.ndarray, factors: np.ndarray) -> tuple[np.ndarray, ...]:
    L, diagonal, mapped, p, _ = _responsibilities(c, alphas, means, factors)
    counts = np.sum(p, axis=1)
    mapped *= p[:, :, None]
    total = np.sum(mapped, axis=1)
    in_means = np.matmul(total[:, None, :], L)[:, 0]
    in_factors = total[:, :, None] * means[:, None, :] - np.matmul(mapped.transpose(0, 2, 1), c.X)
    result = c.gamma**2 * factors
    rows, columns = np.tril_indices(D, -1)
    result[:, D - 1 + c.index[rows, columns]] += in_factors[:, rows, columns]
    in_diagonal = in_factors[:, np.arange(D), np.arange(D)]
    result[:, :D] = counts[:, None] + (in_diagonal + c.gamma**2 * diagonal) * diagonal - c.m
    return counts - len(c.X) * _softmax(alphas)[0], in_means, result


def kmeans_data(n: int) -> Data:
    """N points in 10 dimensions, 20 centres."""
    rng = np.random.default_rng(n)
    return make_data(n, (rng.normal(size=(20, 10)),), X=rng.normal(size=(n, 10)))


def kmeans(xp: Any, c: Any, centres: Any) -> Any:
    """The sum of the squared distances to the nearest centre."""
    squares = xp.sum(c.X**2, axis=1)[:, None] - 2 * c.X @ centres.T + xp.sum(centres**2, axis=1)
    return xp.sum(xp.min(squares, axis=1))


def _nearest(c: Any, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    squares = c.X @ centres.T
    squares *= -2
    squares += np.einsum("kd,kd->k", centres, centres)
    return squares, np.argmin(squares, axis=1)


def kmeans_value(c: Any, centres: np.ndarray) -> Any:
    squares, _ = _nearest(c, centres)
    return np.sum(np.min(squares, axis=1)) + c.X.ravel() @ c.X.ravel()


def kmeans_gradient(c: Any, centres: np.ndarray) -> np.ndarray:
    _, nearest = _nearest(c, centres)
    chosen = np.zeros((len(centres), len(c.X)))
    chosen[nearest, np.arange(len(c.X))] = 2
    return np.sum(chosen, axis=1)[:, None] * centres - chosen @ c.X


def kmeans_diagonal(c: Any, centres: np.ndarray) -> np.ndarray:
    _, nearest = _nearest(c, centres)
    counts = np.bincount(nearest, minlength=len(centres))
    return np.repeat(2.0 * counts[:, None], centres.shape[1], axis=1)


def product_with_ones(system: Any, f: Callable[..., Any], _: Any) -> Callable[..., Any]:
    """The Hessian is diagonal, so its product with ones is all of it."""
    return lambda x: system.hvp(f)(x, 0 * x + 1)


CASES = (
    Case(
        "mixture",
        f"Gaussian mixture (ADBench), n points, {D} dimensions, {K} components",
        mixture_data,
        mixture,
        (Job("function", mixture_value), Job("gradient", mixture_gradient, argnums=(0, 1, 2))),
        sizes=(100, 1000, 10000),
        quick=(100,),
        tolerance=1e-8,
    ),
    Case(
        "kmeans",
        "k-means, n points, 10 dimensions, 20 centres",
        kmeans_data,
        kmeans,
        (
            Job("function", kmeans_value),
            Job("gradient", kmeans_gradient),
            Job(
                "diagonal",
                kmeans_diagonal,
                spelled=dict.fromkeys(("jax", "torch", "autograd"), product_with_ones),
            ),
        ),
        sizes=(100, 1000, 10000),
        quick=(1000,),
        tiny=30,
    ),
)
