"""A small network with its Jacobian, curvature and Kronecker factors, written entry by entry."""

from __future__ import annotations

from typing import Any

import numpy as np

from einsumad import nn, optim

INPUTS, HIDDEN, OUTPUTS = 3, 4, 2


def outputs(values: Any, x: Any, _: Any = None) -> Any:
    W, b, V, c = values
    return np.tanh(x @ W.T + b) @ V.T + c


def squares(z: Any, _: Any, y: Any) -> Any:
    return np.mean((z - y) ** 2)


def crossed(z: Any, _: Any, y: Any) -> Any:
    return nn.functional.cross_entropy(z, y)


def batch(count: int, seed: int = 0, *, classes: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, INPUTS))
    return x, rng.integers(0, OUTPUTS, count) if classes else rng.normal(size=(count, OUTPUTS))


def values(seed: int = 0, dtype: Any = np.float64) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = [(HIDDEN, INPUTS), (HIDDEN,), (OUTPUTS, HIDDEN), (OUTPUTS,)]
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def parameters(seed: int = 0, dtype: Any = np.float64) -> list[nn.Parameter]:
    return [nn.Parameter(value) for value in values(seed, dtype)]


def objective(*, classes: bool = False) -> optim.Objective:
    return optim.Objective(outputs, crossed if classes else squares)


def jacobian(at: list[np.ndarray], x: np.ndarray) -> np.ndarray:
    """The Jacobian, (samples, outputs, parameters)."""
    W, b, V, c = at
    found = np.zeros((len(x), OUTPUTS, W.size + b.size + V.size + c.size))
    for n in range(len(x)):
        h = np.tanh(W @ x[n] + b)
        for k in range(OUTPUTS):
            back = V[k] * (1 - h**2)
            of_v, of_c = np.zeros_like(V), np.zeros_like(c)
            of_v[k], of_c[k] = h, 1
            found[n, k] = np.concatenate([np.outer(back, x[n]).ravel(), back, of_v.ravel(), of_c])
    return found


def loss_curvature(z: np.ndarray, *, classes: bool) -> np.ndarray:
    """The Hessian of the loss in the outputs of each sample, (samples, outputs, outputs)."""
    if not classes:
        return np.array([2 / z.size * np.eye(OUTPUTS) for _ in z])
    found = []
    for row in z:
        p = np.exp(row - np.max(row))
        p /= np.sum(p)
        found.append((np.diag(p) - np.outer(p, p)) / len(z))
    return np.array(found)


def loss_gradient(z: np.ndarray, y: np.ndarray, *, classes: bool) -> np.ndarray:
    """The gradient of the loss in the outputs."""
    if not classes:
        return 2 * (z - y) / z.size
    shifted = np.exp(z - np.max(z, axis=1, keepdims=True))
    return (shifted / np.sum(shifted, axis=1, keepdims=True) - np.eye(OUTPUTS)[y]) / len(z)


def gauss_newton(at: list[np.ndarray], x: np.ndarray, *, classes: bool) -> np.ndarray:
    """``Σ Jᵀ L J``."""
    J, L = jacobian(at, x), loss_curvature(outputs(at, x), classes=classes)
    return sum(J[n].T @ L[n] @ J[n] for n in range(len(x)))


def gradient(at: list[np.ndarray], x: np.ndarray, y: np.ndarray, *, classes: bool) -> np.ndarray:
    """``Σ Jᵀ r``."""
    J, r = jacobian(at, x), loss_gradient(outputs(at, x), y, classes=classes)
    return sum(J[n].T @ r[n] for n in range(len(x)))


def layer_factors(at: list[np.ndarray], x: np.ndarray, *, classes: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """G and A of both layers, where A has a row and a column for the bias."""
    W, b, V, _ = at
    L = loss_curvature(outputs(at, x), classes=classes)
    sums = [np.zeros((HIDDEN, HIDDEN)), np.zeros((OUTPUTS, OUTPUTS))]
    means = [np.zeros((INPUTS + 1, INPUTS + 1)), np.zeros((HIDDEN + 1, HIDDEN + 1))]
    for n in range(len(x)):
        h = np.tanh(W @ x[n] + b)
        B = V * (1 - h**2)
        sums[0] += B.T @ L[n] @ B
        sums[1] += L[n]
        for layer, a in enumerate((x[n], h)):
            means[layer] += np.outer([*a, 1], [*a, 1]) / len(x)
    return list(zip(sums, means, strict=True))


def flat(arrays: Any) -> np.ndarray:
    return np.concatenate([np.ravel(array) for array in arrays])
