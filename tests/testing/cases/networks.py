"""Cases of neural networks: activations, normalisation, attention, recurrences, dropout, residual connections.

Imports records and samplers. Invariant: random parts, such as dropout masks, are arguments.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import normals, separated

EPSILON = 1e-5


def dropout_operands(rng):
    n = int(rng.integers(4, 7))
    return rng.standard_normal(n), (rng.permutation(np.arange(n)) > 1).astype(float)


def attention_operands(rng):
    m, n, k, d = int(rng.integers(2, 5)), int(rng.integers(3, 5)), int(rng.integers(2, 5)), int(rng.choice([3, 5]))
    return rng.standard_normal((m, d)), rng.standard_normal((n, d)), rng.standard_normal((n, k))


def triplet_operands(rng):
    n = int(rng.integers(3, 6))
    anchor = rng.standard_normal(n)
    return anchor, anchor + rng.uniform(1, 2, n), anchor + 0.3 * rng.standard_normal(n)


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_back(p, g):
    return p * (g - np.sum(p * g, axis=-1, keepdims=True))


def tanh_pullback(primals, g):
    return g * (1 - np.tanh(primals[0]) ** 2)


def tanh_at_the_value(primals, g):
    return g * (1 - np.tanh(np.tanh(primals[0])) ** 2)


def tanh_not_squared(primals, g):
    return g * (1 - np.tanh(primals[0]))


def sigmoid_pullback(primals, g):
    s = special.expit(primals[0])
    return g * s * (1 - s)


def sigmoid_at_the_value(primals, g):
    s = special.expit(special.expit(primals[0]))
    return g * s * (1 - s)


def relu(x):
    return np.maximum(x, 0)


def relu_pullback(primals, g):
    return g * (primals[0] > 0)


def relu_guided(primals, g):
    return np.maximum(g, 0) * (primals[0] > 0)


def relu_inverted(primals, g):
    return g * (primals[0] < 0)


def relu_on_the_cotangent(_primals, g):
    return g * (g > 0)


def leaky(x):
    return np.where(x > 0, x, 0.1 * x)


def leaky_pullback(primals, g):
    return np.where(primals[0] > 0, g, 0.1 * g)


def leaky_as_relu(primals, g):
    return np.where(primals[0] > 0, g, 0.0)


def gelu(x):
    return x * special.ndtr(x)


def gelu_pullback(primals, g):
    (x,) = primals
    return g * (special.ndtr(x) + x * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi))


def gelu_gate_constant(primals, g):
    return g * special.ndtr(primals[0])


def gelu_density_not_normalised(primals, g):
    (x,) = primals
    return g * (special.ndtr(x) + x * np.exp(-0.5 * x**2))


def swish(x):
    return x / (1 + np.exp(-x))


def swish_pullback(primals, g):
    (x,) = primals
    s = special.expit(x)
    return g * (s + x * s * (1 - s))


def swish_gate_constant(primals, g):
    return g * special.expit(primals[0])


def batch_norm(X):
    return (X - np.mean(X, axis=0)) / np.sqrt(np.var(X, axis=0) + EPSILON)


def batch_norm_pullback(primals, g):
    (X,) = primals
    Y = batch_norm(X)
    g = g - np.mean(g, axis=0) - Y * np.mean(g * Y, axis=0)
    return g / np.sqrt(np.var(X, axis=0) + EPSILON)


def batch_norm_lost(_primals, g):
    return np.zeros_like(g)


def batch_norm_variance_constant(primals, g):
    return (g - np.mean(g, axis=0)) / np.sqrt(np.var(primals[0], axis=0) + EPSILON)


def batch_norm_statistics_constant(primals, g):
    return g / np.sqrt(np.var(primals[0], axis=0) + EPSILON)


def layer_norm(X):
    return batch_norm(X.T).T


def layer_norm_pullback(primals, g):
    return batch_norm_pullback((primals[0].T,), g.T).T


def layer_norm_along_the_batch(primals, g):
    (X,) = primals
    Y = layer_norm(X)
    g = g - np.mean(g, axis=0) - Y * np.mean(g * Y, axis=0)
    return g / np.sqrt(np.var(X, axis=1, keepdims=True) + EPSILON)


def attention(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V


def attention_pullback(primals, g):
    Q, K, V = primals
    A = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    S = softmax_back(A, g @ V.T) / np.sqrt(Q.shape[1])
    return S @ K, S.T @ Q, A.T @ g


def attention_scale_forgotten(primals, g):
    by_query, by_key, by_value = attention_pullback(primals, g)
    return by_query * np.sqrt(primals[0].shape[1]), by_key * np.sqrt(primals[0].shape[1]), by_value


def attention_weights_not_transposed(primals, g):
    Q, K, _ = primals
    A = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    return (*attention_pullback(primals, g)[:2], A @ g)


def attention_rows_not_normalised(primals, g):
    Q, K, V = primals
    A = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    S = A * (g @ V.T) / np.sqrt(Q.shape[1])
    return S @ K, S.T @ Q, A.T @ g


def attention_keys_as_queries(primals, g):
    by_query, by_key, by_value = attention_pullback(primals, g)
    return by_key, by_query, by_value


def network(W, V, x):
    return np.tanh(V @ np.tanh(W @ x))


def network_pullback(primals, g):
    W, V, x = primals
    h = np.tanh(W @ x)
    outer = g * (1 - np.tanh(V @ h) ** 2)
    inner = (V.T @ outer) * (1 - h**2)
    return np.outer(inner, x), np.outer(outer, h), W.T @ inner


def network_inner_slope_forgotten(primals, g):
    W, V, x = primals
    h = np.tanh(W @ x)
    outer = g * (1 - np.tanh(V @ h) ** 2)
    return np.outer(V.T @ outer, x), np.outer(outer, h), W.T @ V.T @ outer


def network_first_layer_detached(primals, g):
    W, _V, x = primals
    by_second = network_pullback(primals, g)[1]
    return np.zeros_like(W), by_second, np.zeros_like(x)


def residual_block(x, W):
    return x + np.tanh(W @ x)


def residual_block_pullback(primals, g):
    x, W = primals
    inner = g * (1 - np.tanh(W @ x) ** 2)
    return g + W.T @ inner, np.outer(inner, x)


def residual_block_without_skip(primals, g):
    by_input, by_weights = residual_block_pullback(primals, g)
    return by_input - g, by_weights


def recurrence(W, h, x):
    for step in x:
        h = np.tanh(W @ h + step)
    return h


def recurrence_pullback(primals, g):
    W, h, x = primals
    states = [h]
    for step in x:
        states.append(np.tanh(W @ states[-1] + step))
    G = np.zeros_like(W)
    for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
        inner = g * (1 - after**2)
        G += np.outer(inner, before)
        g = W.T @ inner
    return G


def recurrence_last_step_only(primals, g):
    W, h, x = primals
    before = recurrence(W, h, x[:-1])
    return np.outer(g * (1 - np.tanh(W @ before + x[-1]) ** 2), before)


def recurrence_at_the_first_state(primals, g):
    W, h, x = primals
    G = np.zeros_like(W)
    for _ in x:
        G += np.outer(g * (1 - np.tanh(W @ h + x[0]) ** 2), h)
        g = W.T @ g
    return G


def dropout(x, keep):
    return x * keep / 0.8


def dropout_pullback(primals, g):
    return g * primals[1] / 0.8


def dropout_scale_forgotten(primals, g):
    return g * primals[1]


def dropout_not_masked(_primals, g):
    return g / 0.8


def tempered(z):
    return softmax(z / 3.0)


def tempered_pullback(primals, g):
    return softmax_back(tempered(primals[0]), g) / 3.0


def tempered_forgotten(primals, g):
    return softmax_back(tempered(primals[0]), g)


def triplet(anchor, near, far):
    return np.maximum(0, np.sum((anchor - near) ** 2) - np.sum((anchor - far) ** 2) + 0.5)


def triplet_gradient(anchor, near, far):
    active = np.sum((anchor - near) ** 2) - np.sum((anchor - far) ** 2) + 0.5 > 0
    return 2 * active * (far - near), 2 * active * (near - anchor), 2 * active * (anchor - far)


def triplet_anchor_once(anchor, near, far):
    _, by_near, by_far = triplet_gradient(anchor, near, far)
    return -by_near, by_near, by_far


TANH = Target("vjp", np.tanh, normals("mn"))
SIGMOID = Target("vjp", special.expit, normals("mn"))
RELU = Target("vjp", relu, separated("mn", low=4))
LEAKY = Target("vjp", leaky, separated("mn"))
GELU = Target("vjp", gelu, normals("n"))
SWISH = Target("vjp", swish, normals("n"))
BATCH_NORM = Target("vjp", batch_norm, normals("mn"), source="torch/nn#744")
LAYER_NORM = Target("vjp", layer_norm, normals("mn"))
LAYER_NORM_SQUARE = Target("vjp", layer_norm, normals("nn"))
ATTENTION = Target("vjp", attention, attention_operands, (0, 1, 2))
ATTENTION_SQUARE = Target("vjp", attention, normals("nn", "nn", "nn", high=4), (0, 1, 2))
NETWORK = Target("vjp", network, normals("hn", "kh", "n"), (0, 1, 2))
RESIDUAL = Target("vjp", residual_block, normals("n", "nn"), (0, 1))
RECURRENCE = Target("vjp", recurrence, normals("nn", "n", "tn", scale=0.8))
DROPOUT = Target("vjp", dropout, dropout_operands)
TEMPERED = Target("vjp", tempered, normals("mn"))
TRIPLET = Target("gradient", triplet, triplet_operands, (0, 1, 2))

WRONG = (
    TANH.wrong("tanh, derivative at the value", tanh_at_the_value, "evaluated elsewhere"),
    TANH.wrong("tanh, not squared", tanh_not_squared, "wrong exponent"),
    SIGMOID.wrong("sigmoid, derivative at the value", sigmoid_at_the_value, "evaluated elsewhere"),
    RELU.wrong("relu, negative cotangents dropped", relu_guided, "wrong branch"),
    RELU.wrong("relu, mask inverted", relu_inverted, "wrong branch"),
    RELU.wrong("relu, mask of the cotangent", relu_on_the_cotangent, "wrong branch"),
    LEAKY.wrong("leaky relu, leak forgotten", leaky_as_relu, "wrong branch"),
    GELU.wrong("gelu, gate constant", gelu_gate_constant, "missing term"),
    GELU.wrong("gelu, density not normalised", gelu_density_not_normalised, "constant factor"),
    SWISH.wrong("swish, gate constant", swish_gate_constant, "missing term"),
    BATCH_NORM.wrong("batch normalisation, gradient lost", batch_norm_lost, "zero"),
    BATCH_NORM.wrong("batch normalisation, variance constant", batch_norm_variance_constant, "ones cotangent only"),
    BATCH_NORM.wrong("batch normalisation, statistics constant", batch_norm_statistics_constant, "missing term"),
    LAYER_NORM_SQUARE.wrong("layer normalisation, means along the batch", layer_norm_along_the_batch, "wrong axis"),
    ATTENTION.wrong("attention, scale forgotten", attention_scale_forgotten, "constant factor"),
    ATTENTION.wrong("attention, softmax without its row sums", attention_rows_not_normalised, "missing term"),
    ATTENTION_SQUARE.wrong("attention, weights not transposed", attention_weights_not_transposed, "transposed operand"),
    ATTENTION_SQUARE.wrong("attention, keys for queries", attention_keys_as_queries, "swapped arguments"),
    NETWORK.wrong("network, inner activation forgotten", network_inner_slope_forgotten, "missing inner derivative"),
    NETWORK.wrong("network, first layer detached", network_first_layer_detached, "zero"),
    RESIDUAL.wrong("residual block, skip forgotten", residual_block_without_skip, "missing term"),
    RECURRENCE.wrong("recurrence, last step only", recurrence_last_step_only, "missing term"),
    RECURRENCE.wrong("recurrence, at the first state", recurrence_at_the_first_state, "stale value"),
    DROPOUT.wrong("dropout, scale forgotten", dropout_scale_forgotten, "constant factor"),
    DROPOUT.wrong("dropout, cotangent not masked", dropout_not_masked, "wrong branch"),
    TEMPERED.wrong("softmax with temperature, forgotten", tempered_forgotten, "missing inner derivative"),
    TRIPLET.wrong("triplet, anchor counted once", triplet_anchor_once, "missing operand slot"),
)

RIGHT = (
    TANH.right("tanh", tanh_pullback),
    SIGMOID.right("sigmoid", sigmoid_pullback),
    RELU.right("relu", relu_pullback, "kink"),
    LEAKY.right("leaky relu", leaky_pullback, "kink"),
    GELU.right("gelu", gelu_pullback),
    SWISH.right("swish", swish_pullback),
    BATCH_NORM.right("batch normalisation", batch_norm_pullback, "sum with zero gradient"),
    LAYER_NORM.right("layer normalisation", layer_norm_pullback, "sum with zero gradient"),
    ATTENTION.right("attention", attention_pullback),
    NETWORK.right("network", network_pullback),
    RESIDUAL.right("residual block", residual_block_pullback),
    RECURRENCE.right("recurrence", recurrence_pullback),
    DROPOUT.right("dropout", dropout_pullback),
    TEMPERED.right("softmax with temperature", tempered_pullback),
    TRIPLET.right("triplet", triplet_gradient, "kink"),
)
