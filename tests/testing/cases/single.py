"""Cases in single precision: arguments and derivatives in float32, or values computed in it.

Imports records and samplers. Invariant: a derivative has the dtype of the argument.
"""

from __future__ import annotations

import numpy as np

from tests.testing.cases.records import Target
from tests.testing.cases.samplers import mapped, normals, uniforms


def to_single(array):
    return array.astype(np.float32)


def in_single(sample):
    """The sampler with all arguments rounded to float32."""

    def draw(rng):
        return tuple([to_single(argument) for argument in sample(rng)])

    return draw


def half_squares(w, X, y):
    return np.float32(0.5) * np.sum((X @ w - y) ** 2)


def half_squares_gradient(w, X, y):
    return X.T @ (X @ w - y)


def half_squares_twice(w, X, y):
    return 2 * half_squares_gradient(w, X, y)


def half_squares_three_per_cent(w, X, y):
    return np.float32(1.03) * half_squares_gradient(w, X, y)


def half_squares_product(_w, X, _y, v):
    return X.T @ (X @ v)


def logistic(w, X):
    return np.sum(np.logaddexp(0, -(X @ w)))


def logistic_gradient(w, X):
    return -X.T @ (1 / (1 + np.exp(X @ w)))


def logistic_hessian(w, X):
    s = 1 / (1 + np.exp(X @ w))
    return X.T @ ((s * (1 - s))[:, None] * X)


def logistic_hessian_unweighted(_w, X):
    return X.T @ X


def softmax(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e)


def softmax_pullback(primals, g):
    p = softmax(primals[0])
    return p * (g - p @ g)


def softmax_diagonal(primals, g):
    return softmax(primals[0]) * g


def product_pullback(primals, g):
    A, B = primals
    return g @ B.T, A.T @ g


def product_not_transposed(primals, g):
    A, B = primals
    return g @ B, A @ g


def product_transposed(primals, g):
    by_left, by_right = product_pullback(primals, g)
    return by_left.T, by_right


def tanh_pushforward(primals, tangents):
    return tangents[0] * (1 - np.tanh(primals[0]) ** 2)


def tanh_not_squared(primals, tangents):
    return tangents[0] * (1 - np.tanh(primals[0]))


def squares_in_double(x):
    return np.sum(np.asarray(x, np.result_type(x, np.float64)) ** 2)


def twice(x):
    return 2 * x


def same(x):
    return x.copy()


def waves_in_single(x):
    return np.sum(np.sin(x.astype(np.float32)))


def cosines(x):
    return np.cos(x)


def negative_cosines(x):
    return -np.cos(x)


def unit(x):
    return x / np.sqrt(np.sum(x**2))


def unit_jacobian(x):
    u = unit(x)
    return (np.eye(len(x), dtype=x.dtype) - np.outer(u, u)) / np.sqrt(np.sum(x**2))


def weighted(x, w):
    return np.mean(w * x**2)


def weighted_gradient(x, w):
    return 2 * w * x / len(x)


def weighted_summed(x, w):
    return 2 * w * x


fit = in_single(normals("n", "mn", "m"))

HALF_SQUARES = Target("gradient", half_squares, fit)
HALF_SQUARES_PRODUCT = Target("hvp", half_squares, fit)
LOGISTIC = Target("gradient", logistic, in_single(normals("n", "mn")))
LOGISTIC_HESSIAN = Target("hessian", logistic, in_single(normals("n", "mn")))
SOFTMAX = Target("vjp", softmax, in_single(normals("n")))
PRODUCT = Target("vjp", np.matmul, in_single(normals("mn", "nk")), (0, 1))
PRODUCT_SQUARE = Target("vjp", np.matmul, in_single(normals("nn", "nn")), (0, 1))
TANH = Target("jvp", np.tanh, in_single(normals("mn")))
SQUARES_IN_DOUBLE = Target("gradient", squares_in_double, in_single(normals("n")))
WAVES = Target("gradient", waves_in_single, normals("n"), options={"single": True})
UNIT = Target("jacobian", unit, in_single(normals("n")))
MIXED = Target("gradient", weighted, mapped(uniforms(0.5, 2.0, "n", "n"), None, to_single))
LARGE = Target("gradient", weighted, in_single(normals("n", "n", low=3000, high=5000)))

WRONG = (
    HALF_SQUARES.wrong("float32 half squares, twice", half_squares_twice, "factor 2"),
    HALF_SQUARES.wrong("float32 half squares, 3 % off", half_squares_three_per_cent, "constant factor"),
    LOGISTIC_HESSIAN.wrong("float32 logistic, unweighted", logistic_hessian_unweighted, "missing inner derivative"),
    SOFTMAX.wrong("float32 softmax, diagonal only", softmax_diagonal, "missing term"),
    PRODUCT_SQUARE.wrong("float32 product, not transposed", product_not_transposed, "transposed operand"),
    PRODUCT_SQUARE.wrong("float32 product, transposed", product_transposed, "transposed"),
    TANH.wrong("float32 tanh, not squared", tanh_not_squared, "wrong exponent"),
    SQUARES_IN_DOUBLE.wrong("float32 squares, 2 forgotten", same, "factor 1/2"),
    WAVES.wrong("waves computed in single precision, sign", negative_cosines, "sign"),
    LARGE.wrong("float32 mean of thousands, summed", weighted_summed, "factor n (sum for mean)"),
)

RIGHT = (
    HALF_SQUARES.right("float32 half squares", half_squares_gradient, "float32"),
    HALF_SQUARES_PRODUCT.right("float32 half squares HVP", half_squares_product, "float32"),
    LOGISTIC.right("float32 logistic", logistic_gradient, "float32"),
    LOGISTIC_HESSIAN.right("float32 logistic Hessian", logistic_hessian, "float32"),
    SOFTMAX.right("float32 softmax", softmax_pullback, "float32"),
    PRODUCT.right("float32 product", product_pullback, "float32"),
    TANH.right("float32 tanh", tanh_pushforward, "float32"),
    SQUARES_IN_DOUBLE.right("float32 squares summed in double", twice, "float32"),
    WAVES.right("waves computed in single precision", cosines, "computed in single precision"),
    UNIT.right("float32 unit vector", unit_jacobian, "float32"),
    MIXED.right("weights in float32", weighted_gradient, "mixed precision"),
    LARGE.right("float32 mean of thousands", weighted_gradient, "float32"),
)
