"""Networks of layers n × n, with a batch of n samples, softmax cross-entropy, differentiated in the first layer.

The expert's Hessian goes through the samples' Jacobians, ``R[b,c,q] x[b,a] x[b,p]`` summed over b: one matrix product
``(n²×b)(b×n²)``, returned as a view.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmark.case import Case, Data, Job, make_data


def network_data(layers: int, scale: float) -> Callable[[int], Data]:
    """Weights of as many layers, the first of them the variable; inputs and one-hot targets."""

    def data(n: int) -> Data:
        rng = np.random.default_rng(n)
        weights = [scale * rng.normal(size=(n, n)) / np.sqrt(n) for _ in range(layers)]
        return make_data(
            n,
            (weights[0],),
            X=rng.normal(size=(n, n)),
            Y=np.eye(n)[rng.integers(0, n, n)],
            **{f"W{k:02d}": weight for k, weight in enumerate(weights[1:], 2)},
        )

    return data


def _weights(c: Any) -> list[Any]:
    return [value for name, value in vars(c).items() if name.startswith("W")]


def relu_network(xp: Any, c: Any, W: Any) -> Any:
    """Each layer is followed by ``max(·, 0)``."""
    a = c.X
    for weight in (W, *_weights(c)):
        a = xp.maximum(a @ weight, 0)
    return xp.sum(xp.log(xp.sum(xp.exp(a), axis=1))) - xp.sum(c.Y * a)


def tanh_network(xp: Any, c: Any, W: Any) -> Any:
    """Each layer is followed by ``tanh``."""
    a = c.X
    for weight in (W, *_weights(c)):
        a = xp.tanh(a @ weight)
    return xp.sum(xp.log(xp.sum(xp.exp(a), axis=1))) - xp.sum(c.Y * a)


def _relu_layers(c: Any, W: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    a, masks = c.X, []
    for weight in (W, *_weights(c)):
        a = a @ weight
        masks.append(a > 0)
        np.maximum(a, 0, out=a)
    return a, masks


def _tanh_layers(c: Any, W: np.ndarray) -> list[np.ndarray]:
    values, a = [], c.X
    for weight in (W, *_weights(c)):
        a = a @ weight
        np.tanh(a, out=a)
        values.append(a)
    return values


def _loss_and_softmax(c: Any, a: np.ndarray) -> tuple[Any, np.ndarray]:
    p = np.exp(a)
    total = np.sum(p, axis=1, keepdims=True)
    p /= total
    return np.sum(np.log(total)) - np.sum(c.Y * a), p


def relu_value(c: Any, W: np.ndarray) -> Any:
    a = c.X
    for weight in (W, *_weights(c)):
        a = a @ weight
        np.maximum(a, 0, out=a)
    return np.sum(np.log(np.sum(np.exp(a), axis=1))) - np.sum(c.Y * a)


def relu_value_and_gradient(c: Any, W: np.ndarray) -> tuple[Any, np.ndarray]:
    a, masks = _relu_layers(c, W)
    value, p = _loss_and_softmax(c, a)
    p -= c.Y
    p *= masks[-1]
    for weight, mask in zip(reversed(_weights(c)), reversed(masks[:-1]), strict=True):
        p = p @ weight.T
        p *= mask
    return value, c.X.T @ p


def relu_gradient(c: Any, W: np.ndarray) -> np.ndarray:
    return relu_value_and_gradient(c, W)[1]


def relu_blocks(c: Any, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X, and for each sample ``K (diag(p) − p pᵀ) Kᵀ`` with the Jacobian K of the outputs in the first layer's."""
    a, masks = _relu_layers(c, W)
    p = _loss_and_softmax(c, a)[1]
    n = len(W)
    later = _weights(c)
    K = masks[0][:, :, None] * later[0]
    K *= masks[1][:, None, :]
    for weight, mask in zip(later[1:], masks[2:], strict=True):
        K = (K.reshape(-1, n) @ weight).reshape(K.shape)
        K *= mask[:, None, :]
    weighted = K * p[:, None, :]
    mean = np.sum(weighted, axis=2)
    R = np.matmul(weighted, K.transpose(0, 2, 1))
    R -= mean[:, :, None] * mean[:, None, :]
    return c.X, R


def tanh_value(c: Any, W: np.ndarray) -> Any:
    a = _tanh_layers(c, W)[-1]
    return np.sum(np.log(np.sum(np.exp(a), axis=1))) - np.sum(c.Y * a)


def tanh_value_and_gradient(c: Any, W: np.ndarray) -> tuple[Any, np.ndarray]:
    values = _tanh_layers(c, W)
    value, p = _loss_and_softmax(c, values[-1])
    p -= c.Y
    p *= 1 - values[-1] ** 2
    for weight, a in zip(reversed(_weights(c)), reversed(values[:-1]), strict=True):
        p = p @ weight.T
        p *= 1 - a**2
    return value, c.X.T @ p


def tanh_gradient(c: Any, W: np.ndarray) -> np.ndarray:
    return tanh_value_and_gradient(c, W)[1]


def tanh_blocks(c: Any, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X, and for each sample the Hessian in the first layer's products.

    ``Σ_l K_l diag(g_l t''_l) K_lᵀ + K (diag(p) − p pᵀ) Kᵀ``, with the Jacobian ``K_l`` of layer l's products in the
    first layer's, the gradient ``g_l`` in its outputs, and ``t'' = −2 t (1 − t²)``.
    """
    values, later = _tanh_layers(c, W), _weights(c)
    slopes = [1 - a * a for a in values]
    p = _loss_and_softmax(c, values[-1])[1]
    gradients = [p - c.Y]
    for weight, slope in zip(reversed(later), reversed(slopes[1:]), strict=True):
        gradients.append((gradients[-1] * slope) @ weight.T)
    bends = [-2 * g * a * s for g, a, s in zip(reversed(gradients), values, slopes, strict=True)]
    b, n = values[0].shape
    R = np.zeros((b, n, n))
    R[:, np.arange(n), np.arange(n)] = bends[0]
    K = slopes[0][:, :, None] * later[0]
    for weight, bend, slope in zip(later[1:], bends[1:-1], slopes[1:-1], strict=True):
        R += np.matmul(K * bend[:, None, :], K.transpose(0, 2, 1))
        K *= slope[:, None, :]
        K = (K.reshape(-1, n) @ weight).reshape(b, n, n)
    inner = bends[-1] + slopes[-1] ** 2 * p
    R += np.matmul(K * inner[:, None, :], K.transpose(0, 2, 1))
    mean = np.matmul(K, (slopes[-1] * p)[:, :, None])[:, :, 0]
    R -= mean[:, :, None] * mean[:, None, :]
    return c.X, R


def dense(X: np.ndarray, R: np.ndarray) -> np.ndarray:
    """``Σ_b X[b,a] X[b,p] R[b,c,q]`` as one matrix product; axes a, c, p, q."""
    b, n = X.shape
    k = R.shape[1]
    pairs = (X[:, :, None] * X[:, None, :]).reshape(b, n * n)
    return (pairs.T @ R.reshape(b, k * k)).reshape(n, n, k, k).transpose(0, 2, 1, 3)


def relu_hessian(c: Any, W: np.ndarray) -> np.ndarray:
    return dense(*relu_blocks(c, W))


def tanh_hessian(c: Any, W: np.ndarray) -> np.ndarray:
    return dense(*tanh_blocks(c, W))


def blocks_times(_: Any, blocks: tuple[np.ndarray, np.ndarray], v: np.ndarray) -> np.ndarray:
    """The Hessian in its factors times a matrix."""
    X, R = blocks
    return X.T @ np.matmul(R, (X @ v)[:, :, None])[:, :, 0]


def tanh_product(c: Any, W: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Forward mode over the reverse mode: tangents of the layers, then the gradient and its tangent together."""
    values, later = _tanh_layers(c, W), _weights(c)
    slopes = [1 - a * a for a in values]
    tangent = c.X @ v
    tangents = []
    for position, slope in enumerate(slopes):
        tangent = (tangent if position == 0 else tangent @ later[position - 1]) * slope
        tangents.append(tangent)
    p = _loss_and_softmax(c, values[-1])[1]
    g, moved = p - c.Y, p * tangent
    moved -= p * np.sum(moved, axis=1, keepdims=True)
    for position in range(len(values) - 1, -1, -1):
        a, slope, t = values[position], slopes[position], tangents[position]
        moved = moved * slope - 2 * g * a * t
        g = g * slope
        if position:
            g, moved = g @ later[position - 1].T, moved @ later[position - 1].T
    return c.X.T @ moved


def relu_jobs(hessian_sizes: tuple[int, ...] | None) -> tuple[Job, ...]:
    return (
        Job("function", relu_value),
        Job("gradient", relu_gradient),
        Job("value+gradient", relu_value_and_gradient),
        Job("hessian", relu_hessian, sizes=hessian_sizes),
        Job("compressed", relu_blocks, product=blocks_times),
    )


RELU = Case(
    "relu",
    "ReLU network of 10 layers n × n, batch n, Hessian in the first layer",
    network_data(10, np.sqrt(2)),
    relu_network,
    relu_jobs((10, 20, 30, 50)),
    sizes=(10, 20, 30, 50, 100),
    quick=(10,),
    headline=True,
)
TANH = Case(
    "tanh",
    "tanh network of 4 layers n × n, batch n, Hessian in the first layer",
    network_data(4, 1.0),
    tanh_network,
    (
        Job("function", tanh_value),
        Job("gradient", tanh_gradient),
        Job("value+gradient", tanh_value_and_gradient),
        Job("hessian", tanh_hessian, sizes=(10, 20, 30, 50)),
        Job("compressed", tanh_blocks, product=blocks_times),
        Job("hvp", tanh_product),
    ),
    sizes=(10, 20, 30, 50, 100),
    quick=(10,),
    headline=True,
)
